//! The lock of the store: its holder creates and removes drafts, stores environments and removes
//! them. Readers never take it. A wait for it must always be bounded.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::error::StoreError;

/// Readable by the owner only, because each user who can open a file can lock it.
pub(super) const LOCK: &str = "lock";

const RETRY_DELAY: Duration = Duration::from_millis(10);
/// Attempts in about 30 seconds. The process that holds the lock may be stopped.
const ATTEMPTS_MAX: u32 = 3_000;

/// A held lock. Dropping it unlocks explicitly: closing is not enough, because a forked child has
/// the file open until its exec.
pub(super) struct StoreLock(OwnedFd);

impl StoreLock {
    /// Locks the store, whose directory and path these are.
    pub(super) fn take(directory: impl AsFd, path: &Path) -> Result<Self, StoreError> {
        let path = path.join(LOCK);
        let file = open_lock(directory, LOCK).map_err(StoreError::io(&path, "open"))?;
        for _ in 0..ATTEMPTS_MAX {
            match Self::try_file(&file) {
                Ok(true) => return Ok(Self(file)),
                Ok(false) => std::thread::sleep(RETRY_DELAY),
                Err(errno) => return Err(StoreError::io(&path, "lock")(errno)),
            }
        }
        Err(StoreError::Locked { path })
    }

    /// Locks a file that its caller opened. Returns `None` if another process holds the lock.
    pub(super) fn try_take(file: OwnedFd) -> rustix::io::Result<Option<Self>> {
        Ok(Self::try_file(&file)?.then(|| Self(file)))
    }

    fn try_file(file: &OwnedFd) -> rustix::io::Result<bool> {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        // Unlocking a locked file does not fail, and closing it releases the lock as well.
        flock(&self.0, FlockOperation::Unlock).unwrap_or_default();
    }
}

/// Opens a lock file, and creates it if it does not exist.
pub(super) fn open_lock(at: impl AsFd, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::from_raw_mode(0o600))
}
