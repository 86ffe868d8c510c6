//! Reads files that agents, tools or the daemon wrote: below an open directory, without links,
//! devices or pipes, and with a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use spool::open_beneath;

/// Opens a directory. A symbolic link in its place could be an attack and is refused.
///
/// # Errors
/// It does not exist, is not a directory, or this user may not list it.
pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// Opens a regular file at a path below the directory.
///
/// # Errors
/// It is missing, unreadable, behind a link, or not a regular file.
pub(crate) fn open_file(directory: impl AsFd, path: &str) -> io::Result<File> {
    let file = File::from(open_beneath(directory, path, OFlags::RDONLY)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Reads a file of at most `bytes_max` bytes. Returns `None` if it does not exist.
///
/// # Errors
/// As [`open_file`], or it is larger.
pub(crate) fn read_file(
    directory: impl AsFd,
    path: &str,
    bytes_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let file = match open_file(directory, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    match bytes.len() > bytes_max {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than its limit")),
        false => Ok(Some(bytes)),
    }
}
