//! The lock on a log: whoever holds it is the only one who writes. It must never be waited for without
//! an end.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::log::LogError;
use crate::log::disk::Disk;

const LOCK: &str = ".lock";
/// Between two looks at a lock that somebody holds.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Held until it is dropped.
pub(crate) struct Lock {
    file: OwnedFd,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that was forked meanwhile has the file open until its exec.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).unwrap_or_default();
    }
}

impl Disk {
    /// Whoever holds it is the only one who writes.
    pub(crate) fn lock(&self) -> Result<Lock, LogError> {
        self.locked(FlockOperation::NonBlockingLockExclusive)
    }

    /// The same, after whoever holds it now, if that one is done within this time.
    pub(crate) fn lock_within(&self, wait: Duration) -> Result<Lock, LogError> {
        let since = Instant::now();
        loop {
            match self.lock() {
                // Asked for again and again, because a wait for it could be given no end.
                Err(LogError::Locked { .. }) if since.elapsed() < wait => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                locked => return locked,
            }
        }
    }

    fn locked(&self, operation: FlockOperation) -> Result<Lock, LogError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.root, LOCK, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| self.io(LOCK, "opening", error))?;
        match rustix::fs::flock(&fd, operation) {
            Ok(()) => Ok(Lock { file: fd }),
            Err(Errno::WOULDBLOCK) => Err(LogError::Locked { path: self.path(LOCK) }),
            Err(error) => Err(self.io(LOCK, "locking", error)),
        }
    }
}
