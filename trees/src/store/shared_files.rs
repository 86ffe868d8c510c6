//! The files that environments share, one for each digest and execute bit: hard links in `files/`.
//! A file that cannot be linked stays the environment's own. A damaged shared file must never
//! become part of a new environment: the digest is computed after the files are linked.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use model::Sha256;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, linkat, openat2, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::directory::{FILES, make_directory};
use super::error::StoreError;
use super::modes::{SPARE, file_mode, has_mode};
use super::removal::size_of;
use crate::digest::TreeFile;

/// Attempts to link one file while other processes add and remove shared files.
const ATTEMPTS_MAX: u32 = 4;
const PRIVATE: u32 = 0o700;

/// The digest, the execute bit and the size of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FileFacts {
    sha256: Sha256,
    executable: bool,
    bytes: u64,
}

/// The files of a tree by their path.
pub(super) type FilesByPath = BTreeMap<String, FileFacts>;

impl FileFacts {
    pub(super) fn of(file: &TreeFile<'_>) -> Self {
        Self { sha256: file.sha256, executable: file.executable, bytes: file.bytes }
    }

    /// Returns the directory of the shared file below `files/`, and its path there.
    fn shared_path(&self) -> (String, String) {
        let hex = self.sha256.to_string();
        let bucket: String = hex.chars().take(2).collect();
        let path = format!("{bucket}/{hex}-{}", if self.executable { "x" } else { "f" });
        (bucket, path)
    }

    fn fits(&self, stat: &Stat) -> bool {
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && size_of(stat) == self.bytes
            && has_mode(stat, file_mode(self.executable))
    }
}

/// The directory `files/` of a store, and an empty directory of the same file system.
pub(super) struct SharedFiles<'a> {
    pub(super) directory: OwnedFd,
    pub(super) spare: BorrowedFd<'a>,
}

impl SharedFiles<'_> {
    /// Replaces the files of a tree by links to shared files, and adds those that the store does
    /// not have. Their modes must be set already. Links change the ctime of a file, so the stamps
    /// of the environments that share it are out of date. The store renews them afterwards; without
    /// that, each of these environments is digested once when it is next opened.
    pub(super) fn share(
        &self,
        top: BorrowedFd<'_>,
        path: &Path,
        files: &FilesByPath,
    ) -> Result<(), StoreError> {
        let mut open: Option<(&str, OwnedFd)> = None;
        for (file, facts) in files {
            // An empty file has no bytes to share, and would have more links than allowed.
            if facts.bytes == 0 {
                continue;
            }
            let failed = |errno: Errno| StoreError::io(&path.join(file), "link")(errno);
            let (parent, name) = file.rsplit_once('/').unwrap_or((".", file.as_str()));
            let directory = match open.take() {
                Some((opened, directory)) if opened == parent => directory,
                _ => open_beneath(top, parent).map_err(failed)?,
            };
            self.share_file(directory.as_fd(), name, facts).map_err(failed)?;
            open = Some((parent, directory));
        }
        Ok(())
    }

    fn share_file(
        &self,
        directory: BorrowedFd<'_>,
        name: &str,
        facts: &FileFacts,
    ) -> rustix::io::Result<()> {
        let (bucket, shared) = facts.shared_path();
        for _ in 0..ATTEMPTS_MAX {
            let linked = match statat(&self.directory, &shared, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if facts.fits(&stat) => self.replace(directory, name, &shared),
                Ok(_) => self.remove(&shared).and_then(|()| self.add(directory, name, &shared)),
                Err(Errno::NOENT) => make_directory(&self.directory, &bucket, PRIVATE)
                    .and_then(|()| self.add(directory, name, &shared)),
                Err(errno) => Err(errno),
            };
            match linked {
                // Another process added or removed the shared file.
                Err(Errno::EXIST | Errno::NOENT) => {}
                // The limit of links, or a file system without them.
                Err(Errno::MLINK | Errno::XDEV | Errno::PERM) => return Ok(()),
                linked => return linked,
            }
        }
        Ok(())
    }

    /// Adds a file of the tree to the shared ones.
    fn add(&self, from: BorrowedFd<'_>, name: &str, shared: &str) -> rustix::io::Result<()> {
        linkat(from, name, &self.directory, shared, AtFlags::empty())
    }

    /// Replaces a file of the tree, which has only this link, by a link to the shared one.
    fn replace(&self, at: BorrowedFd<'_>, name: &str, shared: &str) -> rustix::io::Result<()> {
        linkat(&self.directory, shared, self.spare, SPARE, AtFlags::empty())?;
        renameat(self.spare, SPARE, at, name)
    }

    fn remove(&self, shared: &str) -> rustix::io::Result<()> {
        unlinkat(&self.directory, shared, AtFlags::empty())
    }

    /// Removes a damaged shared file, so that the next build adds a good one. Returns the error.
    pub(super) fn remove_damaged(&self, store: &Path, facts: &FileFacts) -> StoreError {
        let (_, shared) = facts.shared_path();
        let path: PathBuf = store.join(FILES).join(&shared);
        match self.remove(&shared) {
            Ok(()) => StoreError::DamagedFile { path },
            Err(errno) => StoreError::io(&path, "remove a damaged file")(errno),
        }
    }
}

/// Opens a directory of a tree, of which no part may be a link.
fn open_beneath(top: BorrowedFd<'_>, path: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(top, path, flags, Mode::empty(), resolve)
}
