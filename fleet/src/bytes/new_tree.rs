//! Writes files, directories and links below one directory, by handle. Each object is new, and no
//! part of a path is followed if it is a link. The names must have been checked: relative, without
//! empty parts, `.` and `..`.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;

use super::error::ByteStoreError;
use super::files::{open_directory, open_directory_beneath};

const NEW_FILE: OFlags = OFlags::RDWR
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// The name of a temporary file until it is unlinked. Only folders of a submission need one, and no
/// name in a submission begins with a dot.
const TEMPORARY: &str = ".temporary";
/// The umask removes the access of others.
const DIRECTORY_MODE: u32 = 0o777;
const PROGRAM_MODE: u32 = 0o777;
const FILE_MODE: u32 = 0o666;

/// A directory that receives files.
pub(super) struct NewTree {
    top: Arc<OwnedFd>,
    path: PathBuf,
    /// The directory of the last object, which often contains the next one too.
    parent: Option<(String, Arc<OwnedFd>)>,
}

impl NewTree {
    /// Opens an existing directory.
    pub(super) fn open(path: &Path) -> Result<Self, ByteStoreError> {
        let top = Arc::new(open_directory(path)?);
        Ok(Self { top, path: path.to_owned(), parent: None })
    }

    /// Makes a file, and the missing directories above it. It is open to read and to write.
    pub(super) fn file(&mut self, name: &str, executable: bool) -> Result<File, ByteStoreError> {
        let mode = Mode::from_raw_mode(if executable { PROGRAM_MODE } else { FILE_MODE });
        let (directory, leaf) = self.parent_of(name)?;
        let made = openat(&directory, leaf, NEW_FILE, mode);
        made.map(File::from).map_err(self.failed(name, "create"))
    }

    /// Makes a file without a name.
    pub(super) fn temporary(&mut self) -> Result<File, ByteStoreError> {
        let file = self.file(TEMPORARY, false)?;
        unlinkat(&self.top, TEMPORARY, AtFlags::empty())
            .map_err(self.failed(TEMPORARY, "remove"))?;
        Ok(file)
    }

    /// Makes a directory, and the missing ones above it.
    pub(super) fn directory(&mut self, name: &str) -> Result<(), ByteStoreError> {
        let (directory, leaf) = self.parent_of(name)?;
        let made = mkdirat(&directory, leaf, Mode::from_raw_mode(DIRECTORY_MODE));
        made.map_err(self.failed(name, "create"))
    }

    /// Makes a link, and the missing directories above it. Nothing looks at its target.
    pub(super) fn link(&mut self, name: &str, target: &str) -> Result<(), ByteStoreError> {
        let (directory, leaf) = self.parent_of(name)?;
        symlinkat(target, &directory, leaf).map_err(self.failed(name, "create"))
    }

    /// Returns the error of a system call on an object of the tree.
    pub(super) fn failed<E: Into<io::Error>>(
        &self,
        name: &str,
        act: &'static str,
    ) -> impl FnOnce(E) -> ByteStoreError + use<E> {
        ByteStoreError::io(&self.path.join(name), act)
    }

    /// Returns the open directory of an object, and the last part of its name.
    fn parent_of<'n>(&mut self, name: &'n str) -> Result<(Arc<OwnedFd>, &'n str), ByteStoreError> {
        let Some((parent, leaf)) = name.rsplit_once('/') else {
            return Ok((Arc::clone(&self.top), name));
        };
        if let Some((known, directory)) = &self.parent
            && known == parent
        {
            return Ok((Arc::clone(directory), leaf));
        }
        let directory = match open_directory_beneath(&self.top, parent) {
            Err(Errno::NOENT) => self.make_directories(parent),
            opened => opened,
        };
        let directory = Arc::new(directory.map_err(self.failed(parent, "open"))?);
        self.parent = Some((parent.to_owned(), Arc::clone(&directory)));
        Ok((directory, leaf))
    }

    fn make_directories(&self, path: &str) -> rustix::io::Result<OwnedFd> {
        let mut directory = self.top.try_clone().map_err(|_| Errno::MFILE)?;
        for part in path.split('/') {
            match mkdirat(&directory, part, Mode::from_raw_mode(DIRECTORY_MODE)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            directory = open_directory_beneath(&directory, part)?;
        }
        Ok(directory)
    }
}
