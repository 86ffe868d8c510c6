//! Where the result key lies: `<dir>/result`, `<dir>/result.pub`, `<dir>/allowed_signers`. What is
//! there must never be replaced or mended but by a change of keys.

use std::path::Path;

use ssh_key::PublicKey;

use crate::key_error::KeyError;
use crate::key_files::{Custody, KeyDirectory, PUBLIC_BYTES_MAX};
use crate::keys::{PublicResultKey, ResultKey, Unfit};
use crate::public_keys::Retired;

pub(crate) const PRIVATE: &str = "result";
pub(crate) const PUBLIC: &str = "result.pub";
pub(crate) const ALLOWED_SIGNERS: &str = "allowed_signers";
/// The signed change to another key, from before it is logged until that key is in force.
pub(crate) const CHANGE: &str = "result.change";

impl ResultKey {
    /// Opens `<dir>/result`, or makes it (and the directory, mode 0700) on first use, with
    /// `result.pub` and `allowed_signers` beside it.
    ///
    /// # Errors
    /// Any [`KeyError`]: nothing that exists is ever replaced or mended.
    pub fn open_or_create(dir: &Path) -> Result<ResultKey, KeyError> {
        let keys = KeyDirectory::make(dir)?;
        keys.refuse_unfinished(CHANGE)?;
        // Looked for first: whoever makes keys makes the private one first, so a public half
        // without a private one is a lost key and no race.
        let public_there = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.is_some();
        let key = match load(&keys, PRIVATE)? {
            Some(key) => key,
            None if public_there => return Err(KeyError::Orphan { path: keys.path(PUBLIC) }),
            None => create(&keys, PRIVATE)?,
        };
        publish(&keys, &key.public())?;
        Ok(key)
    }

    /// Opens `<dir>/result`, which must be there.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<ResultKey, KeyError> {
        Self::open_in(&KeyDirectory::open(dir, Custody::Ours)?)
    }

    pub(crate) fn open_in(keys: &KeyDirectory) -> Result<ResultKey, KeyError> {
        keys.refuse_unfinished(CHANGE)?;
        load(keys, PRIVATE)?.ok_or_else(|| keys.missing(PRIVATE))
    }
}

impl PublicResultKey {
    /// Opens `<dir>/result.pub`: all that verifying needs, so the private half is not touched.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<PublicResultKey, KeyError> {
        Self::open_in(&KeyDirectory::open(dir, Custody::Ours)?)
    }

    pub(crate) fn open_in(keys: &KeyDirectory) -> Result<PublicResultKey, KeyError> {
        let bytes = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.ok_or_else(|| keys.missing(PUBLIC))?;
        let path = keys.path(PUBLIC);
        let key = PublicKey::from_openssh(String::from_utf8_lossy(&bytes).trim())
            .map_err(|source| KeyError::Format { path: path.clone(), source })?;
        PublicResultKey::from_key(&key).ok_or(KeyError::NotP256 { path })
    }
}

/// The key in this file; `None` where there is none.
pub(crate) fn load(keys: &KeyDirectory, name: &str) -> Result<Option<ResultKey>, KeyError> {
    let Some(private) = keys.private(name)? else { return Ok(None) };
    let path = keys.path(name);
    match ResultKey::from_private(private) {
        Ok(key) => Ok(Some(key)),
        Err(Unfit::NotPlainP256) => Err(KeyError::NotP256 { path }),
        Err(Unfit::Halves) => Err(KeyError::Halves { path }),
    }
}

/// Makes a key in this file.
pub(crate) fn create(keys: &KeyDirectory, name: &str) -> Result<ResultKey, KeyError> {
    let failed = |source| KeyError::Generate { path: keys.path(name), source };
    let key = ResultKey::generate().map_err(failed)?;
    let file = key.openssh_file().map_err(failed)?;
    match file {
        Some(file) if keys.place(name, 0o600, file.as_bytes())? => Ok(key),
        // Another process was faster; its key is the key.
        _ => load(keys, name)?.ok_or_else(|| keys.missing(name)),
    }
}

/// Puts the public files there, or checks that those that are there are of this key.
pub(crate) fn publish(keys: &KeyDirectory, public: &PublicResultKey) -> Result<(), KeyError> {
    let signers = Retired::open(keys)?.with_result(public.clone());
    keys.publish(PUBLIC, &format!("{}\n", public.openssh_line()))?;
    keys.publish(ALLOWED_SIGNERS, &signers.allowed_signers())
}
