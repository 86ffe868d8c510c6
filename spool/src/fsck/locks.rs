//! Lists the held locks from `/proc/locks` (proc(5)) without taking any. Locks of processes in
//! other PID namespaces are not visible.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::lock::LOCKS_READS;

/// The inodes with a held flock(2) lock. Devices are ignored: `/proc/locks` and stat(2) report
/// different devices for file systems that span several.
pub(super) struct HeldLocks(HashSet<u64>);

impl HeldLocks {
    pub(super) fn now() -> Self {
        let read = |_| fs::read_to_string("/proc/locks").unwrap_or_default();
        let held = |text: String| text.lines().filter_map(inode_of).collect::<Vec<_>>();
        Self((0..LOCKS_READS).map(read).flat_map(held).collect())
    }

    pub(super) fn are_held_on(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| self.0.contains(&found.ino()))
    }
}

/// Parses `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; `->` before the type means waiting.
fn inode_of(line: &str) -> Option<u64> {
    let mut words = line.split_ascii_whitespace().skip(1);
    if words.next()? != "FLOCK" {
        return None;
    }
    words.nth(3)?.rsplit(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::inode_of;

    #[test]
    fn only_locks_that_are_held_count() {
        assert_eq!(inode_of("1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"), Some(5678));
        assert_eq!(inode_of("1: -> FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"), None);
        assert_eq!(inode_of("2: POSIX  ADVISORY  READ 99 00:1b:12 128 128"), None);
    }
}
