//! Checks of what the collector sends: a path, a descriptor. They must never look a name up.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use model::{RejectReason, is_deceptive};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

/// Returns whether a path stays below its directory: no part is empty, `.` or `..`.
pub(super) fn is_below(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Returns the size of a regular file with one name.
pub(super) fn checked_size(file: &OwnedFd) -> Result<u64, RejectReason> {
    let stat = fstat(file).map_err(|_| RejectReason::Unreadable)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(RejectReason::Device);
    }
    if stat.st_nlink > 1 {
        return Err(RejectReason::Hardlink);
    }
    Ok(u64::try_from(stat.st_size).unwrap_or(u64::MAX))
}

/// Opens a directory of the result.
pub(super) fn open_directory(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Returns a name from the sandbox as text that is safe to show.
pub(super) fn printable(path: &[u8]) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(path).chars() {
        if is_deceptive(c) || c == '\\' {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deceptive_names_are_escaped() {
        assert_eq!(printable(b"plain.txt"), "plain.txt");
        assert_eq!(printable(b"a\nb"), "a\\u{a}b");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(printable("a\u{fe00}b\u{17b4}".as_bytes()), "a\\u{fe00}b\\u{17b4}");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }

    #[test]
    fn a_path_that_leaves_its_directory_is_found() {
        for below in ["a", ".git/config", "a/..b", "..."] {
            assert!(is_below(below), "{below}");
        }
        for other in ["", "/a", "a/", "a//b", "..", "a/../b", "./a"] {
            assert!(!is_below(other), "{other}");
        }
    }
}
