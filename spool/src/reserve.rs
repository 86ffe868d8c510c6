//! The room that is kept free for the last word: refusals and `indeterminate` records are written even when
//! the disk is full. It must never be taken back from whoever has it given up for a record, before that
//! record is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open, statvfs};
use rustix::io::Errno;

use crate::error::SpoolError;
use crate::places::Spool;
use crate::want::try_descriptors;

/// Room for refusals and `indeterminate` records when the disk is full.
pub(crate) const RESERVE_BYTES: u64 = 4 * 1024 * 1024;

/// What a run needs in the state and in the log.
const ROOM_BYTES_MIN: u64 = 1024 * 1024;
/// What one needs everywhere, and others at the same time.
const ROOM_INODES_MIN: u64 = 128;
/// What is tried when it is asked whether there is room again: a few records.
const TRIED_BYTES: usize = 256 * 1024;

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

/// Makes a file without a name, which goes when it is closed.
fn try_file(place: &Path) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(place, flags, Mode::from_raw_mode(0o600)) {
        Ok(file) => File::from(file).write_all(&vec![1; TRIED_BYTES]),
        // Where a file system has none, the next request tries.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

impl Spool {
    /// Takes the reserve if it is not there or was used; a disk too full for it, even without stored
    /// inputs, is too full to begin anything.
    ///
    /// # Errors
    /// The disk is full, somebody writes a record in that room now, or worse.
    pub fn keep_reserve(&self) -> Result<(), SpoolError> {
        let reserve = self.reserve();
        if reserve.users.load(Ordering::SeqCst) > 0 {
            let failed = SpoolError::io(&reserve.path, "reserve room for records");
            return Err(failed(Errno::NOSPC.into()));
        }
        match reserve.take() {
            Err(error) if error.is_full() => {
                self.store().empty();
                reserve.take()
            }
            taken => taken,
        }
    }

    /// Insists on the descriptors that one request needs.
    ///
    /// # Errors
    /// There are not so many left.
    pub fn insist_on_descriptors(&self) -> Result<(), SpoolError> {
        let spool = &self.roots()[1];
        try_descriptors().map_err(SpoolError::io(spool, "open what a request needs"))
    }

    /// Insists on room and inodes beyond the reserve: where the spool's own file system is not the one of a place
    /// that a run writes to, the reserve is of no use there.
    ///
    /// # Errors
    /// A file system without room, or the kernel does not say.
    pub fn insist_on_room(&self, log: &Path) -> Result<(), SpoolError> {
        let [state, spool] = self.roots();
        let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        let of_spool = device(spool);
        for (place, bytes_min) in [
            (spool, 0),
            (state, ROOM_BYTES_MIN),
            (self.results(), RESERVE_BYTES),
            (log, ROOM_BYTES_MIN),
        ] {
            let found = match statvfs(place) {
                // The log of embedded runs is made with its first entry.
                Err(Errno::NOENT) => continue,
                found => found.map_err(SpoolError::errno(place, "look at"))?,
            };
            let bytes = found.f_bavail.saturating_mul(found.f_frsize);
            let has_inodes = found.f_files == 0 || found.f_favail >= ROOM_INODES_MIN;
            if !has_inodes || (device(place) != of_spool && bytes < bytes_min) {
                return Err(SpoolError::errno(place, "look for room in")(Errno::NOSPC));
            }
        }
        Ok(())
    }

    /// Whether a file can be made and filled a little wherever a request needs room, and in these directories. By
    /// doing so: quotas show in no number.
    ///
    /// # Errors
    /// The disk, or who has how much of it.
    pub fn try_room(&self, others: &[&Path]) -> Result<(), SpoolError> {
        let [state, spool] = self.roots();
        let permissions = state.join("permissions");
        let places = [state, spool, self.results(), permissions.as_path()];
        for place in places.into_iter().chain(others.iter().copied()) {
            match try_file(place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                tried => tried.map_err(SpoolError::io(place, "make a file in"))?,
            }
        }
        Ok(())
    }

    /// Gives the reserved room up, for the record that must be written now.
    pub fn use_reserve(&self) -> ReserveInUse<'_> {
        let reserve = self.reserve();
        reserve.users.fetch_add(1, Ordering::SeqCst);
        reserve.give_up();
        ReserveInUse { users: &reserve.users }
    }
}
