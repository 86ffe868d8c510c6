//! Removes environments, and files that no environment needs. An environment leaves its place by
//! one rename before its files are removed, so that none is ever half there.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};

use model::Sha256;
use rustix::fs::{AtFlags, FileType, RenameFlags, fsync, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::directory::{DRAFTS, EnvironmentStore, FILES, NAMES, directory_name};
use super::environment::missing;
use super::error::StoreError;
use super::handle::{names_of, open_directory};
use super::removal::{remove_tree, size_of};

/// The drafts and files that were removed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SweptFiles {
    /// Drafts of builds that were killed.
    pub drafts: u64,
    /// Shared files that no environment had.
    pub files: u64,
    /// The bytes of all of them.
    pub bytes: u64,
}

impl EnvironmentStore {
    /// Removes an environment and the names that mean it. Returns the bytes that became free. A run
    /// that has it open loses its files.
    ///
    /// # Errors
    /// The environment does not exist or cannot be removed, or another process has the lock of the
    /// store for too long.
    pub fn remove(&self, sha256: Sha256) -> Result<u64, StoreError> {
        let freed = self.remove_locked(sha256)?;
        self.renew_stamps(sha256);
        Ok(freed)
    }

    fn remove_locked(&self, sha256: Sha256) -> Result<u64, StoreError> {
        let _lock = self.lock()?;
        let (drafts, directory) = (self.part(DRAFTS)?, directory_name(&sha256));
        let path = self.path().join(&directory);
        let name = CString::new(directory).unwrap_or_default();
        // A removal that was killed may have left it.
        let left = remove_tree(drafts.as_fd(), &name);
        let left = left.map_err(StoreError::io(&self.path().join(DRAFTS), "remove"))?;
        self.remove_names(sha256)?;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(self.handle(), &name, &drafts, &name, flags) {
            Err(Errno::NOENT) => return Err(missing(&sha256)),
            renamed => renamed.map_err(StoreError::io(&path, "rename"))?,
        }
        fsync(self.handle()).map_err(StoreError::unsynced(self.path()))?;
        let removed = remove_tree(drafts.as_fd(), &name);
        let own = removed.map_err(StoreError::io(&path, "remove"))?;
        let (_, shared) = self.remove_unused_files()?;
        Ok(left.saturating_add(own).saturating_add(shared))
    }

    /// Removes the drafts of killed builds, and shared files that no environment has.
    ///
    /// # Errors
    /// One of them cannot be removed, or another process has the lock of the store for too long.
    /// All drafts that can be removed are removed first.
    pub fn sweep(&self) -> Result<SweptFiles, StoreError> {
        let _lock = self.lock()?;
        // A draft that cannot be removed does not keep the unused files.
        let removed = self.remove_free_drafts(&self.part(DRAFTS)?);
        let (files, file_bytes) = self.remove_unused_files()?;
        let (drafts, draft_bytes) = removed?;
        Ok(SweptFiles { drafts, files, bytes: draft_bytes.saturating_add(file_bytes) })
    }

    fn remove_names(&self, sha256: Sha256) -> Result<(), StoreError> {
        let (names, place) = (self.part(NAMES)?, self.path().join(NAMES));
        for name in self.names()? {
            if self.newest(&name)? == Some(sha256) {
                unlinkat(&names, name.as_str(), AtFlags::empty())
                    .map_err(StoreError::io(&place.join(name.as_str()), "remove"))?;
            }
        }
        Ok(())
    }

    /// Removes shared files with one link. A build may link one meanwhile: it keeps its link, or
    /// adds the file again. Returns their number and their bytes.
    fn remove_unused_files(&self) -> Result<(u64, u64), StoreError> {
        let (files, place) = (self.part(FILES)?, self.path().join(FILES));
        let (mut count, mut bytes) = (0_u64, 0_u64);
        for bucket in names_of(&files).map_err(StoreError::io(&place, "list"))? {
            let swept = open_directory(&files, &bucket).and_then(|bucket| remove_single(&bucket));
            let swept = swept.map_err(StoreError::entry(&place, &bucket, "remove unused files"))?;
            (count, bytes) = (count.saturating_add(swept.0), bytes.saturating_add(swept.1));
        }
        Ok((count, bytes))
    }
}

/// Removes the files of a directory that have one link.
fn remove_single(directory: &OwnedFd) -> rustix::io::Result<(u64, u64)> {
    let (mut count, mut bytes) = (0_u64, 0_u64);
    for name in names_of(directory)? {
        let stat = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1 {
            unlinkat(directory, &name, AtFlags::empty())?;
            (count, bytes) = (count.saturating_add(1), bytes.saturating_add(size_of(&stat)));
        }
    }
    Ok((count, bytes))
}
