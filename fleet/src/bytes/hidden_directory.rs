//! A directory that has a hidden name until it is complete. So no reader takes a part of a result
//! for the whole.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, RenameFlags, mkdirat, renameat_with};
use rustix::io::Errno;
use spool::random_bytes;

use super::error::ByteStoreError;
use super::files::open_directory;

/// The umask removes the access of others.
const DIRECTORY_MODE: u32 = 0o777;

/// A new directory. Dropping it before it was placed removes it with its content.
pub(super) struct HiddenDirectory {
    parent: OwnedFd,
    parent_path: PathBuf,
    name: String,
    is_placed: bool,
}

impl HiddenDirectory {
    /// Makes an empty directory in an existing one.
    pub(super) fn make(parent_path: &Path) -> Result<Self, ByteStoreError> {
        let parent = open_directory(parent_path)?;
        let random = random_bytes::<8>().map_err(ByteStoreError::io(parent_path, "name"))?;
        let name = format!(".new-{:016x}", u64::from_ne_bytes(random));
        let made = mkdirat(&parent, &name, Mode::from_raw_mode(DIRECTORY_MODE));
        made.map_err(ByteStoreError::io(&parent_path.join(&name), "create"))?;
        Ok(Self { parent, parent_path: parent_path.to_owned(), name, is_placed: false })
    }

    /// Returns the hidden path.
    pub(super) fn path(&self) -> PathBuf {
        self.parent_path.join(&self.name)
    }

    /// Gives the directory its final name, which must not exist.
    pub(super) fn place(mut self, name: &str) -> Result<PathBuf, ByteStoreError> {
        let path = self.parent_path.join(name);
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.parent, &self.name, &self.parent, name, flags) {
            Ok(()) => {
                self.is_placed = true;
                Ok(path)
            }
            Err(Errno::EXIST) => Err(ByteStoreError::Exists { path }),
            Err(errno) => Err(ByteStoreError::io(&path, "name")(errno)),
        }
    }
}

impl Drop for HiddenDirectory {
    fn drop(&mut self) {
        if self.is_placed {
            return;
        }
        match fs::remove_dir_all(self.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("{}: remove: {error}", self.path().display());
            }
            _ => {}
        }
    }
}
