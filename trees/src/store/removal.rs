//! Removes trees by handle, also those of read-only directories. It must never follow a link. An
//! entry that another process removes meanwhile is not an error.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::fs::{AtFlags, FileType, Stat, statat, unlinkat};
use rustix::io::Errno;

use super::handle::{names_of, open_directory};
use super::modes::make_accessible;

/// Removes a file or a tree. Returns the bytes of the files of which it removed the last link.
/// An entry that cannot be removed does not keep the others: its error is returned at the end.
pub(super) fn remove_tree(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<u64> {
    let stat = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(0),
        stat => stat?,
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        unless_missing(unlinkat(parent, name, AtFlags::empty()))?;
        return Ok(if stat.st_nlink == 1 { size_of(&stat) } else { 0 });
    }
    unless_missing(make_accessible(parent, name, &stat))?;
    let directory = match open_directory(parent, name) {
        Err(Errno::NOENT) => return Ok(0),
        directory => directory?,
    };
    let (mut freed, mut failed) = (0_u64, None);
    for name in names_of(&directory)? {
        match remove_tree(directory.as_fd(), &name) {
            Ok(more) => freed = freed.saturating_add(more),
            Err(errno) => failed = failed.or(Some(errno)),
        }
    }
    if let Some(errno) = failed {
        return Err(errno);
    }
    unless_missing(unlinkat(parent, name, AtFlags::REMOVEDIR))?;
    Ok(freed)
}

/// Returns the size of a file.
pub(super) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn unless_missing(done: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}
