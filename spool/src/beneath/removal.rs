//! Removes trees of any depth and size that others may have written. It holds few descriptors and
//! does not recurse. It must never follow a link, enter another mount, or remove an object outside
//! the tree, even if a directory is moved meanwhile.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, fstat, open, openat, unlinkat};
use rustix::io::Errno;

use super::open_beneath;
use crate::atomic_file::parent_of;

/// The most directories of one tree that are open between two steps.
const OPEN_MAX: usize = 32;

/// Removes a tree, and logs a failure. The next start removes anything that is left.
pub(crate) fn remove_tree(path: &Path) {
    if let Err(error) = try_remove_tree(path) {
        tracing::warn!("{}: remove: {error}", path.display());
    }
}

/// Removes a tree, or an object that is not a directory. A missing one counts as removed.
pub(crate) fn try_remove_tree(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let name = CString::new(name.as_bytes())?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = match open(parent_of(path), flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        parent => parent?,
    };
    let mut levels = Vec::new();
    levels.extend(remove_or_open(parent.as_fd(), &name, FileType::Unknown)?);
    while let Some(deepest) = levels.last_mut() {
        let below = deepest.remove_to_directory()?;
        match below {
            Some(below) => enter(below, &mut levels),
            None => leave(parent.as_fd(), &mut levels)?,
        }
    }
    Ok(())
}

/// A directory whose content is being removed.
struct EmptiedDirectory {
    /// Its name in the directory above.
    name: CString,
    /// The device and the inode.
    identity: (u64, u64),
    /// The entries that are left; `None` while the walk is far below.
    listing: Option<Dir>,
}

impl EmptiedDirectory {
    /// Lets the owner write in a sealed directory. In another user's, the removals may fail.
    fn new(name: &CStr, opened: OwnedFd) -> io::Result<Self> {
        let stat = fstat(&opened)?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        if !mode.contains(Mode::RWXU) {
            match fchmod(&opened, mode | Mode::RWXU) {
                Ok(()) | Err(Errno::PERM) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        let identity = (stat.st_dev, stat.st_ino);
        Ok(Self { name: name.to_owned(), identity, listing: Some(Dir::new(opened)?) })
    }

    /// Removes entries up to the next directory, and opens that.
    fn remove_to_directory(&mut self) -> io::Result<Option<Self>> {
        let Some(listing) = &mut self.listing else { return Ok(None) };
        while let Some(entry) = listing.read() {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let below = remove_or_open(listing.fd()?, entry.file_name(), entry.file_type())?;
            if below.is_some() {
                return Ok(below);
            }
        }
        Ok(None)
    }

    /// Opens this directory again from one in it, unless that was moved elsewhere.
    fn reopen(&self, below: BorrowedFd<'_>) -> io::Result<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(below, c"..", flags, Mode::empty())?;
        let stat = fstat(&opened)?;
        match (stat.st_dev, stat.st_ino) == self.identity {
            true => Ok(Dir::new(opened)?),
            false => Err(io::Error::other(
                "another program moved a directory in it; help: end that program",
            )),
        }
    }
}

/// Removes an entry that is not a directory, or opens the directory.
fn remove_or_open(
    at: BorrowedFd<'_>,
    name: &CStr,
    kind: FileType,
) -> io::Result<Option<EmptiedDirectory>> {
    if kind != FileType::Directory {
        match unlinkat(at, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(None),
            Err(Errno::ISDIR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    match open_beneath(at, name, OFlags::RDONLY | OFlags::DIRECTORY) {
        Ok(opened) => EmptiedDirectory::new(name, opened).map(Some),
        Err(Errno::NOENT) => Ok(None),
        // A file or a link has replaced it.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            unless_missing(unlinkat(at, name, AtFlags::empty()))?;
            Ok(None)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Goes into a directory, and closes one far above.
fn enter(below: EmptiedDirectory, levels: &mut Vec<EmptiedDirectory>) {
    levels.push(below);
    let far = levels.len().checked_sub(OPEN_MAX + 1);
    if let Some(far) = far.and_then(|at| levels.get_mut(at)) {
        far.listing = None;
    }
}

/// Removes the deepest directory, which is empty now. `top_parent` contains the tree.
fn leave(top_parent: BorrowedFd<'_>, levels: &mut Vec<EmptiedDirectory>) -> io::Result<()> {
    let Some(emptied) = levels.pop() else { return Ok(()) };
    let Some(above) = levels.last_mut() else {
        return Ok(unless_missing(unlinkat(top_parent, &emptied.name, AtFlags::REMOVEDIR))?);
    };
    if above.listing.is_none()
        && let Some(below) = &emptied.listing
    {
        above.listing = Some(above.reopen(below.fd()?)?);
    }
    let Some(listing) = &above.listing else { return Ok(()) };
    Ok(unless_missing(unlinkat(listing.fd()?, &emptied.name, AtFlags::REMOVEDIR))?)
}

fn unless_missing(done: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests;
