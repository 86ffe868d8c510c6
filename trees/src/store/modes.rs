//! The modes and owners of an environment's files: no user may change a stored file through
//! another link of it, and no file keeps the set-user-ID or the set-group-ID bit. Only the store's
//! own process may write in the tree meanwhile; a link in it is never followed.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, Stat, chmodat, fchmod, fstat, renameat, statat};
use rustix::process::geteuid;

use super::error::StoreError;
use super::handle::{create_file, names_of, open_directory, open_file};

const FILE: u32 = 0o444;
const PROGRAM: u32 = 0o555;
const SEALED: u32 = 0o555;
const WRITABLE: u32 = 0o755;
const EXECUTE_BITS: u32 = 0o111;
const MODE_BITS: u32 = 0o7777;

/// The name of a new file before it replaces one of the tree.
pub(super) const SPARE: &str = "spare";

/// Returns the mode of a stored file.
pub(super) fn file_mode(executable: bool) -> u32 {
    if executable { PROGRAM } else { FILE }
}

/// Returns whether a file has exactly this mode.
pub(super) fn has_mode(stat: &Stat, mode: u32) -> bool {
    stat.st_mode & MODE_BITS == mode
}

/// Gives each file of a tree its mode and this user as its owner. Directories stay writable.
/// `spare` is an empty directory of the same file system. Below `depth` levels, the tree is left
/// alone: the digest refuses it.
pub(super) fn normalize_tree(
    directory: BorrowedFd<'_>,
    path: &Path,
    spare: BorrowedFd<'_>,
    depth: u32,
) -> Result<(), StoreError> {
    own_directory(directory).map_err(StoreError::io(path, "set the owner and the mode"))?;
    for name in names_of(directory).map_err(StoreError::io(path, "list"))? {
        let stat = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(StoreError::entry(path, &name, "stat"))?;
        match (FileType::from_raw_mode(stat.st_mode), depth.checked_sub(1)) {
            (FileType::RegularFile, _) => normalize_file(directory, &name, &stat, spare)
                .map_err(StoreError::entry(path, &name, "set the owner and the mode"))?,
            (FileType::Directory, Some(depth)) => {
                make_accessible(directory, &name, &stat).map_err(StoreError::entry(
                    path,
                    &name,
                    "set the mode",
                ))?;
                let below = open_directory(directory, &name)
                    .map_err(StoreError::entry(path, &name, "open"))?;
                normalize_tree(below.as_fd(), &child(path, &name), spare, depth)?;
            }
            // The digest refuses all other kinds but links.
            _ => {}
        }
    }
    Ok(())
}

fn own_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
    let (stat, uid) = (fstat(directory)?, geteuid().as_raw());
    if stat.st_uid != uid {
        fchown(directory, Some(uid), None)?;
    }
    if !has_mode(&stat, WRITABLE) {
        fchmod(directory, Mode::from_raw_mode(WRITABLE))?;
    }
    Ok(())
}

/// Sets the mode of a file, or replaces it by a copy. A program cache, such as that of uv, may have
/// another link to it, through which the file would change later.
fn normalize_file(
    directory: BorrowedFd<'_>,
    name: &CStr,
    stat: &Stat,
    spare: BorrowedFd<'_>,
) -> io::Result<()> {
    let mode = file_mode(stat.st_mode & EXECUTE_BITS != 0);
    if stat.st_nlink != 1 || stat.st_uid != geteuid().as_raw() {
        let mut copy = create_file(spare, SPARE, mode)?;
        io::copy(&mut open_file(directory, name)?, &mut copy)?;
        renameat(spare, SPARE, directory, name)?;
    } else if !has_mode(stat, mode) {
        // It cannot be opened if its owner may not read it. No other process writes here.
        chmodat(directory, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
    }
    Ok(())
}

/// Lets the owner list a directory and write in it. A tool may have made it without these bits.
pub(super) fn make_accessible(
    parent: BorrowedFd<'_>,
    name: &CStr,
    stat: &Stat,
) -> rustix::io::Result<()> {
    match Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU) {
        true => Ok(()),
        false => chmodat(parent, name, Mode::RWXU, AtFlags::empty()),
    }
}

/// Makes each directory of a tree read-only, the top last.
pub(super) fn seal_tree(directory: BorrowedFd<'_>, path: &Path) -> Result<(), StoreError> {
    for name in names_of(directory).map_err(StoreError::io(path, "list"))? {
        let stat = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(StoreError::entry(path, &name, "stat"))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let below =
                open_directory(directory, &name).map_err(StoreError::entry(path, &name, "open"))?;
            seal_tree(below.as_fd(), &child(path, &name))?;
        }
    }
    fchmod(directory, Mode::from_raw_mode(SEALED)).map_err(StoreError::io(path, "set the mode"))
}

fn child(path: &Path, name: &CStr) -> PathBuf {
    path.join(OsStr::from_bytes(name.to_bytes()))
}
