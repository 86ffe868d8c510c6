//! Lists every file below the log's directory, without following links or exceeding its depth.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::log::LogError;
use crate::log::disk::LogDisk;

/// `tile`, its kind, the parts of the longest number, and the directory of partial tiles.
const DEPTH_MAX: usize = 12;

/// An entry that is not a directory.
pub(super) struct LogDirectoryFile {
    /// The path below the log's directory.
    pub(super) path: String,
    /// The length of a regular file; 1 for anything else.
    pub(super) bytes: u64,
}

/// Lists all entries, in no order. A directory that cannot be read is an error in the list.
pub(super) fn files_below(disk: &LogDisk) -> Vec<Result<LogDirectoryFile, LogError>> {
    let mut found = Vec::new();
    let mut directories = vec![(String::new(), 0)];
    while let Some((path, depth)) = directories.pop() {
        if let Err(error) = list(disk, &path, depth, &mut found, &mut directories) {
            found.push(Err(disk.io(&path, "list", error)));
        }
    }
    found
}

fn list(
    disk: &LogDisk,
    path: &str,
    depth: usize,
    found: &mut Vec<Result<LogDirectoryFile, LogError>>,
    directories: &mut Vec<(String, usize)>,
) -> Result<(), Errno> {
    let directory = match open(disk, path) {
        // A writer removes a directory of partial tiles once the whole one exists.
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            stat => stat?,
        };
        let name = name.to_string_lossy();
        let below = if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth < DEPTH_MAX => directories.push((below, depth + 1)),
            FileType::RegularFile => {
                let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
                found.push(Ok(LogDirectoryFile { path: below, bytes }));
            }
            _ => found.push(Ok(LogDirectoryFile { path: below, bytes: 1 })),
        }
    }
    Ok(())
}

fn open(disk: &LogDisk, path: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let path = if path.is_empty() { "." } else { path };
    rustix::fs::openat(&disk.root, path, flags, Mode::empty())
}
