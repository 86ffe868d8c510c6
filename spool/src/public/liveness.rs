//! Detects whether a daemon uses a spool, as far as the caller can see, by the lock on `.lock`,
//! which always ends with the process. Never infer liveness from a status file. Never take the lock
//! when the list of locks is enough: a daemon that starts at that moment would fail to acquire it.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{major, minor};

use super::model::{ProcessId, PublishedStatus};
use crate::lock::{FileLock, LOCKS_READS, LockMode};

/// The presence of a running daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DaemonLiveness {
    /// A process holds the spool's lock; its pid, if visible.
    Running(Option<u32>),
    /// No process holds it.
    NotRunning,
    /// The caller cannot determine it.
    Unknown,
}

/// Returns whether a daemon uses this spool. The untrusted `status` helps to read the lock list.
#[must_use]
pub fn daemon_liveness(spool: &Path, status: Option<&PublishedStatus>) -> DaemonLiveness {
    let lock = spool.join(".lock");
    let found = match fs::metadata(&lock) {
        Ok(found) => found,
        // A daemon makes the lock file first.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return DaemonLiveness::NotRunning,
        Err(_) => return DaemonLiveness::Unknown,
    };
    let process = status.map(|status| &status.process);
    let here = ProcessId::current();
    let status_pid = process.filter(|it| it.shares_pid_namespace(&here)).map(|it| it.pid);
    let read = || fs::read_to_string("/proc/locks").ok();
    match find_lock(read, (found.dev(), found.ino()), status_pid) {
        LockListing::Holder(pid) => return DaemonLiveness::Running(Some(pid)),
        // The list is complete for a process in the PID namespace of the daemon.
        LockListing::NotListed if status_pid.is_some() => return DaemonLiveness::NotRunning,
        LockListing::NotListed | LockListing::Unclear => {}
    }
    match OpenOptions::new().read(true).custom_flags(nofollow()).open(&lock) {
        Err(_) => DaemonLiveness::Unknown,
        Ok(file) => match FileLock::try_lock(file, LockMode::Shared) {
            Ok(_) => DaemonLiveness::NotRunning,
            Err(rustix::io::Errno::WOULDBLOCK) => DaemonLiveness::Running(None),
            Err(_) => DaemonLiveness::Unknown,
        },
    }
}

fn nofollow() -> i32 {
    i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LockListing {
    /// This process holds it exclusively.
    Holder(u32),
    /// No lock on any file of this inode number is listed.
    NotListed,
    /// The list cannot be read, or has a lock that may be on another file.
    Unclear,
}

/// Reads the list several times, because one reading can miss a lock.
fn find_lock(
    mut read: impl FnMut() -> Option<String>,
    (device, inode): (u64, u64),
    status_pid: Option<u32>,
) -> LockListing {
    let mut seen = LockListing::NotListed;
    for _ in 0..LOCKS_READS {
        let Some(locks) = read() else { return LockListing::Unclear };
        if let Some(pid) = lock_holder(&locks, device, inode, status_pid) {
            return LockListing::Holder(pid);
        }
        if locks.contains(&format!(":{inode} ")) {
            seen = LockListing::Unclear;
        }
    }
    seen
}

/// Returns the exclusive holder of the file's lock, from the kernel's list (proc_locks(5)). Some
/// file systems report another device there; then the holder must be the process of the status.
fn lock_holder(locks: &str, device: u64, inode: u64, status_pid: Option<u32>) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        if (words.next()?, words.next()?, words.next()?) != ("FLOCK", "ADVISORY", "WRITE") {
            return None;
        }
        let pid: u32 = words.next()?.parse().ok()?;
        let mut place = words.next()?.split(':');
        let mut hex = || u32::from_str_radix(place.next()?, 16).ok();
        let on = (hex()?, hex()?);
        let same_inode = place.next()?.parse() == Ok(inode);
        let same_device = on == (major(device), minor(device));
        (same_inode && (same_device || status_pid == Some(pid))).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "\
1: POSIX  ADVISORY  WRITE 11 fe:00:7 0 EOF
2: FLOCK  ADVISORY  READ  12 fe:00:7 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 fe:00:7 0 EOF
3: FLOCK  ADVISORY  WRITE 14 fe:00:8 0 EOF
4: FLOCK  ADVISORY  WRITE 15 00:2a:9 0 EOF
";

    #[test]
    fn a_lock_that_one_reading_passes_over_is_seen_by_the_next() {
        let place = (rustix::fs::makedev(0xfe, 0), 8);
        let answers = |readings: &[Option<&str>]| {
            let mut readings = readings.iter();
            find_lock(|| readings.next().unwrap().map(str::to_owned), place, None)
        };
        assert_eq!(answers(&[Some(LOCKS)]), LockListing::Holder(14));
        assert_eq!(answers(&[Some(""), Some(""), Some(LOCKS)]), LockListing::Holder(14));
        assert_eq!(answers(&[Some(""); 3]), LockListing::NotListed);
        assert_eq!(answers(&[Some(""), None]), LockListing::Unclear);
        let other = "5: FLOCK  ADVISORY  WRITE 14 fe:01:8 0 EOF";
        assert_eq!(answers(&[Some(""), Some(other), Some("")]), LockListing::Unclear);
    }

    #[test]
    fn only_an_exclusive_lock_on_this_very_file_is_a_daemons() {
        let device = rustix::fs::makedev(0xfe, 0);
        assert_eq!(
            lock_holder(LOCKS, device, 7, None),
            None,
            "shared, of another kind, or waited for"
        );
        assert_eq!(lock_holder(LOCKS, device, 8, None), Some(14));
        assert_eq!(lock_holder(LOCKS, rustix::fs::makedev(0xfe, 1), 8, None), None);
        assert_eq!(lock_holder(LOCKS, device, 9, None), None);
        assert_eq!(
            lock_holder(LOCKS, device, 9, Some(15)),
            Some(15),
            "the device has another number"
        );
        assert_eq!(lock_holder(LOCKS, device, 9, Some(16)), None);
        assert_eq!(lock_holder("a b\n5: FLOCK ADVISORY WRITE x fe:00:8", device, 8, None), None);
    }
}
