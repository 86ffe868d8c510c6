//! The file `build.dsse.json`: the signed record of a build. No digest covers it, and nothing here
//! verifies it: a reader must never use it before it checks the signature and the subject.

use std::io::ErrorKind;

use model::Sha256;
use rustix::fs::{AtFlags, fsync, renameat, unlinkat};

use super::directory::{BUILD_RECORD, EnvironmentStore, PUBLIC_FILE};
use super::environment::StoredDirectory;
use super::error::StoreError;
use super::handle::{read_head, write_new};
use crate::content::CONTENT_BYTES_MAX;

/// One byte more than a verifier accepts, so that the verifier refuses a larger record.
const RECORD_BYTES_READ: usize = CONTENT_BYTES_MAX + 1;
/// The record before it replaces the old one.
const BUILD_RECORD_NEW: &str = "build.dsse.json.new";

impl EnvironmentStore {
    /// Reads the signed record of an environment's build, if it has one. Nothing of it is verified.
    /// Of a record that is too large, only the beginning is returned, which is too large itself.
    ///
    /// # Errors
    /// The environment does not exist, or its record cannot be read.
    pub fn build_record(&self, sha256: Sha256) -> Result<Option<Vec<u8>>, StoreError> {
        let stored = StoredDirectory::open(self, sha256)?;
        let path = stored.path.join(BUILD_RECORD);
        match read_head(&stored.directory, BUILD_RECORD, RECORD_BYTES_READ) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(StoreError::io(&path, "read")),
        }
    }

    /// Stores the signed record of an environment's build, and replaces an older one. Readers see
    /// either record whole, also after a crash.
    ///
    /// # Errors
    /// The environment does not exist, the record cannot be written, or another process has the
    /// lock of the store for too long.
    pub fn put_build_record(&self, sha256: Sha256, record: &[u8]) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let stored = StoredDirectory::open(self, sha256)?;
        let (directory, path) = (&stored.directory, stored.path.join(BUILD_RECORD));
        // A process that was killed may have left it.
        unlinkat(directory, BUILD_RECORD_NEW, AtFlags::empty()).unwrap_or_default();
        let file = write_new(directory, BUILD_RECORD_NEW, record, PUBLIC_FILE)
            .map_err(StoreError::io(&path, "write"))?;
        file.sync_all().map_err(StoreError::unsynced(&path))?;
        renameat(directory, BUILD_RECORD_NEW, directory, BUILD_RECORD)
            .map_err(StoreError::io(&path, "rename"))?;
        fsync(directory).map_err(StoreError::unsynced(&stored.path))
    }
}
