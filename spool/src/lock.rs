//! File locks. Every wait has a time limit, because the process that holds a lock may be stopped.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// The longest wait for another process, which normally holds a lock for milliseconds.
const LOCK_TIME_MAX: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The number of times `/proc/locks` is read before a lock counts as free. One reading can miss a
/// lock while other locks are taken and released.
pub(crate) const LOCKS_READS: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LockMode {
    Shared,
    Exclusive,
}

/// A file that this process has locked. Dropping it unlocks explicitly: closing is not enough,
/// because a forked child has the file open until its exec.
#[derive(Debug)]
pub(crate) struct FileLock(File);

impl FileLock {
    /// Locks a file without waiting.
    ///
    /// # Errors
    /// EWOULDBLOCK if another process holds it, or another error of flock(2).
    pub(crate) fn try_lock(file: File, hold: LockMode) -> Result<Self, Errno> {
        flock(&file, operation(hold)).map(|()| Self(file))
    }

    /// Wraps a file that was locked by [`lock_file`].
    pub(crate) fn from_locked(file: File) -> Self {
        Self(file)
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Unlocking a locked file does not fail, and closing it releases the lock as well.
        flock(&self.0, FlockOperation::Unlock).unwrap_or_default();
    }
}

fn operation(hold: LockMode) -> FlockOperation {
    match hold {
        LockMode::Shared => FlockOperation::NonBlockingLockShared,
        LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
    }
}

/// Locks a file. EBUSY if another process holds it for too long.
pub(crate) fn lock_file(file: impl AsFd, hold: LockMode) -> Result<(), Errno> {
    lock_within(file, hold, LOCK_TIME_MAX)
}

fn lock_within(file: impl AsFd, hold: LockMode, time_max: Duration) -> Result<(), Errno> {
    let begun = Instant::now();
    loop {
        match flock(&file, operation(hold)) {
            Err(Errno::WOULDBLOCK) if begun.elapsed() < time_max => {
                std::thread::sleep(POLL_INTERVAL);
            }
            Err(Errno::WOULDBLOCK) => return Err(Errno::BUSY),
            Err(Errno::INTR) => {}
            held => return held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_for_ever_is_not_waited_for_for_ever() {
        let path = std::env::temp_dir().join(format!("toolexec-lock-{}", std::process::id()));
        let (first, second) =
            (std::fs::File::create(&path).unwrap(), std::fs::File::open(&path).unwrap());
        lock_file(&first, LockMode::Exclusive).unwrap();
        let short = Duration::from_millis(50);
        assert_eq!(lock_within(&second, LockMode::Exclusive, short), Err(Errno::BUSY));
        assert_eq!(lock_within(&second, LockMode::Shared, short), Err(Errno::BUSY));
        drop(first);
        assert_eq!(lock_within(&second, LockMode::Exclusive, short), Ok(()));
        std::fs::remove_file(path).unwrap();
    }

    /// Keeps a second descriptor of the same open file, as a child has between fork and exec.
    #[test]
    fn a_lock_that_is_given_up_ends_though_a_child_has_the_file_open() {
        let path = std::env::temp_dir().join(format!("toolexec-given-up-{}", std::process::id()));
        let first = std::fs::File::create(&path).unwrap();
        let inherited = first.try_clone().unwrap();
        let locked = FileLock::try_lock(first, LockMode::Exclusive).unwrap();
        let again = || FileLock::try_lock(std::fs::File::open(&path).unwrap(), LockMode::Exclusive);
        assert_eq!(again().err(), Some(Errno::WOULDBLOCK));
        drop(locked);
        assert!(again().is_ok());
        drop(inherited);
        std::fs::remove_file(path).unwrap();
    }
}
