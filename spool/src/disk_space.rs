//! The disk space of a request, and the reserve for records. A request begins only with both.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::Errno;

use crate::error::SpoolError;
use crate::input_store::InputStore;
use crate::input_trees::InputTreeStore;
use crate::paths::Spool;
use crate::reserve::{RESERVE_BYTES, ReserveInUse};
use crate::shortage::open_descriptors;

/// The bytes that a run needs in the state directory and in the log.
const SPACE_BYTES_MIN: u64 = 1024 * 1024;
/// The inodes that one run needs in every directory, with a margin for concurrent runs.
const INODES_MIN: u64 = 128;
/// The bytes of the test file: the size of a few records.
const PROBE_BYTES: usize = 256 * 1024;

/// Writes an unnamed file, which vanishes when it is closed.
fn probe_directory(place: &Path) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(place, flags, Mode::from_raw_mode(0o600)) {
        Ok(file) => File::from(file).write_all(&vec![1; PROBE_BYTES]),
        // The file system has no unnamed files: the next request is the test.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Deletes the stored inputs, which are the first files to go when the disk is full.
pub(crate) fn free_stored_inputs(files: &InputStore, trees: &InputTreeStore) {
    files.clear();
    trees.clear();
}

impl Spool {
    /// Allocates the reserve if it is missing or was used, if need be in place of stored inputs.
    ///
    /// # Errors
    /// The disk is full, a record is being written in the reserved space, or another I/O error.
    pub fn keep_reserve(&self) -> Result<(), SpoolError> {
        self.reserve().keep(|| free_stored_inputs(self.store(), self.trees()))
    }

    /// Checks that one request's descriptors can be opened.
    ///
    /// # Errors
    /// Too few descriptors are left.
    pub fn check_descriptors(&self) -> Result<(), SpoolError> {
        let spool = &self.roots()[1];
        open_descriptors().map_err(SpoolError::io(spool, "open descriptors for a request"))
    }

    /// Checks for space and inodes beyond the reserve. The reserve only helps on the spool's own
    /// file system, so directories on other file systems need free space of their own.
    ///
    /// # Errors
    /// A file system is full, or does not report its space.
    pub fn check_disk_space(&self, log: &Path) -> Result<(), SpoolError> {
        let [state, spool] = self.roots();
        let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        let of_spool = device(spool);
        for (place, bytes_min) in [
            (spool, 0),
            (state, SPACE_BYTES_MIN),
            (self.results(), RESERVE_BYTES),
            (log, SPACE_BYTES_MIN),
        ] {
            let found = match statvfs(place) {
                // The log of embedded runs is made with its first entry.
                Err(Errno::NOENT) => continue,
                found => found.map_err(SpoolError::errno(place, "stat"))?,
            };
            let bytes = found.f_bavail.saturating_mul(found.f_frsize);
            let has_inodes = found.f_files == 0 || found.f_favail >= INODES_MIN;
            if !has_inodes || (device(place) != of_spool && bytes < bytes_min) {
                return Err(SpoolError::errno(place, "check the free space of")(Errno::NOSPC));
            }
        }
        Ok(())
    }

    /// Writes a small file in each needed directory and `others`: only this shows a used-up quota.
    ///
    /// # Errors
    /// An I/O error: the disk or the quota is used up, or a directory is not writable.
    pub fn probe_disk_space(&self, others: &[&Path]) -> Result<(), SpoolError> {
        let [state, spool] = self.roots();
        let permissions = state.join("permissions");
        let places = [state, spool, self.results(), permissions.as_path()];
        for place in places.into_iter().chain(others.iter().copied()) {
            match probe_directory(place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                tried => tried.map_err(SpoolError::io(place, "create a file in"))?,
            }
        }
        Ok(())
    }

    /// Frees the reserved space for the record that must be written now.
    pub fn use_reserve(&self) -> ReserveInUse<'_> {
        self.reserve().free()
    }
}
