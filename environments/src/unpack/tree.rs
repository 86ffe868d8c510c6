//! The tree that the layers unpack into, by handle. Paths are resolved beneath its top, without
//! links, so nothing that an archive makes can lead an entry out of it.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, mkdirat, open, openat2, statat, unlinkat,
};
use rustix::io::Errno;

use super::entry_path::EntryPath;
use super::made_paths::MadePaths;
use super::meter::UnpackMeter;
use super::removal::remove_except;
use crate::error::UnpackError;
use crate::fault::EntryFault;

/// The mode of directories; the store sets the final one.
const DIRECTORY_MODE: u32 = 0o755;

/// The directory that the layers unpack into.
pub(crate) struct UnpackedTree<'a> {
    top: OwnedFd,
    meter: &'a UnpackMeter,
    /// The directory of the last entry: most entries are beside the one before.
    parent: Option<(String, Rc<OwnedFd>)>,
}

impl<'a> UnpackedTree<'a> {
    /// Opens an existing directory.
    pub(crate) fn open(into: &Path, meter: &'a UnpackMeter) -> Result<Self, UnpackError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(into, flags, Mode::empty());
        let top = opened.map_err(UnpackError::errno(into.display(), "open"))?;
        Ok(Self { top, meter, parent: None })
    }

    /// Opens the directory of this entry, and makes the missing parts of it.
    pub(super) fn parent_of(&mut self, path: &EntryPath) -> Result<Rc<OwnedFd>, UnpackError> {
        if let Some((open, handle)) = &self.parent
            && open == path.parent()
        {
            return Ok(Rc::clone(handle));
        }
        let handle = Rc::new(match self.resolve(path.parent(), OFlags::PATH) {
            Err(Errno::NOENT) => self.make_parent(path)?,
            opened => opened.map_err(|errno| unresolved(path, errno))?,
        });
        self.parent = Some((path.parent().to_owned(), Rc::clone(&handle)));
        Ok(handle)
    }

    /// Opens the directory of this entry for reading, unless a part of it does not exist.
    pub(super) fn existing_parent_of(
        &self,
        path: &EntryPath,
    ) -> Result<Option<OwnedFd>, UnpackError> {
        match self.resolve(path.parent(), OFlags::RDONLY) {
            Err(Errno::NOENT) => Ok(None),
            opened => opened.map(Some).map_err(|errno| unresolved(path, errno)),
        }
    }

    /// Opens a directory beneath the top, without links.
    pub(super) fn resolve(&self, path: &str, access: OFlags) -> rustix::io::Result<OwnedFd> {
        let within = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        // Without NOFOLLOW: with it, a link as the last part is only reported as no directory.
        let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = if path.is_empty() { "." } else { path };
        openat2(&self.top, path, flags, Mode::empty(), within)
    }

    /// Removes the entry at the path, of this layer or an earlier one.
    pub(super) fn clear(&mut self, parent: &OwnedFd, path: &EntryPath) -> Result<(), UnpackError> {
        match kind_at(parent, path)? {
            None => Ok(()),
            Some(FileType::Directory) => {
                self.forget();
                remove_except(parent, path.last(), path.as_str(), &MadePaths::default())
            }
            Some(_) => unlinkat(parent, path.last(), AtFlags::empty()),
        }
        .map_err(UnpackError::errno(path.shown(), "replace"))
    }

    /// Drops the open directory, which may be removed.
    pub(super) fn forget(&mut self) {
        self.parent = None;
    }

    fn make_parent(&self, path: &EntryPath) -> Result<OwnedFd, UnpackError> {
        let mut made = String::new();
        for part in path.parent().split('/') {
            if !made.is_empty() {
                made.push('/');
            }
            made.push_str(part);
            let above = EntryPath::parse(made.as_bytes(), self.meter.limits())?;
            let parent = self.resolve(above.parent(), OFlags::PATH);
            let parent = parent.map_err(|errno| unresolved(path, errno))?;
            self.make_directory(&parent, &above)?;
        }
        self.resolve(path.parent(), OFlags::PATH).map_err(|errno| unresolved(path, errno))
    }

    /// Makes a directory unless something exists there.
    fn make_directory(&self, parent: &OwnedFd, path: &EntryPath) -> Result<(), UnpackError> {
        match mkdirat(parent, path.last(), Mode::from_raw_mode(DIRECTORY_MODE)) {
            Ok(()) => self.meter.count_entry(),
            Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(UnpackError::errno(path.shown(), "create")(errno)),
        }
    }

    /// Makes the directory of an entry, in place of anything else.
    pub(super) fn place_directory(&mut self, path: &EntryPath) -> Result<(), UnpackError> {
        let parent = self.parent_of(path)?;
        match kind_at(&parent, path)? {
            Some(FileType::Directory) => Ok(()),
            None => self.make_directory(&parent, path),
            Some(_) => {
                self.clear(&parent, path)?;
                self.make_directory(&parent, path)
            }
        }
    }
}

/// Returns the state of an entry, without following a link.
pub(super) fn stat_at(parent: &OwnedFd, path: &EntryPath) -> Result<Option<Stat>, UnpackError> {
    match statat(parent, path.last(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(UnpackError::errno(path.shown(), "stat")(errno)),
    }
}

fn kind_at(parent: &OwnedFd, path: &EntryPath) -> Result<Option<FileType>, UnpackError> {
    Ok(stat_at(parent, path)?.map(|found| FileType::from_raw_mode(found.st_mode)))
}

fn unresolved(path: &EntryPath, errno: Errno) -> UnpackError {
    match errno {
        Errno::LOOP => path.refused(EntryFault::ThroughLink),
        Errno::NOTDIR => path.refused(EntryFault::ThroughFile),
        errno => UnpackError::errno(path.shown(), "open the directory of")(errno),
    }
}
