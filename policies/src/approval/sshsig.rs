//! SSH signatures of files (OpenSSH's PROTOCOL.sshsig), read and verified over exact bytes. A
//! signature is a claim until it is verified: only then may a [`VerifiedSshSignature`] exist. For a
//! security key the proof includes a touch, which `ssh-keygen -Y verify` does not check. A passkey
//! must never count for a caller that does not judge the statement of its browser.

use ed25519_dalek::Verifier;
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, Signature, SshSig};

use super::armour;
use super::key::{KeyKind, SignerKey};
use super::signature_error::SignatureError;
use super::touch::{AuthenticatorData, Touch};
use super::webauthn::{WEBAUTHN_TYPE, WebauthnAssertion, WebauthnFacts};
use super::wire::WireReader;

/// The maximum size of a signature file in bytes.
pub const SIGNATURE_BYTES_MAX: usize = 16 * 1024;

const MAGIC: &[u8] = b"SSHSIG";
const VERSION: u32 = 1;

/// A well-formed signature that is not verified.
#[derive(Clone, Debug)]
pub struct SshSignature {
    key: SignerKey,
    namespace: String,
    hash: HashAlg,
    proof: SignatureProof,
}

/// The part of a signature that its key made.
#[derive(Clone, Debug)]
enum SignatureProof {
    /// Of a key in software, or of a security key through OpenSSH.
    Ssh(Signature, Option<AuthenticatorData>),
    /// Of a passkey through a browser.
    Webauthn(Box<WebauthnAssertion>),
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

    /// Returns the touch data, if a security key or a passkey signed.
    #[must_use]
    pub fn touch(&self) -> Option<&Touch> {
        self.touch.as_ref()
    }

    /// Returns the statement of the browser, if a passkey signed. Every page of the relying party
    /// can ask for such a signature, so its origin must be judged.
    #[must_use]
    pub fn webauthn(&self) -> Option<&WebauthnFacts> {
        self.touch.as_ref().and_then(Touch::webauthn)
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
        let proof = SignatureProof::read(&key, wire.string()?)?;
        wire.finish()?;
        Ok(Self { key, namespace, hash, proof })
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
    /// was touched. A passkey is refused.
    ///
    /// # Errors
    /// [`SignatureError::Unverified`], [`SignatureError::NoTouch`] or [`SignatureError::Passkey`].
    pub fn verify(self, message: &[u8]) -> Result<VerifiedSshSignature, SignatureError> {
        match self.proof {
            SignatureProof::Ssh(..) => self.verify_with_passkeys(message),
            SignatureProof::Webauthn(_) => {
                Err(SignatureError::Passkey { fingerprint: self.key.fingerprint() })
            }
        }
    }

    /// Verifies as [`Self::verify`] does, and a passkey too. The caller must judge
    /// [`VerifiedSshSignature::webauthn`] before it counts the signature.
    ///
    /// # Errors
    /// [`SignatureError::Unverified`], [`SignatureError::NoTouch`] or [`SignatureError::Webauthn`].
    pub fn verify_with_passkeys(
        self,
        message: &[u8],
    ) -> Result<VerifiedSshSignature, SignatureError> {
        let fingerprint = || self.key.fingerprint();
        let unverified = || SignatureError::Unverified { fingerprint: fingerprint() };
        let signed = SshSig::signed_data(&self.namespace, self.hash, message);
        let signed = signed.map_err(|_| unverified())?;
        let (device, facts) = match &self.proof {
            SignatureProof::Ssh(signature, device) => {
                self.key.data().verify(&signed, signature).map_err(|_| unverified())?;
                (*device, None)
            }
            SignatureProof::Webauthn(assertion) => {
                if !assertion.is_made_by(&self.key, &signed) {
                    return Err(unverified());
                }
                let facts = assertion.statement(&self.key).map_err(|problem| {
                    SignatureError::Webauthn { fingerprint: fingerprint(), problem }
                })?;
                (Some(assertion.device()), Some(facts))
            }
        };
        if device.is_some_and(|device| !device.is_touched()) {
            return Err(SignatureError::NoTouch { fingerprint: fingerprint() });
        }
        let touch = device.map(|device| Touch::new(device, facts));
        Ok(VerifiedSshSignature { key: self.key, namespace: self.namespace, touch })
    }
}

impl SignatureProof {
    /// Reads the signature of this key. A passkey and a key of OpenSSH have a type each, so that
    /// neither can be presented as the other.
    fn read(key: &SignerKey, blob: &[u8]) -> Result<Self, SignatureError> {
        let kind = key.kind();
        let mut wire = WireReader::new(blob);
        let written = wire.text()?;
        let expected = if key.rp_id().is_some() { WEBAUTHN_TYPE } else { kind.as_str() };
        if written != expected {
            return Err(SignatureError::Mismatch(kind));
        }
        if key.rp_id().is_some() {
            return Ok(Self::Webauthn(Box::new(WebauthnAssertion::read(wire)?)));
        }
        let mut data = wire.string()?.to_vec();
        let mut device = None;
        if kind.is_security_key() {
            let read = AuthenticatorData::read(&mut wire)?;
            data.extend(read.bytes());
            device = Some(read);
        }
        wire.finish()?;
        let algorithm = match kind {
            KeyKind::Ed25519 => Algorithm::Ed25519,
            KeyKind::P256 => Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
            KeyKind::SkEd25519 => Algorithm::SkEd25519,
            KeyKind::SkP256 => Algorithm::SkEcdsaSha2NistP256,
        };
        let signature =
            Signature::new(algorithm, data).map_err(|_| SignatureError::NotASignature)?;
        Ok(Self::Ssh(signature, device))
    }
}
