//! A private directory for files that are only passed on.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::random::random_word;

/// A directory that only this user can enter, removed with its files when dropped.
pub(crate) struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Creates the directory. Its name contains the purpose.
    pub(crate) fn create(purpose: &str) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("toolexec-{purpose}-{}", random_word()?));
        DirBuilder::new().mode(0o700).create(&path).map_err(Failure::io(&path))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // It has copies only.
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
