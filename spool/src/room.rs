//! The room that a request needs, and the reserve for records. A request is begun only where there is both.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::Errno;

use crate::error::SpoolError;
use crate::places::Spool;
use crate::reserve::{RESERVE_BYTES, ReserveInUse};
use crate::want::try_descriptors;

/// The bytes that a run needs in the state and in the log.
const ROOM_BYTES_MIN: u64 = 1024 * 1024;
/// The inodes that one run needs everywhere, and others at the same time.
const ROOM_INODES_MIN: u64 = 128;
/// The bytes of the file that tries for room: a few records.
const TRIED_BYTES: usize = 256 * 1024;

/// Makes a file without a name, which goes when it is closed.
fn try_file(place: &Path) -> io::Result<()> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match open(place, flags, Mode::from_raw_mode(0o600)) {
        Ok(file) => File::from(file).write_all(&vec![1; TRIED_BYTES]),
        // On a file system without such files the next request tries.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

impl Spool {
    /// Takes the reserve if it is not there or was used; a disk too full for it, even without stored
    /// inputs, is too full to begin anything.
    ///
    /// # Errors
    /// The disk is full, a record is written in that room now, or worse.
    pub fn keep_reserve(&self) -> Result<(), SpoolError> {
        self.reserve().keep(|| self.store().empty())
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

    /// Makes and fills a small file in each place that a request needs, and in these directories. Quotas show in
    /// no number.
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
        self.reserve().lend()
    }
}
