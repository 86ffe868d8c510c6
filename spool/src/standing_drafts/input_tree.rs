//! The inputs of a draft: a directory that an agent wrote. It is listed by handle and within
//! limits, without recursion, and no file in it is read. A larger one must never be copied to
//! `approved/`, because each of its entries would be work for the daemon.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};
use rustix::io::Errno;
use trees::TreeLimits;

use crate::beneath::open_beneath;
use crate::draft_files::DraftFiles;
use crate::error::SpoolError;
use crate::inbox::Inbox;

/// The most files and directories. The front matter of a request has no space for as many inputs.
pub(super) const ENTRIES_MAX: usize = DraftFiles::STANDING_ENTRIES_MAX;
/// The most levels of directories within the directory of the inputs.
pub(super) const LEVELS_MAX: usize = DraftFiles::STANDING_LEVELS_MAX;

/// The limits of the inputs of a draft.
#[derive(Clone, Copy)]
pub(crate) struct InputTreeBounds {
    /// The most files and directories.
    pub(crate) entries_max: usize,
    /// The most levels of directories within the directory of the inputs.
    pub(crate) levels_max: usize,
    /// The most bytes of all files together.
    pub(crate) bytes_max: u64,
}

impl InputTreeBounds {
    /// Returns those of a draft that uses a standing approval.
    pub(super) fn standing(bytes_max: u64) -> Self {
        Self { entries_max: ENTRIES_MAX, levels_max: LEVELS_MAX, bytes_max }
    }

    /// Returns the same limits for a copy.
    pub(crate) fn of_copy(self) -> TreeLimits {
        // A file is one component below the directories.
        let depth_max = self.levels_max.saturating_add(1);
        TreeLimits {
            entries_max: u64::try_from(self.entries_max).unwrap_or(u64::MAX),
            bytes_max: self.bytes_max,
            depth_max: u32::try_from(depth_max).unwrap_or(u32::MAX),
        }
    }
}

/// The work that checks have done, also if one failed. It counts toward the limits.
#[derive(Default)]
pub(crate) struct InputTreeWork {
    /// The names that were read.
    pub(crate) names: usize,
    /// The directories that were opened.
    pub(crate) directories: usize,
}

/// Checks that the inputs of a draft are within the limits. A draft may have none.
///
/// # Errors
/// They exceed a limit, or a directory cannot be listed.
pub(crate) fn check_inputs(
    drafts: &Inbox,
    name: &str,
    bounds: InputTreeBounds,
    work: &mut InputTreeWork,
) -> Result<(), SpoolError> {
    let path = drafts.path().join(name);
    let opened = open_beneath(drafts.handle(), name, OFlags::RDONLY | OFlags::DIRECTORY);
    let Some(top) = directory(opened, &path)? else { return Ok(()) };
    let (mut levels, mut bytes) = (vec![top], 0_u64);
    work.directories += 1;
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { return Ok(()) };
        let Some(entry) = level.read() else {
            levels.pop();
            continue;
        };
        let entry = entry.map_err(SpoolError::errno(&path, "list"))?;
        if is_dot(entry.file_name()) {
            continue;
        }
        work.names += 1;
        if work.names > bounds.entries_max {
            return Err(too_large(&path, bounds));
        }
        let parent = level.fd().map_err(SpoolError::errno(&path, "list"))?;
        if !matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
            bytes = bytes.saturating_add(size_of(parent, entry.file_name()));
            if bytes > bounds.bytes_max {
                return Err(too_large(&path, bounds));
            }
            continue;
        }
        let opened = open_beneath(parent, entry.file_name(), OFlags::RDONLY | OFlags::DIRECTORY);
        let Some(inner) = directory(opened, &path)? else { continue };
        if depth > bounds.levels_max {
            return Err(too_large(&path, bounds));
        }
        work.directories += 1;
        levels.push(inner);
    }
}

/// Returns the listing of a directory, or `None` for another object or a missing one.
fn directory(opened: rustix::io::Result<OwnedFd>, path: &Path) -> Result<Option<Dir>, SpoolError> {
    match opened {
        Ok(opened) => Dir::new(opened).map(Some).map_err(SpoolError::errno(path, "list")),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(SpoolError::errno(path, "list")(errno)),
    }
}

/// Returns the size of a file, and 0 for any other object. The copy counts what it reads.
fn size_of(directory: BorrowedFd<'_>, name: &CStr) -> u64 {
    let Ok(found) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { return 0 };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => u64::try_from(found.st_size).unwrap_or(u64::MAX),
        _ => 0,
    }
}

fn is_dot(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

fn too_large(path: &Path, bounds: InputTreeBounds) -> SpoolError {
    let InputTreeBounds { entries_max, levels_max, bytes_max } = bounds;
    let what = format!(
        "more than {entries_max} files and directories, {bytes_max} bytes, or {levels_max} levels \
         of directories; help: draft it again with its inputs only"
    );
    SpoolError::io(path, "copy")(io::Error::new(io::ErrorKind::InvalidInput, what))
}
