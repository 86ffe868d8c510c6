//! The files of the log's key: `<dir>/log`, and `<dir>/log.pub` with its name, under the rules of
//! the result key. A log must never be signed under another name than that of its key.

use std::path::Path;

use ssh_key::PrivateKey;

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner, PUBLIC_BYTES_MAX};
use crate::log::{LogKey, LogOrigin, PublicLogKey};
use crate::public_keys::RetiredKeys;

pub(crate) const PRIVATE: &str = "log";
pub(crate) const PUBLIC: &str = "log.pub";
/// The signed rotation to another key. It exists from before it is logged until that key is active.
pub(crate) const CHANGE: &str = "log.change";

impl LogKey {
    /// Opens `<dir>/log`. On first use makes it, the directory (mode 0700) and `log.pub`.
    ///
    /// # Errors
    /// Any [`HostKeyError`]. No existing file is replaced or repaired. A key of a log with another
    /// name is [`HostKeyError::OtherKey`].
    pub fn open_or_create(dir: &Path, origin: &LogOrigin) -> Result<LogKey, HostKeyError> {
        let keys = KeyDirectory::make(dir)?;
        keys.refuse_unfinished(CHANGE)?;
        let public_there = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.is_some();
        let key = match load(&keys, PRIVATE, origin)? {
            Some(key) => key,
            None if public_there => {
                return Err(HostKeyError::PrivateKeyMissing { path: keys.path(PUBLIC) });
            }
            None => create(&keys, PRIVATE, origin)?,
        };
        publish(&keys, key.public())?;
        Ok(key)
    }

    /// Opens `<dir>/log`, which must exist.
    pub fn open(dir: &Path, origin: &LogOrigin) -> Result<LogKey, HostKeyError> {
        Self::open_in(&KeyDirectory::open(dir, KeyFileOwner::ThisUser)?, origin)
    }

    pub(crate) fn open_in(keys: &KeyDirectory, origin: &LogOrigin) -> Result<LogKey, HostKeyError> {
        keys.refuse_unfinished(CHANGE)?;
        load(keys, PRIVATE, origin)?.ok_or_else(|| keys.missing(PRIVATE))
    }
}

impl PublicLogKey {
    /// Reads the active key, the first line of `<dir>/log.pub`. It verifies the present log.
    pub fn open(dir: &Path) -> Result<PublicLogKey, HostKeyError> {
        let keys = KeyDirectory::open(dir, KeyFileOwner::ThisUser)?;
        Self::open_in(&keys)?.ok_or_else(|| keys.missing(PUBLIC))
    }

    pub(crate) fn open_in(keys: &KeyDirectory) -> Result<Option<PublicLogKey>, HostKeyError> {
        let Some(bytes) = keys.read(PUBLIC, PUBLIC_BYTES_MAX)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let key = PublicLogKey::from_verifier_line(text.lines().next().unwrap_or_default());
        key.map(Some).ok_or_else(|| HostKeyError::NotEd25519 { path: keys.path(PUBLIC) })
    }
}

/// Loads the key from this file. Returns `None` if the file does not exist.
pub(crate) fn load(
    keys: &KeyDirectory,
    name: &str,
    origin: &LogOrigin,
) -> Result<Option<LogKey>, HostKeyError> {
    let fit = |private: PrivateKey| {
        LogKey::from_private(origin.clone(), &private)
            .ok_or_else(|| HostKeyError::NotEd25519 { path: keys.path(name) })
    };
    keys.read_private_key(name)?.map(fit).transpose()
}

pub(crate) fn create(
    keys: &KeyDirectory,
    name: &str,
    origin: &LogOrigin,
) -> Result<LogKey, HostKeyError> {
    let key = LogKey::generate(origin.clone());
    let failed = |source| HostKeyError::Generate { path: keys.path(name), source };
    let file = key.openssh_file().map_err(failed)?;
    match file {
        Some(file) if keys.create_file(name, 0o600, file.as_bytes())? => Ok(key),
        // Another process was faster; use its key.
        _ => load(keys, name, origin)?.ok_or_else(|| keys.missing(name)),
    }
}

/// Writes the public file, or checks that the existing one is of this key.
pub(crate) fn publish(keys: &KeyDirectory, public: &PublicLogKey) -> Result<(), HostKeyError> {
    keys.publish(PUBLIC, &RetiredKeys::open(keys)?.with_log(public.clone()).verifier_lines())
}
