//! The files of the result key: `<dir>/result`, `<dir>/result.pub`, `<dir>/allowed_signers`. Only a
//! key rotation may replace existing files; nothing repairs them.

use std::path::Path;

use ssh_key::PublicKey;

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner, PUBLIC_BYTES_MAX};
use crate::public_keys::RetiredKeys;
use crate::result_key::{PublicResultKey, ResultKey, ResultKeyProblem};

pub(crate) const PRIVATE: &str = "result";
pub(crate) const PUBLIC: &str = "result.pub";
pub(crate) const ALLOWED_SIGNERS: &str = "allowed_signers";
/// The signed rotation to another key. It exists from before it is logged until that key is active.
pub(crate) const CHANGE: &str = "result.change";

impl ResultKey {
    /// Opens `<dir>/result`. On first use makes it, the directory (mode 0700), `result.pub` and
    /// `allowed_signers`.
    ///
    /// # Errors
    /// Any [`HostKeyError`]. No existing file is replaced or repaired.
    pub fn open_or_create(dir: &Path) -> Result<ResultKey, HostKeyError> {
        let keys = KeyDirectory::make(dir)?;
        keys.refuse_unfinished(CHANGE)?;
        // Read first: the private half is made first, so a public half without it is a lost key and
        // not a race.
        let public_there = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.is_some();
        let key = match load(&keys, PRIVATE)? {
            Some(key) => key,
            None if public_there => {
                return Err(HostKeyError::PrivateKeyMissing { path: keys.path(PUBLIC) });
            }
            None => create(&keys, PRIVATE)?,
        };
        publish(&keys, &key.public())?;
        Ok(key)
    }

    /// Opens `<dir>/result`, which must exist.
    pub fn open(dir: &Path) -> Result<ResultKey, HostKeyError> {
        Self::open_in(&KeyDirectory::open(dir, KeyFileOwner::ThisUser)?)
    }

    pub(crate) fn open_in(keys: &KeyDirectory) -> Result<ResultKey, HostKeyError> {
        keys.refuse_unfinished(CHANGE)?;
        load(keys, PRIVATE)?.ok_or_else(|| keys.missing(PRIVATE))
    }
}

impl PublicResultKey {
    /// Opens `<dir>/result.pub`. Verification needs only this file; the private half is not opened.
    pub fn open(dir: &Path) -> Result<PublicResultKey, HostKeyError> {
        Self::open_in(&KeyDirectory::open(dir, KeyFileOwner::ThisUser)?)
    }

    pub(crate) fn open_in(keys: &KeyDirectory) -> Result<PublicResultKey, HostKeyError> {
        let bytes = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.ok_or_else(|| keys.missing(PUBLIC))?;
        let path = keys.path(PUBLIC);
        let key = PublicKey::from_openssh(String::from_utf8_lossy(&bytes).trim())
            .map_err(|source| HostKeyError::Format { path: path.clone(), source })?;
        PublicResultKey::from_key(&key).ok_or(HostKeyError::NotP256 { path })
    }
}

/// Loads the key from this file. Returns `None` if the file does not exist.
pub(crate) fn load(keys: &KeyDirectory, name: &str) -> Result<Option<ResultKey>, HostKeyError> {
    let Some(private) = keys.read_private_key(name)? else { return Ok(None) };
    let path = keys.path(name);
    match ResultKey::from_private(private) {
        Ok(key) => Ok(Some(key)),
        Err(ResultKeyProblem::NotPlainP256) => Err(HostKeyError::NotP256 { path }),
        Err(ResultKeyProblem::HalvesDiffer) => Err(HostKeyError::HalvesDiffer { path }),
    }
}

pub(crate) fn create(keys: &KeyDirectory, name: &str) -> Result<ResultKey, HostKeyError> {
    let failed = |source| HostKeyError::Generate { path: keys.path(name), source };
    let key = ResultKey::generate().map_err(failed)?;
    let file = key.openssh_file().map_err(failed)?;
    match file {
        Some(file) if keys.create_file(name, 0o600, file.as_bytes())? => Ok(key),
        // Another process was faster; use its key.
        _ => load(keys, name)?.ok_or_else(|| keys.missing(name)),
    }
}

/// Writes the public files, or checks that the existing ones are of this key.
pub(crate) fn publish(keys: &KeyDirectory, public: &PublicResultKey) -> Result<(), HostKeyError> {
    let signers = RetiredKeys::open(keys)?.with_result(public.clone());
    keys.publish(PUBLIC, &format!("{}\n", public.openssh_line()))?;
    keys.publish(ALLOWED_SIGNERS, &signers.allowed_signers())
}
