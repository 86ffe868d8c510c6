//! The size of one entry. Its submitter may have written its directories, so the walk is by handle
//! and bounded, and what cannot be read counts as 0. It must never fail: one entry must not stop
//! the retention of the others.

use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, statat};

use crate::beneath::open_beneath;

/// The levels whose files count. A folder among the inputs has at most 64.
const LEVELS_MAX: usize = 80;
/// The files and directories that count.
const COUNTED_MAX: u32 = 1_000_000;

/// Returns the total size of the files in an entry. A file or directory that is removed meanwhile,
/// unreadable, on another mount or beyond a limit counts as 0.
pub(super) fn bytes_in(path: &Path) -> u64 {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(top) = open(path, flags, Mode::empty()).and_then(Dir::new) else { return 0 };
    let (mut size, mut levels) = (EntrySize { bytes: 0, left: COUNTED_MAX }, vec![top]);
    while let Some(deepest) = levels.last_mut() {
        match size.count_to_directory(deepest) {
            Some(below) if levels.len() < LEVELS_MAX => levels.push(below),
            Some(_) => {}
            None => {
                levels.pop();
            }
        }
    }
    size.bytes
}

/// The counts up to now.
struct EntrySize {
    bytes: u64,
    /// The files and directories that may still be counted.
    left: u32,
}

impl EntrySize {
    /// Counts files up to the next directory that can be listed, and opens that.
    fn count_to_directory(&mut self, directory: &mut Dir) -> Option<Dir> {
        while let Some(Ok(entry)) = directory.read() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            let at = directory.fd().ok()?;
            let Ok(found) = statat(at, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                let bytes = u64::try_from(found.st_size).unwrap_or(0);
                self.bytes = self.bytes.saturating_add(bytes);
                continue;
            }
            let below = open_beneath(at, name, OFlags::RDONLY | OFlags::DIRECTORY);
            if let Ok(below) = below.and_then(Dir::new) {
                return Some(below);
            }
        }
        None
    }
}
