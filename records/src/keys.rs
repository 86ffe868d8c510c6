//! The result key: one ECDSA P-256 key, and the forms in which its public half is handed out. The
//! private half must never leave this module but as the file that [`crate::key_files`] writes, and
//! nothing may be signed with it but results: in their SSH namespace, and as DSSE, whose encoding no
//! other thing has.

use std::fmt;

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use ssh_key::private::{EcdsaKeypair, KeypairData};
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};
use validator::Sha256;

use crate::{base64, spki};

/// What a signature on a record is for; part of what is signed.
pub const RESULT_NAMESPACE: &str = "result.tool-exec@threegate";
/// Who signs records, as `allowed_signers` files name it.
pub const RESULT_PRINCIPAL: &str = "tool-exec";

/// DER of `SubjectPublicKeyInfo` for an uncompressed P-256 point, up to the point (RFC 5480).
const SPKI_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The key that signs records.
pub struct ResultKey {
    private: PrivateKey,
    public: PublicResultKey,
}

/// Why a private key cannot be the result key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Another kind of key, or one that is locked with a passphrase.
    NotPlainP256,
    /// The halves of the file are not of one key.
    Halves,
}

impl ResultKey {
    /// A new key. The only random numbers of this crate are drawn here.
    pub(crate) fn generate() -> Result<Self, ssh_key::Error> {
        let p256 = Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 };
        let private = PrivateKey::random(&mut rand_core::OsRng, p256)?;
        Self::from_private(private).map_err(|_| ssh_key::Error::PublicKey)
    }

    /// Accepts an unlocked P-256 key whose halves fit each other.
    pub(crate) fn from_private(private: PrivateKey) -> Result<Self, Unfit> {
        if !matches!(private.key_data(), KeypairData::Ecdsa(EcdsaKeypair::NistP256 { .. })) {
            return Err(Unfit::NotPlainP256);
        }
        let public = PublicResultKey::from_key(private.public_key()).ok_or(Unfit::NotPlainP256)?;
        let key = Self { private, public };
        // A file can hold halves of two keys; every record would then be unverifiable for ever.
        let proof = key.sign(b"self-test").map_err(|_| Unfit::Halves)?;
        let fits = SshSig::from_pem(proof)
            .and_then(|sig| key.public.key.verify(RESULT_NAMESPACE, b"self-test", &sig));
        fits.map(|()| key).map_err(|_| Unfit::Halves)
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicResultKey {
        self.public.clone()
    }

    /// The armoured SSHSIG over these bytes. Deterministic: the same bytes give the same signature.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<String, ssh_key::Error> {
        let signature = self.private.sign(RESULT_NAMESPACE, HashAlg::Sha512, message)?;
        let mut armoured = signature.to_pem(LineEnding::LF)?;
        if !armoured.ends_with('\n') {
            armoured.push('\n');
        }
        Ok(armoured)
    }

    /// The DER signature over a DSSE pre-authentication encoding. Deterministic (RFC 6979).
    pub(crate) fn sign_pae(&self, pae: &[u8]) -> Result<Vec<u8>, ssh_key::Error> {
        let KeypairData::Ecdsa(EcdsaKeypair::NistP256 { private, .. }) = self.private.key_data()
        else {
            return Err(ssh_key::Error::AlgorithmUnknown);
        };
        let key = SigningKey::from_slice(private.as_slice()).map_err(|_| ssh_key::Error::Crypto)?;
        let signature: Signature = key.try_sign(pae).map_err(|_| ssh_key::Error::Crypto)?;
        Ok(signature.to_der().as_bytes().to_vec())
    }

    /// The OpenSSH private key file.
    pub(crate) fn openssh_file(&self) -> Result<impl AsRef<str> + use<>, ssh_key::Error> {
        struct Erased<T>(T);
        impl<T: std::ops::Deref<Target = String>> AsRef<str> for Erased<T> {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
        self.private.to_openssh(LineEnding::LF).map(Erased)
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
        // 65 bytes beginning with 4: the only form that SPKI_HEAD announces.
        if point.len() != 65 || point.first() != Some(&4) {
            return None;
        }
        let key = PublicKey::new(key.key_data().clone(), "");
        let openssh = key.to_openssh().ok()?.trim().to_owned();
        let spki = SPKI_HEAD.iter().chain(point).copied().collect();
        Some(Self { key, openssh, spki })
    }

    pub(crate) fn key(&self) -> &PublicKey {
        &self.key
    }

    /// `ecdsa-sha2-nistp256 AAAA…`.
    #[must_use]
    pub fn openssh_line(&self) -> &str {
        &self.openssh
    }

    /// The line that makes `ssh-keygen -Y verify -I tool-exec -n result.tool-exec@threegate` accept
    /// this key, for results and for nothing else.
    #[must_use]
    pub fn allowed_signers_line(&self) -> String {
        format!("{RESULT_PRINCIPAL} namespaces=\"{RESULT_NAMESPACE}\" {}", self.openssh)
    }

    /// SPKI PEM, for `openssl` and Sigstore verifiers.
    #[must_use]
    pub fn pem(&self) -> String {
        spki::pem(&self.spki)
    }

    /// DER of `SubjectPublicKeyInfo`.
    pub(crate) fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// How a Sigstore bundle names this key: base64 of the SHA-256 of its SPKI.
    #[must_use]
    pub fn hint(&self) -> String {
        base64::encode(Sha256::of(&self.spki).as_bytes())
    }

    /// Whether the DER signature is one of this key over these bytes.
    pub(crate) fn accepts(&self, message: &[u8], der: &[u8]) -> bool {
        let point = self.spki.get(SPKI_HEAD.len()..).unwrap_or_default();
        let key = VerifyingKey::from_sec1_bytes(point);
        let signature = Signature::from_der(der);
        matches!((key, signature), (Ok(key), Ok(it)) if key.verify(message, &it).is_ok())
    }

    /// `SHA256:…`, as `ssh-keygen -l` prints it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.key.fingerprint(HashAlg::Sha256).to_string()
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
