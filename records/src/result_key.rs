//! The result key: one ECDSA P-256 key, held here or by an agent, and the formats of its public
//! half. The private half must never leave this module except as the file that
//! [`crate::key_files`] writes. It may sign only results (in their SSH namespace and as DSSE),
//! builds of environments (as DSSE, with another predicate type) and its rotation. `ssh_key` and
//! `p256` zero their private bytes on drop. Stack and registers are not wiped;
//! [`crate::key_protection`] protects them from core files and other processes.

use std::fmt;

use model::Sha256;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use ssh_key::private::{EcdsaKeypair, KeypairData};
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::agent::AgentKey;
use crate::key_model::{KeyFingerprint, SigningError};
use crate::{base64, spki};

/// The SSH namespace of signatures on records; the signature covers it.
pub const RESULT_NAMESPACE: &str = "result.tool-exec@threegate";
/// The principal of the result key in `allowed_signers` files.
pub const RESULT_PRINCIPAL: &str = "tool-exec";

/// The key that signs records.
pub struct ResultKey {
    holder: ResultKeyHolder,
    public: PublicResultKey,
}

enum ResultKeyHolder {
    /// Boxed, because a move would leave copies behind.
    Local(Box<LocalKey>),
    Agent(Box<AgentKey>),
}

/// The key as its file has it, and the same key ready to sign.
struct LocalKey {
    file: PrivateKey,
    signing: SigningKey,
}

impl LocalKey {
    /// Accepts an unlocked P-256 key whose halves match: no record could be verified otherwise.
    fn new(file: PrivateKey, public: &PublicResultKey) -> Result<Box<Self>, ResultKeyProblem> {
        let KeypairData::Ecdsa(EcdsaKeypair::NistP256 { private, .. }) = file.key_data() else {
            return Err(ResultKeyProblem::NotPlainP256);
        };
        let signing = SigningKey::from_slice(private.as_slice());
        let signing = signing.map_err(|_| ResultKeyProblem::HalvesDiffer)?;
        if signing.verifying_key().to_encoded_point(false).as_bytes() != public.point() {
            return Err(ResultKeyProblem::HalvesDiffer);
        }
        Ok(Box::new(Self { file, signing }))
    }

    /// Signs deterministically (RFC 6979).
    fn sign(&self, message: &[u8]) -> Result<Signature, ssh_key::Error> {
        self.signing.try_sign(message).map_err(|_| ssh_key::Error::Crypto)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultKeyProblem {
    /// Another type of key, or a key locked with a passphrase.
    NotPlainP256,
    /// The halves in the file do not match.
    HalvesDiffer,
}

impl ResultKey {
    /// Generates a new key.
    pub(crate) fn generate() -> Result<Self, ssh_key::Error> {
        let p256 = Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 };
        let private = PrivateKey::random(&mut rand_core::OsRng, p256)?;
        Self::from_private(private).map_err(|_| ssh_key::Error::PublicKey)
    }

    /// Accepts an unlocked P-256 key with matching halves.
    pub(crate) fn from_private(private: PrivateKey) -> Result<Self, ResultKeyProblem> {
        let public = PublicResultKey::from_key(private.public_key())
            .ok_or(ResultKeyProblem::NotPlainP256)?;
        let local = LocalKey::new(private, &public)?;
        Ok(Self { holder: ResultKeyHolder::Local(local), public })
    }

    /// Accepts a P-256 key of an agent.
    pub(crate) fn from_agent(key: AgentKey) -> Result<Self, ResultKeyProblem> {
        let public =
            PublicResultKey::from_key(key.public()).ok_or(ResultKeyProblem::NotPlainP256)?;
        Ok(Self { holder: ResultKeyHolder::Agent(Box::new(key)), public })
    }

    /// Returns the public half.
    #[must_use]
    pub fn public(&self) -> PublicResultKey {
        self.public.clone()
    }

    /// Returns the armoured SSHSIG over these bytes. For the same bytes a local key always gives the
    /// same signature; an agent may not.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<String, SigningError> {
        let mut armoured = self.sshsig(RESULT_NAMESPACE, message)?.to_pem(LineEnding::LF)?;
        if !armoured.ends_with('\n') {
            armoured.push('\n');
        }
        Ok(armoured)
    }

    pub(crate) fn sshsig(&self, namespace: &str, message: &[u8]) -> Result<SshSig, SigningError> {
        match &self.holder {
            ResultKeyHolder::Local(key) => {
                let hash = HashAlg::Sha512;
                let signature = key.sign(&SshSig::signed_data(namespace, hash, message)?)?;
                let public = self.public.key.key_data().clone();
                Ok(SshSig::new(public, namespace, hash, signature.try_into()?)?)
            }
            ResultKeyHolder::Agent(key) => key.sshsig(namespace, message),
        }
    }

    /// Returns the DER signature over a DSSE pre-authentication encoding. Deterministic (RFC 6979)
    /// for a local key; an agent's signature may differ each time.
    pub(crate) fn sign_pae(&self, pae: &[u8]) -> Result<Vec<u8>, SigningError> {
        let signature = match &self.holder {
            ResultKeyHolder::Agent(key) => Signature::try_from(&key.sign(pae)?)?,
            ResultKeyHolder::Local(key) => key.sign(pae)?,
        };
        Ok(signature.to_der().as_bytes().to_vec())
    }

    pub(crate) fn is_in_agent(&self) -> bool {
        matches!(self.holder, ResultKeyHolder::Agent(_))
    }

    /// Returns the OpenSSH private key file, which is zeroed on drop; `None` for a key of an agent.
    pub(crate) fn openssh_file(
        &self,
    ) -> Result<Option<impl std::ops::Deref<Target = String> + use<>>, ssh_key::Error> {
        match &self.holder {
            ResultKeyHolder::Local(key) => key.file.to_openssh(LineEnding::LF).map(Some),
            ResultKeyHolder::Agent(_) => Ok(None),
        }
    }
}

impl fmt::Debug for ResultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResultKey({})", self.public.fingerprint())
    }
}

/// The public half of the result key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicResultKey {
    key: PublicKey,
    /// `ecdsa-sha2-nistp256 AAAA…`, without a comment.
    openssh: String,
    spki: Vec<u8>,
}

impl PublicResultKey {
    pub(crate) fn from_key(key: &PublicKey) -> Option<Self> {
        let point = key.key_data().ecdsa()?.as_sec1_bytes();
        // 65 bytes beginning with 4: the only form that fits the fixed DER prefix.
        if point.len() != 65 || point.first() != Some(&4) {
            return None;
        }
        let key = PublicKey::new(key.key_data().clone(), "");
        let openssh = key.to_openssh().ok()?.trim().to_owned();
        let spki = spki::P256_HEAD.iter().chain(point).copied().collect();
        Some(Self { key, openssh, spki })
    }

    pub(crate) fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns `ecdsa-sha2-nistp256 AAAA…`.
    #[must_use]
    pub fn openssh_line(&self) -> &str {
        &self.openssh
    }

    /// Returns the `allowed_signers` line with which `ssh-keygen -Y verify -I tool-exec -n
    /// result.tool-exec@threegate` accepts this key, for results only.
    #[must_use]
    pub fn allowed_signers_line(&self) -> String {
        format!("{RESULT_PRINCIPAL} namespaces=\"{RESULT_NAMESPACE}\" {}", self.openssh)
    }

    /// Returns the key as SPKI PEM, for `openssl` and Sigstore verifiers.
    #[must_use]
    pub fn pem(&self) -> String {
        spki::pem(&self.spki)
    }

    /// Returns the uncompressed point.
    fn point(&self) -> &[u8] {
        self.spki.get(spki::P256_HEAD.len()..).unwrap_or_default()
    }

    pub(crate) fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// Returns the key hint of Sigstore bundles: base64 of the SHA-256 of the SPKI.
    #[must_use]
    pub fn hint(&self) -> String {
        base64::encode(Sha256::of(&self.spki).as_bytes())
    }

    /// Returns whether the DER signature is one of this key over these bytes.
    pub(crate) fn accepts(&self, message: &[u8], der: &[u8]) -> bool {
        Signature::from_der(der).is_ok_and(|it| self.made(message, &it))
    }

    /// Returns whether the signature is one of this key over these bytes.
    pub(crate) fn made(&self, message: &[u8], signature: &Signature) -> bool {
        // `ring` verifies several times as quickly as `p256`.
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.point());
        key.verify(message, &signature.to_bytes()).is_ok()
    }

    /// Returns `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        KeyFingerprint::of(&self.key).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_is_deterministic_and_bound_to_the_bytes() {
        let key = ResultKey::generate().unwrap();
        let first = key.sign(b"record").unwrap();
        assert_eq!(first, key.sign(b"record").unwrap());
        let signature = SshSig::from_pem(&first).unwrap();
        assert!(key.public.key.verify(RESULT_NAMESPACE, b"record", &signature).is_ok());
        assert!(key.public.key.verify(RESULT_NAMESPACE, b"Record", &signature).is_err());
        assert!(key.public.key.verify("file", b"record", &signature).is_err());
    }
}
