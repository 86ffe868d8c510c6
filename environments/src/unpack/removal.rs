//! Removes entries of earlier layers by handle: no link is followed.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::made_paths::MadePaths;

/// Removes the entry and all that is below it, except what the current layer made. `path` is the
/// path of the entry from the top.
pub(super) fn remove_except(
    parent: &OwnedFd,
    name: &str,
    path: &str,
    made: &MadePaths,
) -> Result<()> {
    let kept = made.contains(path);
    if !is_directory(parent, name)? {
        return match kept {
            true => Ok(()),
            false => unlinkat(parent, name, AtFlags::empty()),
        };
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = openat(parent, name, flags, Mode::empty())?;
    remove_children_except(&directory, path, made)?;
    match kept {
        true => Ok(()),
        false => unlinkat(parent, name, AtFlags::REMOVEDIR),
    }
}

/// Removes all that is below a directory, except what the current layer made.
pub(super) fn remove_children_except(
    directory: &OwnedFd,
    path: &str,
    made: &MadePaths,
) -> Result<()> {
    // All names first: a directory that changes while it is read may skip some.
    for name in names(directory)? {
        let name = name.to_str().map_err(|_| Errno::ILSEQ)?;
        let below = match path {
            "" => name.to_owned(),
            path => format!("{path}/{name}"),
        };
        remove_except(directory, name, &below, made)?;
    }
    Ok(())
}

fn is_directory(parent: &OwnedFd, name: &str) -> Result<bool> {
    let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
}

fn names(directory: &OwnedFd) -> Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}
