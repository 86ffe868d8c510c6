//! Where the log's key lies: `<dir>/log`, and `<dir>/log.pub` with its name. The same rules hold as for
//! the result key; and a log must never be signed under another name than the one its key was made
//! for.

use std::path::Path;

use ssh_key::PrivateKey;
use ssh_key::private::Ed25519Keypair;

use crate::key_files::{KeyDirectory, KeyError, PUBLIC_BYTES_MAX};
use crate::log::{LogKey, LogOrigin, PublicLogKey};

const PRIVATE: &str = "log";
const PUBLIC: &str = "log.pub";

impl LogKey {
    /// Opens `<dir>/log`, or makes it (and the directory, mode 0700) on first use, with `log.pub`
    /// beside it.
    ///
    /// # Errors
    /// Any [`KeyError`]: nothing that exists is ever replaced or mended. A key that was made for a
    /// log of another name is [`KeyError::OtherKey`].
    pub fn open_or_create(dir: &Path, origin: &LogOrigin) -> Result<LogKey, KeyError> {
        let keys = KeyDirectory::make(dir)?;
        let public_there = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.is_some();
        let key = match keys.private(PRIVATE)? {
            Some(private) => fit(&keys, origin, &private)?,
            None if public_there => return Err(KeyError::Orphan { path: keys.path(PUBLIC) }),
            None => create(&keys, origin)?,
        };
        keys.publish(PUBLIC, &key.public().verifier_line())?;
        Ok(key)
    }

    /// Opens `<dir>/log`, which must be there: a key directory, or `$CREDENTIALS_DIRECTORY`.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path, origin: &LogOrigin) -> Result<LogKey, KeyError> {
        let keys = KeyDirectory::open(dir)?;
        let missing = || keys.io(PRIVATE, "opening", std::io::ErrorKind::NotFound.into());
        fit(&keys, origin, &keys.private(PRIVATE)?.ok_or_else(missing)?)
    }
}

impl PublicLogKey {
    /// Opens `<dir>/log.pub`: all that verifying needs.
    ///
    /// # Errors
    /// Any [`KeyError`]; a missing file is [`KeyError::Io`].
    pub fn open(dir: &Path) -> Result<PublicLogKey, KeyError> {
        let keys = KeyDirectory::open(dir)?;
        let missing = || keys.io(PUBLIC, "opening", std::io::ErrorKind::NotFound.into());
        let bytes = keys.read(PUBLIC, PUBLIC_BYTES_MAX)?.ok_or_else(missing)?;
        PublicLogKey::from_verifier_line(&String::from_utf8_lossy(&bytes))
            .ok_or_else(|| KeyError::NotEd25519 { path: keys.path(PUBLIC) })
    }
}

fn fit(keys: &KeyDirectory, origin: &LogOrigin, private: &PrivateKey) -> Result<LogKey, KeyError> {
    let key = LogKey::from_private(origin.clone(), private);
    key.ok_or_else(|| KeyError::NotEd25519 { path: keys.path(PRIVATE) })
}

fn create(keys: &KeyDirectory, origin: &LogOrigin) -> Result<LogKey, KeyError> {
    // Zeroed when it is dropped, unlike a seed at hand.
    let private = PrivateKey::from(Ed25519Keypair::random(&mut rand_core::OsRng));
    let key = fit(keys, origin, &private)?;
    let failed = |source| KeyError::Generate { path: keys.path(PRIVATE), source };
    let file = key.openssh_file().map_err(failed)?;
    if keys.place(PRIVATE, 0o600, file.as_bytes())? {
        return Ok(key);
    }
    // Another process was faster; its key is the key.
    LogKey::open(&keys.path(""), origin)
}
