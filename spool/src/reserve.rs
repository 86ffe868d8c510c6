//! The room that is kept free for the last word: refusals and `indeterminate` records are written even when
//! the disk is full. It must never be taken back from whoever has it given up for a record, before that
//! record is written.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use crate::error::SpoolError;

/// Room for refusals and `indeterminate` records when the disk is full.
pub(crate) const RESERVE_BYTES: u64 = 4 * 1024 * 1024;

/// The file that takes the room, and who has it given up.
pub(crate) struct Reserve {
    path: PathBuf,
    users: AtomicUsize,
}

/// The reserved room is free for the record that must be written now; for as long as one of these lives, nobody
/// reserves it again.
#[must_use]
pub struct ReserveInUse<'a> {
    users: &'a AtomicUsize,
}

impl Drop for ReserveInUse<'_> {
    fn drop(&mut self) {
        self.users.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Reserve {
    pub(crate) fn of(spool: &Path) -> Self {
        Self { path: spool.join(".reserve"), users: AtomicUsize::new(0) }
    }

    /// Reserves the room if it is not reserved. Where the disk is too full for it, `free` frees some first.
    ///
    /// # Errors
    /// The disk is full, a record is written in that room now, or worse.
    pub(crate) fn keep(&self, free: impl FnOnce()) -> Result<(), SpoolError> {
        if self.users.load(Ordering::SeqCst) > 0 {
            let failed = SpoolError::io(&self.path, "reserve room for records");
            return Err(failed(Errno::NOSPC.into()));
        }
        match self.take() {
            Err(error) if error.is_full() => {
                free();
                self.take()
            }
            taken => taken,
        }
    }

    /// Gives the room up, for the record that must be written now.
    pub(crate) fn lend(&self) -> ReserveInUse<'_> {
        self.users.fetch_add(1, Ordering::SeqCst);
        self.give_up();
        ReserveInUse { users: &self.users }
    }

    fn take(&self) -> Result<(), SpoolError> {
        let failed = SpoolError::io(&self.path, "reserve room for records");
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
            // A file system that cannot allocate ahead has no reserve; records then need luck.
            Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
            Err(errno) => {
                self.give_up();
                Err(failed(errno.into()))
            }
        }
    }

    fn give_up(&self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!("{}: remove: {error}", self.path.display());
            }
            _ => {}
        }
    }
}
