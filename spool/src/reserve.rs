//! The emergency reserve: disk space for refusals and `indeterminate` records on a full disk. It
//! must never be allocated again while a record that uses it is being written.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::error::SpoolError;

pub(crate) const RESERVE_BYTES: u64 = 4 * 1024 * 1024;

/// The file that occupies the space, and the number of records that use the space now.
pub(crate) struct Reserve {
    path: PathBuf,
    records_in_use: AtomicUsize,
}

/// The reserved space is free for a record, and not reserved again, while one of these lives.
#[must_use]
pub struct ReserveInUse<'a> {
    records_in_use: &'a AtomicUsize,
}

impl Drop for ReserveInUse<'_> {
    fn drop(&mut self) {
        self.records_in_use.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Reserve {
    pub(crate) fn of(spool: &Path) -> Self {
        Self { path: spool.join(".reserve"), records_in_use: AtomicUsize::new(0) }
    }

    /// Allocates the reserve if it is missing. If the disk is too full, `free` frees space first.
    ///
    /// # Errors
    /// The disk is full, a record is being written in the reserved space, or another I/O error.
    pub(crate) fn keep(&self, free: impl FnOnce()) -> Result<(), SpoolError> {
        if self.records_in_use.load(Ordering::SeqCst) > 0 {
            let failed = SpoolError::io(&self.path, "reserve space for records");
            return Err(failed(Errno::NOSPC.into()));
        }
        match self.allocate() {
            Err(error) if error.is_full() => {
                free();
                self.allocate()
            }
            taken => taken,
        }
    }

    /// Frees the space for the record that must be written now.
    pub(crate) fn free(&self) -> ReserveInUse<'_> {
        self.records_in_use.fetch_add(1, Ordering::SeqCst);
        self.remove();
        ReserveInUse { records_in_use: &self.records_in_use }
    }

    fn allocate(&self) -> Result<(), SpoolError> {
        let failed = SpoolError::io(&self.path, "reserve space for records");
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path);
        let file = match opened {
            Ok(file) => file,
            Err(error) => return Err(failed(error)),
        };
        let held = file.metadata().map_or(0, |found| found.blocks() * 512);
        if held >= RESERVE_BYTES {
            return Ok(());
        }
        match fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
            // Without preallocation a reserve is impossible. Records may then fail on a full disk.
            Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => {
                self.remove();
                Err(failed(errno.into()))
            }
        }
    }

    fn remove(&self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("{}: remove: {error}", self.path.display());
            }
            _ => {}
        }
    }
}
