//! The file of a witness' key: an OpenSSH private key under the rules of the other keys of a host.
//! It is made once and never replaced.

use std::ffi::OsStr;
use std::path::Path;

use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

use crate::key_error::HostKeyError;
use crate::key_files::KeyDirectory;
use crate::log::{LogOrigin, WitnessSigner};

impl WitnessSigner {
    /// Opens the key of this host's witness. On first use makes it (mode 0600), and its directory
    /// (mode 0700).
    ///
    /// # Errors
    /// Any [`HostKeyError`]. No existing file is replaced or repaired.
    pub fn open_or_create(file: &Path, host: &LogOrigin) -> Result<Self, HostKeyError> {
        let parent = file.parent().filter(|it| !it.as_os_str().is_empty());
        let keys = KeyDirectory::make(parent.unwrap_or_else(|| Path::new(".")))?;
        let name = file.file_name().and_then(OsStr::to_str);
        let name = name.ok_or_else(|| HostKeyError::NotAFile { path: file.to_owned() })?;
        if let Some(signer) = load(&keys, name, host)? {
            return Ok(signer);
        }
        create(&keys, name)?;
        load(&keys, name, host)?.ok_or_else(|| keys.missing(name))
    }
}

/// Loads the key from this file. Returns `None` if the file does not exist.
fn load(
    keys: &KeyDirectory,
    name: &str,
    host: &LogOrigin,
) -> Result<Option<WitnessSigner>, HostKeyError> {
    let fit = |private: PrivateKey| {
        WitnessSigner::from_private(host, &private)
            .ok_or_else(|| HostKeyError::NotEd25519 { path: keys.path(name) })
    };
    keys.read_private_key(name)?.map(fit).transpose()
}

/// Makes a key, unless another process was faster.
fn create(keys: &KeyDirectory, name: &str) -> Result<(), HostKeyError> {
    let failed = |source| HostKeyError::Generate { path: keys.path(name), source };
    // Pair and file are zeroed on drop.
    let pair = Ed25519Keypair::random(&mut rand_core::OsRng);
    let file = PrivateKey::from(pair).to_openssh(LineEnding::LF).map_err(failed)?;
    keys.create_file(name, 0o600, file.as_bytes()).map(|_| ())
}
