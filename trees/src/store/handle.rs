//! Small operations on files and directories, each by the handle of a directory. Nothing here
//! follows a link, waits for an object that replaced a file, or reads more than its limit.

use std::ffi::CString;
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::path::Arg;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

pub(super) fn open_directory(at: impl AsFd, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    openat(at, name, DIRECTORY, Mode::empty())
}

pub(super) fn open_file(at: impl AsFd, name: impl Arg) -> rustix::io::Result<File> {
    Ok(File::from(openat(at, name, FILE, Mode::empty())?))
}

/// Creates a file that must not exist, with exactly this mode.
pub(super) fn create_file(at: impl AsFd, name: impl Arg, mode: u32) -> io::Result<File> {
    let file = File::from(openat(at, name, NEW_FILE, Mode::from_raw_mode(0o600))?);
    // The umask has no effect on it.
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

/// Creates a file that must not exist, with exactly this mode. It may not be on the disk yet.
pub(super) fn write_new(
    at: impl AsFd,
    name: impl Arg,
    bytes: &[u8],
    mode: u32,
) -> io::Result<File> {
    let mut file = create_file(at, name, mode)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Reads a regular file. A larger one than `bytes_max` is an error.
pub(super) fn read_small(at: impl AsFd, name: impl Arg, bytes_max: usize) -> io::Result<Vec<u8>> {
    let bytes = read_head(at, name, bytes_max.saturating_add(1))?;
    match bytes.len() <= bytes_max {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than its limit")),
    }
}

/// Reads the beginning of a regular file, at most so many bytes.
pub(super) fn read_head(at: impl AsFd, name: impl Arg, bytes_max: usize) -> io::Result<Vec<u8>> {
    let file = open_file(at, name)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the names of a directory's entries, in any order.
pub(super) fn names_of(directory: impl AsFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}
