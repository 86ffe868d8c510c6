//! The log's directory: files appear whole under their names, with the requested durability. This
//! module must never write a file in place, retry after a failed sync, or follow a link.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::log::LogError;

/// The name under which every file is written first. Only the holder of the lock writes.
const DRAFT: &str = ".draft";

pub(crate) struct LogDisk {
    path: PathBuf,
    pub(super) root: OwnedFd,
}

/// The parts that are durable once a file has its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogDurability {
    /// The file, its name, and its parent directories.
    All,
    /// The parent directories. The file may be lost or have any bytes.
    Directories,
    /// Nothing.
    Nothing,
}

impl LogDisk {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(root) => Ok(Self { path: path.to_owned(), root }),
            Err(error) => {
                Err(LogError::Io { path: path.to_owned(), act: "open", source: error.into() })
            }
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn io(
        &self,
        name: &str,
        act: &'static str,
        source: impl Into<io::Error>,
    ) -> LogError {
        LogError::Io { path: self.path(name), act, source: source.into() }
    }

    /// Reads a file. Returns `None` if it does not exist.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, LogError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.root, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(self.io(name, "open", error)),
        };
        let stat =
            rustix::fs::fstat(&file).map_err(|error| self.io(name, "read the metadata", error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.damaged(name, "not a regular file"));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0).min(bytes_max);
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.io(name, "read", error))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bytes_max {
            return Err(self.damaged(name, "too large for a file of a log"));
        }
        Ok(Some(bytes))
    }

    pub(crate) fn damaged(&self, name: &str, what: &'static str) -> LogError {
        LogError::Damaged { path: self.path(name), what }
    }

    /// Creates or replaces a file. It is durable on return.
    pub(crate) fn write_synced(&self, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        self.write_through(DRAFT, name, bytes, LogDurability::All)
    }

    /// Creates or replaces a file without a sync: a crash may leave the older one, or any bytes.
    pub(crate) fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        self.write_through(DRAFT, name, bytes, LogDurability::Directories)
    }

    /// Creates or replaces a file; the caller must sync it and its parent directories.
    pub(crate) fn write_without_sync(&self, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        self.write_through(DRAFT, name, bytes, LogDurability::Nothing)
    }

    /// Writes a file, unsynced, unless it already has these bytes.
    pub(crate) fn write_if_changed(&self, name: &str, bytes: &[u8]) -> Result<(), LogError> {
        let bytes_max = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match self.read(name, bytes_max) {
            Ok(Some(there)) if there == bytes => Ok(()),
            // A larger file has other bytes.
            Ok(_) | Err(LogError::Damaged { .. }) => self.write_unsynced(name, bytes),
            Err(error) => Err(error),
        }
    }

    /// Creates or replaces a file through a draft of this name, which no other thread may use.
    pub(crate) fn write_through(
        &self,
        draft: &str,
        name: &str,
        bytes: &[u8],
        durable: LogDurability,
    ) -> Result<(), LogError> {
        self.write_draft(draft, bytes, durable)?;
        self.rename_draft(draft, name, durable)?;
        if durable == LogDurability::All { self.sync_directory(parent(name)) } else { Ok(()) }
    }

    fn write_draft(
        &self,
        draft: &str,
        bytes: &[u8],
        durable: LogDurability,
    ) -> Result<(), LogError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.root, draft, flags, Mode::from_raw_mode(0o644))
            .map_err(|error| self.io(draft, "create", error))?;
        let mut file = File::from(fd);
        file.write_all(bytes).map_err(|error| self.io(draft, "write", error))?;
        if durable == LogDurability::All {
            file.sync_data().map_err(|error| self.io(draft, "sync", error))?;
        }
        Ok(())
    }

    fn rename_draft(
        &self,
        draft: &str,
        name: &str,
        durable: LogDurability,
    ) -> Result<(), LogError> {
        let rename = || rustix::fs::renameat(&self.root, draft, &self.root, name);
        match rename() {
            Ok(()) => return Ok(()),
            Err(Errno::NOENT) => self.make_directories(parent(name), durable)?,
            Err(error) => return Err(self.io(name, "rename", error)),
        }
        rename().map_err(|error| self.io(name, "rename", error))
    }

    /// Renames a file, unsynced.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), LogError> {
        let renamed = rustix::fs::renameat(&self.root, from, &self.root, to);
        renamed.map_err(|error| self.io(to, "rename", error))
    }

    /// Removes a file, unsynced.
    pub(crate) fn remove(&self, name: &str) -> Result<(), LogError> {
        let removed = rustix::fs::unlinkat(&self.root, name, AtFlags::empty());
        removed.map_err(|error| self.io(name, "remove", error))
    }

    fn make_directories(&self, path: &str, durable: LogDurability) -> Result<(), LogError> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for directory in ends.filter_map(|end| path.get(..end)) {
            match rustix::fs::mkdirat(&self.root, directory, Mode::from_raw_mode(0o755)) {
                Ok(()) if durable == LogDurability::Nothing => {}
                Ok(()) => self.sync_directory(parent(directory))?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(self.io(directory, "create", error)),
            }
        }
        Ok(())
    }

    fn open_directory(&self, name: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = if name.is_empty() { "." } else { name };
        rustix::fs::openat(&self.root, name, flags, Mode::empty())
    }

    pub(crate) fn sync_directory(&self, name: &str) -> Result<(), LogError> {
        let synced = self.open_directory(name).and_then(rustix::fs::fsync);
        synced.map_err(|error| self.io(name, "sync", error))
    }

    /// Makes the whole file system of the directory durable.
    pub(crate) fn sync_all(&self) -> Result<(), LogError> {
        rustix::fs::syncfs(&self.root).map_err(|error| self.io("", "sync", error))
    }

    pub(crate) fn has_directory(&self, name: &str) -> Result<bool, LogError> {
        match self.open_directory(name) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(self.io(name, "open", error)),
        }
    }

    pub(crate) fn has_file(&self, name: &str) -> Result<bool, LogError> {
        match rustix::fs::statat(&self.root, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(self.io(name, "read the metadata", error)),
        }
    }

    /// Returns the UTF-8 names in a directory; none if it does not exist.
    pub(crate) fn names_in(&self, name: &str) -> Result<Vec<String>, LogError> {
        let listing = |error| self.io(name, "list", error);
        let directory = match self.open_directory(name) {
            Err(Errno::NOENT) => return Ok(Vec::new()),
            opened => opened.map_err(|error| self.io(name, "open", error))?,
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).map_err(listing)? {
            let entry = entry.map_err(listing)?;
            names.extend(entry.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    /// Removes a directory of partial tiles if it exists.
    pub(crate) fn remove_partials(&self, name: &str) -> Result<(), LogError> {
        let directory = match self.open_directory(name) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(self.io(name, "open", error)),
        };
        let entries = Dir::read_from(&directory).map_err(|error| self.io(name, "list", error))?;
        for entry in entries {
            let entry = entry.map_err(|error| self.io(name, "list", error))?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                rustix::fs::unlinkat(&directory, entry.file_name(), AtFlags::empty())
                    .map_err(|error| self.io(name, "empty", error))?;
            }
        }
        rustix::fs::unlinkat(&self.root, name, AtFlags::REMOVEDIR)
            .map_err(|error| self.io(name, "remove", error))
    }
}

fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}
