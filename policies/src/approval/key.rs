//! The public keys that may sign: Ed25519 and ECDSA P-256 in software or in a FIDO security key, and
//! passkeys of P-256. A [`SignerKey`] must never exist for another kind of key, nor for a weak
//! point: other people can sign for it without the private key.

use std::fmt;

use base64ct::{Base64, Encoding};
use ssh_key::public::KeyData;
use ssh_key::{HashAlg, PublicKey};

use super::webauthn::is_rp_id;
use super::wire::{WireFormatError, WireReader};

/// The application of a security key that was made for SSH begins with this.
const SSH_APPLICATION: &str = "ssh:";

/// A sound public key, with the exact bytes that fingerprints and revocations refer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignerKey {
    kind: KeyKind,
    blob: Vec<u8>,
    data: KeyData,
    /// The relying party of a passkey.
    rp_id: Option<String>,
}

model::closed_set! {
    /// The accepted kinds of key.
    pub enum KeyKind {
        /// `ssh-ed25519`: Ed25519 in software.
        Ed25519 = "ssh-ed25519",
        /// `ecdsa-sha2-nistp256`: ECDSA over NIST P-256 in software.
        P256 = "ecdsa-sha2-nistp256",
        /// `sk-ssh-ed25519@openssh.com`: Ed25519 in a security key.
        SkEd25519 = "sk-ssh-ed25519@openssh.com",
        /// `sk-ecdsa-sha2-nistp256@openssh.com`: P-256 in a security key.
        SkP256 = "sk-ecdsa-sha2-nistp256@openssh.com",
    }
}

/// The reason why a key may not sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignerKeyError {
    /// A kind that is not accepted: RSA, DSA, other curves, certificates.
    Kind(String),
    /// Not the encoding of a key of its kind.
    Malformed(KeyKind),
    /// A point of low order, or one that is not on the curve.
    Unsound(KeyKind),
    /// A security key that was made neither for SSH nor as a passkey of a domain. A web site may have
    /// requested its signature.
    Application(String),
}

impl fmt::Display for SignerKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => {
                write!(f, "key type `{}` is not accepted", model::escape_line(kind))
            }
            Self::Malformed(kind) => write!(f, "the {} key is damaged", kind.as_str()),
            Self::Unsound(kind) => {
                write!(f, "the {} key is not a valid point of its curve", kind.as_str())
            }
            Self::Application(name) => {
                let shown = model::escape_line(name);
                write!(f, "the security key was made for `{shown}`, not for SSH")
            }
        }
    }
}

impl std::error::Error for SignerKeyError {}

impl KeyKind {
    /// Returns whether a security key signs and reports a touch.
    #[must_use]
    pub fn is_security_key(self) -> bool {
        matches!(self, Self::SkEd25519 | Self::SkP256)
    }
}

impl SignerKey {
    /// Reads `key-type base64 [comment]`, as in a `.pub` file.
    ///
    /// # Errors
    /// [`SignerKeyError`] says what is wrong.
    pub fn read(text: &str) -> Result<Self, SignerKeyError> {
        let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
        let name = words.next().unwrap_or_default();
        let kind = KeyKind::named(name).ok_or_else(|| SignerKeyError::Kind(name.to_owned()))?;
        let base64 = words.next().unwrap_or_default();
        let blob = Base64::decode_vec(base64).map_err(|_| SignerKeyError::Malformed(kind))?;
        let key = Self::from_blob(&blob).map_err(|error| match error {
            SignerKeyError::Kind(_) => SignerKeyError::Malformed(kind),
            other => other,
        })?;
        if key.kind == kind { Ok(key) } else { Err(SignerKeyError::Malformed(kind)) }
    }

    /// Reads the wire encoding.
    ///
    /// # Errors
    /// [`SignerKeyError`] says what is wrong.
    pub fn from_blob(blob: &[u8]) -> Result<Self, SignerKeyError> {
        let mut wire = WireReader::new(blob);
        let name = wire.text().map_err(|_| SignerKeyError::Kind("?".to_owned()))?;
        let kind = KeyKind::named(name).ok_or_else(|| SignerKeyError::Kind(name.to_owned()))?;
        let fields =
            SignerKeyFields::read(kind, wire).map_err(|_| SignerKeyError::Malformed(kind))?;
        if !fields.is_sound(kind) {
            return Err(SignerKeyError::Unsound(kind));
        }
        let rp_id = fields.application.filter(|name| !name.starts_with(SSH_APPLICATION));
        // OpenSSH reads passkeys of P-256 only.
        if let Some(name) = rp_id.filter(|name| kind != KeyKind::SkP256 || !is_rp_id(name)) {
            return Err(SignerKeyError::Application(name.to_owned()));
        }
        let rp_id = rp_id.map(str::to_owned);
        let data = PublicKey::from_bytes(blob).map_err(|_| SignerKeyError::Malformed(kind))?;
        Ok(Self { kind, blob: blob.to_vec(), data: data.key_data().clone(), rp_id })
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Returns the wire encoding.
    #[must_use]
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// Returns the fingerprint `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.data.fingerprint(HashAlg::Sha256).to_string()
    }

    /// Returns the domain for which a passkey was made; `None` for any other key.
    #[must_use]
    pub fn rp_id(&self) -> Option<&str> {
        self.rp_id.as_deref()
    }

    pub(crate) fn data(&self) -> &KeyData {
        &self.data
    }

    /// Returns the point of a P-256 key in a security key.
    pub(super) fn sk_p256_point(&self) -> Option<p256::ecdsa::VerifyingKey> {
        let KeyData::SkEcdsaSha2NistP256(key) = &self.data else { return None };
        p256::ecdsa::VerifyingKey::from_sec1_bytes(key.ec_point().as_bytes()).ok()
    }
}

struct SignerKeyFields<'a> {
    point: &'a [u8],
    application: Option<&'a str>,
}

impl<'a> SignerKeyFields<'a> {
    fn read(kind: KeyKind, mut wire: WireReader<'a>) -> Result<Self, WireFormatError> {
        let on_p256 = matches!(kind, KeyKind::P256 | KeyKind::SkP256);
        if on_p256 && wire.text()? != "nistp256" {
            return Err(WireFormatError);
        }
        let point = wire.string()?;
        let application = if kind.is_security_key() { Some(wire.text()?) } else { None };
        wire.finish()?;
        Ok(Self { point, application })
    }

    fn is_sound(&self, kind: KeyKind) -> bool {
        match kind {
            // ssh-key verifies without the check for keys of low order. Under such a key one
            // signature verifies for many messages.
            KeyKind::Ed25519 | KeyKind::SkEd25519 => self
                .point
                .try_into()
                .ok()
                .and_then(|point| ed25519_dalek::VerifyingKey::from_bytes(point).ok())
                .is_some_and(|point| !point.is_weak()),
            // A key has one encoding, as in OpenSSH. A second encoding would have another
            // fingerprint and evade a revocation.
            KeyKind::P256 | KeyKind::SkP256 => {
                self.point.first() == Some(&4)
                    && p256::PublicKey::from_sec1_bytes(self.point).is_ok()
            }
        }
    }
}
