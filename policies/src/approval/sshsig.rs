//! SSH signatures of files (OpenSSH's PROTOCOL.sshsig), read and verified over exact bytes. A
//! signature is a claim until it is verified: only then may a [`VerifiedSshSignature`] exist. For a
//! security key the proof includes a touch, which `ssh-keygen -Y verify` does not check.

use std::fmt;

use ed25519_dalek::Verifier;
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, Signature, SshSig};

use super::armour;
use super::key::{KeyKind, SignerKey, SignerKeyError};
use super::wire::{WireFormatError, WireReader};

/// The maximum size of a signature file in bytes.
pub const SIGNATURE_BYTES_MAX: usize = 16 * 1024;

const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;

/// The flag of a security key for a touch (PROTOCOL.u2f).
const FLAG_PRESENT: u8 = 0x01;
/// The flag of a security key that also checked a PIN or a finger.
const FLAG_VERIFIED: u8 = 0x04;

/// A well-formed signature that is not verified.
#[derive(Clone, Debug)]
pub struct SshSignature {
    key: SignerKey,
    namespace: String,
    hash: HashAlg,
    signature: Signature,
    touch: Option<Touch>,
    present: bool,
}

/// The statement of a security key about one signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    user_verified: bool,
    counter: u32,
}

impl Touch {
    /// Returns whether the security key checked a PIN or a finger.
    #[must_use]
    pub fn user_verified(self) -> bool {
        self.user_verified
    }

    /// Returns the key's signature counter; always 0 for a key without one.
    #[must_use]
    pub fn counter(self) -> u32 {
        self.counter
    }
}

/// The proof that the owner of this key signed these bytes for this use.
#[must_use]
#[derive(Debug)]
pub struct VerifiedSshSignature {
    key: SignerKey,
    namespace: String,
    touch: Option<Touch>,
}

impl VerifiedSshSignature {
    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> &SignerKey {
        &self.key
    }

    /// Returns the namespace of the signature.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the touch data, if a security key signed.
    #[must_use]
    pub fn touch(&self) -> Option<Touch> {
        self.touch
    }
}

/// The reason why a signature proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignatureError {
    /// More than [`SIGNATURE_BYTES_MAX`].
    TooLarge,
    /// Not the armour and the fields of an SSH signature.
    NotASignature,
    /// A version of the signature format (PROTOCOL.sshsig) other than 1.
    Version(u32),
    /// A hash other than sha256 and sha512.
    Hash(String),
    /// A key that may not sign.
    Key(SignerKeyError),
    /// A signature of another kind than its key.
    Mismatch(KeyKind),
    /// A signature of other bytes or by another key.
    Unverified {
        /// The claimed key, `SHA256:…`.
        fingerprint: String,
    },
    /// The security key signed without being touched.
    NoTouch {
        /// The security key, `SHA256:…`.
        fingerprint: String,
    },
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("larger than 16 KiB"),
            Self::NotASignature => f.write_str("not an SSH signature"),
            Self::Version(version) => write!(f, "version {version} is not supported"),
            Self::Hash(name) => {
                let shown = model::escape_line(name);
                write!(f, "made with hash `{shown}`, not sha256 or sha512")
            }
            Self::Key(error) => error.fmt(f),
            Self::Mismatch(kind) => {
                write!(f, "the signature type does not match its key, {}", kind.as_str())
            }
            Self::Unverified { fingerprint } => {
                write!(f, "does not verify over these bytes with key {fingerprint}")
            }
            Self::NoTouch { fingerprint } => {
                write!(f, "security key {fingerprint} signed without a touch")
            }
        }
    }
}

impl std::error::Error for SignatureError {}

impl From<WireFormatError> for SignatureError {
    fn from(_: WireFormatError) -> Self {
        Self::NotASignature
    }
}

impl SshSignature {
    /// Reads the armoured form that `ssh-keygen -Y sign` writes.
    ///
    /// # Errors
    /// [`SignatureError`] says why it could never verify.
    pub fn parse(armoured: &[u8]) -> Result<Self, SignatureError> {
        if armoured.len() > SIGNATURE_BYTES_MAX {
            return Err(SignatureError::TooLarge);
        }
        let blob = armour::decode(armoured).ok_or(SignatureError::NotASignature)?;
        Self::from_blob(&blob)
    }

    fn from_blob(blob: &[u8]) -> Result<Self, SignatureError> {
        let mut wire = WireReader::new(blob);
        if wire.take(MAGIC.len())? != MAGIC {
            return Err(SignatureError::NotASignature);
        }
        let version = wire.u32()?;
        if version != VERSION {
            return Err(SignatureError::Version(version));
        }
        let key = SignerKey::from_blob(wire.string()?).map_err(SignatureError::Key)?;
        let namespace = wire.text()?.to_owned();
        if namespace.is_empty() {
            return Err(SignatureError::NotASignature);
        }
        // Reserved. By the protocol readers ignore it, and the signed data has it empty.
        wire.string()?;
        let hash = match wire.text()? {
            "sha256" => HashAlg::Sha256,
            "sha512" => HashAlg::Sha512,
            other => return Err(SignatureError::Hash(other.to_owned())),
        };
        let (signature, trailer) = read_signature(key.kind(), wire.string()?)?;
        wire.finish()?;
        let touch = trailer
            .map(|(flags, counter)| Touch { user_verified: flags & FLAG_VERIFIED != 0, counter });
        let present = trailer.is_none_or(|(flags, _)| flags & FLAG_PRESENT != 0);
        Ok(Self { key, namespace, hash, signature, touch, present })
    }

    /// Returns the claimed key.
    #[must_use]
    pub fn key(&self) -> &SignerKey {
        &self.key
    }

    /// Returns the claimed namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Verifies that the key signed exactly this message for the namespace, and that a security key
    /// was touched.
    ///
    /// # Errors
    /// [`SignatureError::Unverified`] or [`SignatureError::NoTouch`].
    pub fn verify(self, message: &[u8]) -> Result<VerifiedSshSignature, SignatureError> {
        let fingerprint = || self.key.fingerprint();
        let signed = SshSig::signed_data(&self.namespace, self.hash, message).ok();
        let holds = signed.is_some_and(|it| self.key.data().verify(&it, &self.signature).is_ok());
        if !holds {
            return Err(SignatureError::Unverified { fingerprint: fingerprint() });
        }
        if !self.present {
            return Err(SignatureError::NoTouch { fingerprint: fingerprint() });
        }
        Ok(VerifiedSshSignature { key: self.key, namespace: self.namespace, touch: self.touch })
    }
}

type Trailer = Option<(u8, u32)>;

fn read_signature(kind: KeyKind, blob: &[u8]) -> Result<(Signature, Trailer), SignatureError> {
    let mut wire = WireReader::new(blob);
    if wire.text()? != kind.as_str() {
        return Err(SignatureError::Mismatch(kind));
    }
    let mut data = wire.string()?.to_vec();
    let mut trailer = None;
    if kind.is_security_key() {
        let (flags, counter) = (wire.u8()?, wire.u32()?);
        data.push(flags);
        data.extend(counter.to_be_bytes());
        trailer = Some((flags, counter));
    }
    wire.finish()?;
    let algorithm = match kind {
        KeyKind::Ed25519 => Algorithm::Ed25519,
        KeyKind::P256 => Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
        KeyKind::SkEd25519 => Algorithm::SkEd25519,
        KeyKind::SkP256 => Algorithm::SkEcdsaSha2NistP256,
    };
    let signature = Signature::new(algorithm, data).map_err(|_| SignatureError::NotASignature)?;
    Ok((signature, trailer))
}
