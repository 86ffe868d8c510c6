//! The inputs of a draft: a directory that an agent wrote. It is listed by handle and within
//! limits, without recursion, and no file in it is read. A larger one must never reach `approved/`,
//! because each of its entries would be work for the daemon.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use rustix::io::Errno;

use crate::beneath::open_beneath;
use crate::draft_files::DraftFiles;
use crate::error::SpoolError;
use crate::inbox::Inbox;

/// The most files and directories. The front matter of a request has no space for as many inputs.
pub(super) const ENTRIES_MAX: usize = DraftFiles::STANDING_ENTRIES_MAX;
/// The most levels of directories within the directory of the inputs.
pub(super) const LEVELS_MAX: usize = DraftFiles::STANDING_LEVELS_MAX;

/// The work that a check has done, also if it failed.
#[derive(Default)]
pub(super) struct InputTreeWork {
    /// The names that were read.
    pub(super) names: usize,
    /// The directories that were opened.
    pub(super) directories: usize,
}

/// Checks that the inputs of a draft are within the limits. A draft may have none.
///
/// # Errors
/// They exceed a limit, or a directory cannot be listed.
pub(super) fn check_inputs(
    drafts: &Inbox,
    name: &str,
    work: &mut InputTreeWork,
) -> Result<(), SpoolError> {
    let path = drafts.path().join(name);
    let opened = open_beneath(drafts.handle(), name, OFlags::RDONLY | OFlags::DIRECTORY);
    let Some(top) = directory(opened, &path)? else { return Ok(()) };
    let mut levels = vec![top];
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
        if work.names > ENTRIES_MAX {
            return Err(too_large(&path));
        }
        if !matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
            continue;
        }
        let parent = level.fd().map_err(SpoolError::errno(&path, "list"))?;
        let opened = open_beneath(parent, entry.file_name(), OFlags::RDONLY | OFlags::DIRECTORY);
        let Some(inner) = directory(opened, &path)? else { continue };
        if depth > LEVELS_MAX {
            return Err(too_large(&path));
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

fn is_dot(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

fn too_large(path: &Path) -> SpoolError {
    let what = format!(
        "more than {ENTRIES_MAX} files and directories, or more than {LEVELS_MAX} levels of \
         directories; help: draft it again with its inputs only"
    );
    SpoolError::io(path, "move")(io::Error::new(io::ErrorKind::InvalidInput, what))
}
