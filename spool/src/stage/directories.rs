//! The directories of a slot: accessible to the tool despite the umask, and read-only in a folder.
//! They must never be sealed before everything in them is in its place.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{Dir, FileType, Mode, OFlags, fchmod};
use rustix::io::Errno;

use crate::beneath::open_beneath;
use crate::error::SpoolError;

/// Makes the directories of an input in the slot; an input whose name ends in `/` is one itself.
pub(super) fn make_directories(slot: &Path, name: &str) -> Result<(), SpoolError> {
    for (at, _) in name.match_indices('/') {
        make_directory(&slot.join(&name[..at]))?;
    }
    Ok(())
}

/// Makes a directory in the slot, unless an earlier input has made it.
pub(super) fn make_directory(path: &Path) -> Result<(), SpoolError> {
    match DirBuilder::new().create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(SpoolError::io(path, "create")(error)),
    }
    let opened = fs::set_permissions(path, Permissions::from_mode(0o755));
    opened.map_err(SpoolError::io(path, "set the mode of"))
}

/// Makes each directory of a folder read-only, the top last. Its depth is limited.
pub(super) fn seal(folder: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let sealed = Mode::from_raw_mode(0o555);
    let mut levels = vec![Dir::read_from(folder)?];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.read() else {
            fchmod(level.fd()?, sealed)?;
            levels.pop();
            continue;
        };
        let entry = entry?;
        let is_dot = matches!(entry.file_name().to_bytes(), b"." | b"..");
        if is_dot || !matches!(entry.file_type(), FileType::Directory | FileType::Unknown) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let opened = open_beneath(level.fd()?, entry.file_name(), flags);
        match opened {
            Ok(below) => levels.push(Dir::new(below)?),
            // The file system does not list kinds, and this is a file or a link.
            Err(Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
