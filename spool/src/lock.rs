//! Locks on files that other processes may hold: waited for, and never without an end, because who holds one
//! may be stopped.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How long another process may hold a lock; what it does meanwhile takes milliseconds.
const LOCK_TIME_MAX: Duration = Duration::from_secs(30);
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Which lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    Shared,
    Exclusive,
}

/// Takes a lock. EBUSY if another process holds it for too long.
pub(crate) fn hold(file: impl AsFd, hold: Hold) -> Result<(), Errno> {
    hold_within(file, hold, LOCK_TIME_MAX)
}

fn hold_within(file: impl AsFd, hold: Hold, time_max: Duration) -> Result<(), Errno> {
    let operation = match hold {
        Hold::Shared => FlockOperation::NonBlockingLockShared,
        Hold::Exclusive => FlockOperation::NonBlockingLockExclusive,
    };
    let begun = Instant::now();
    loop {
        match flock(&file, operation) {
            Err(Errno::WOULDBLOCK) if begun.elapsed() < time_max => {
                std::thread::sleep(LOOK_INTERVAL);
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
        hold(&first, Hold::Exclusive).unwrap();
        let short = Duration::from_millis(50);
        assert_eq!(hold_within(&second, Hold::Exclusive, short), Err(Errno::BUSY));
        assert_eq!(hold_within(&second, Hold::Shared, short), Err(Errno::BUSY));
        drop(first);
        assert_eq!(hold_within(&second, Hold::Exclusive, short), Ok(()));
        std::fs::remove_file(path).unwrap();
    }
}
