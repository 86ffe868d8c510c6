//! The lock on a log: only its holder writes. A wait for the lock must always be bounded.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::log::LogError;
use crate::log::disk::LogDisk;

const LOCK: &str = ".lock";
/// The delay between two attempts to take a held lock.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// A held lock. Dropping it releases the lock.
pub(crate) struct LogLock {
    file: OwnedFd,
}

impl Drop for LogLock {
    fn drop(&mut self) {
        // Closing is not enough: a child forked meanwhile keeps the file open until it calls exec.
        rustix::fs::flock(&self.file, FlockOperation::Unlock).unwrap_or_default();
    }
}

impl LogDisk {
    /// Takes the lock, or fails with [`LogError::Locked`]. Only its holder writes.
    pub(crate) fn lock(&self) -> Result<LogLock, LogError> {
        self.try_lock(FlockOperation::NonBlockingLockExclusive)
    }

    /// Takes the lock, and waits for its present holder up to `wait`.
    pub(crate) fn lock_within(&self, wait: Duration) -> Result<LogLock, LogError> {
        let since = Instant::now();
        loop {
            match self.lock() {
                // Poll, because a blocking flock(2) has no time limit.
                Err(LogError::Locked { .. }) if since.elapsed() < wait => {
                    std::thread::sleep(RETRY_DELAY);
                }
                locked => return locked,
            }
        }
    }

    fn try_lock(&self, operation: FlockOperation) -> Result<LogLock, LogError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.root, LOCK, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| self.io(LOCK, "open", error))?;
        match rustix::fs::flock(&fd, operation) {
            Ok(()) => Ok(LogLock { file: fd }),
            Err(Errno::WOULDBLOCK) => Err(LogError::Locked { path: self.path(LOCK) }),
            Err(error) => Err(self.io(LOCK, "lock", error)),
        }
    }
}
