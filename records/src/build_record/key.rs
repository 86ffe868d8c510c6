//! The private key of a builder: the result key of a state directory, or a key file that the
//! operator named. It signs only DSSE. It must never be used if other users can read its file.

use std::fmt;
use std::path::{Path, absolute};

use ed25519_dalek::{Signer as _, SigningKey};
use policies::SignerKey;
use ssh_key::private::KeypairData;
use ssh_key::{PrivateKey, PublicKey};

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner};
use crate::key_model::SigningError;
use crate::result_key::{ResultKey, ResultKeyProblem};

/// A key that signs records of builds.
pub struct BuilderKey {
    holder: BuilderKeyHolder,
    public: SignerKey,
}

enum BuilderKeyHolder {
    P256(Box<ResultKey>),
    /// Boxed, because a move would leave copies behind.
    Ed25519(Box<SigningKey>),
}

impl BuilderKey {
    /// Opens the result key in the key directory of a host, `keys/` in its state directory. Makes
    /// and writes nothing.
    ///
    /// # Errors
    /// Any [`HostKeyError`].
    pub fn of_host(directory: &Path) -> Result<Self, HostKeyError> {
        Self::of_result_key(ResultKey::open(directory)?, directory)
    }

    /// Opens an OpenSSH private key, Ed25519 or ECDSA P-256, without a passphrase.
    ///
    /// # Errors
    /// Any [`HostKeyError`].
    pub fn of_file(path: &Path) -> Result<Self, HostKeyError> {
        let unfit = || HostKeyError::NotAFile { path: path.to_owned() };
        let full = absolute(path).map_err(|source| HostKeyError::Io {
            path: path.to_owned(),
            act: "find",
            source,
        })?;
        let name = full.file_name().and_then(|name| name.to_str()).ok_or_else(unfit)?;
        let directory = full.parent().ok_or_else(unfit)?;
        let keys = KeyDirectory::open(directory, KeyFileOwner::ThisUser)?;
        let private = keys.read_private_key(name)?.ok_or_else(|| keys.missing(name))?;
        Self::from_private(private, path)
    }

    fn from_private(private: PrivateKey, path: &Path) -> Result<Self, HostKeyError> {
        let path_of = || path.to_owned();
        if let KeypairData::Ed25519(pair) = private.key_data() {
            let signing = Box::new(SigningKey::from_bytes(pair.private.as_ref()));
            if signing.verifying_key().as_bytes() != &pair.public.0 {
                return Err(HostKeyError::HalvesDiffer { path: path_of() });
            }
            let public = signer(private.public_key());
            let public = public.ok_or_else(|| HostKeyError::NotEd25519 { path: path_of() })?;
            return Ok(Self { holder: BuilderKeyHolder::Ed25519(signing), public });
        }
        if !matches!(private.key_data(), KeypairData::Ecdsa(_)) {
            return Err(HostKeyError::NotEd25519 { path: path_of() });
        }
        match ResultKey::from_private(private) {
            Ok(key) => Self::of_result_key(key, path),
            Err(ResultKeyProblem::NotPlainP256) => Err(HostKeyError::NotP256 { path: path_of() }),
            Err(ResultKeyProblem::HalvesDiffer) => {
                Err(HostKeyError::HalvesDiffer { path: path_of() })
            }
        }
    }

    pub(super) fn of_result_key(key: ResultKey, path: &Path) -> Result<Self, HostKeyError> {
        let public = signer(key.public().key());
        let public = public.ok_or_else(|| HostKeyError::NotP256 { path: path.to_owned() })?;
        Ok(Self { holder: BuilderKeyHolder::P256(Box::new(key)), public })
    }

    /// Returns the public half.
    #[must_use]
    pub fn public(&self) -> &SignerKey {
        &self.public
    }

    /// Returns the signature over a DSSE pre-authentication encoding: DER for P-256, else 64 bytes.
    pub(super) fn sign_pae(&self, pae: &[u8]) -> Result<Vec<u8>, SigningError> {
        match &self.holder {
            BuilderKeyHolder::P256(key) => key.sign_pae(pae),
            BuilderKeyHolder::Ed25519(key) => Ok(key.sign(pae).to_bytes().to_vec()),
        }
    }
}

impl fmt::Debug for BuilderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuilderKey({})", self.public.fingerprint())
    }
}

fn signer(key: &PublicKey) -> Option<SignerKey> {
    SignerKey::from_blob(&key.to_bytes().ok()?).ok()
}
