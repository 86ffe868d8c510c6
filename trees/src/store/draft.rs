//! A build in progress: a directory of `drafts/` whose lock is held. A build that is killed leaves
//! only such a directory, whose lock is free; the next build or `toolexec env gc` removes it.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::mkdirat;
use rustix::io::Errno;

use super::directory::{CONTENT, DRAFTS, EnvironmentStore, TREE, make_directory};
use super::error::StoreError;
use super::handle::{names_of, open_directory, open_file};
use super::lock::{LOCK, StoreLock, open_lock};
use super::removal::remove_tree;

/// The finished parts of a draft: the directory that gets the name of the digest.
pub(super) const ENVIRONMENT: &str = "environment";

const PRIVATE: u32 = 0o700;
const PUBLIC: u32 = 0o755;

/// A build in progress. Dropping it removes it.
pub struct EnvironmentDraft {
    drafts: OwnedFd,
    name: CString,
    directory: OwnedFd,
    path: PathBuf,
    tree: PathBuf,
    /// The last field: the lock is released after the others are dropped.
    _lock: StoreLock,
}

impl EnvironmentDraft {
    /// Returns the path of the directory to fill, which is empty at first.
    #[must_use]
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns the path of the draft's directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn make_directories(&self) -> rustix::io::Result<()> {
        make_directory(&self.directory, ENVIRONMENT, PUBLIC)?;
        let environment = open_directory(&self.directory, ENVIRONMENT)?;
        make_directory(&environment, CONTENT, PUBLIC)?;
        make_directory(open_directory(&environment, CONTENT)?, TREE, PUBLIC)
    }
}

impl Drop for EnvironmentDraft {
    fn drop(&mut self) {
        // The next build removes anything that is left.
        remove_tree(self.drafts.as_fd(), &self.name).unwrap_or_default();
    }
}

impl EnvironmentStore {
    /// Begins a build, and removes drafts that killed builds left. `random` must not repeat.
    ///
    /// # Errors
    /// The draft cannot be made, or another process has the lock of the store for too long.
    pub fn draft(&self, random: u128) -> Result<EnvironmentDraft, StoreError> {
        let _lock = self.lock()?;
        let drafts = self.part(DRAFTS)?;
        // A leftover that cannot be removed does not prevent a build; `sweep` reports it.
        self.remove_free_drafts(&drafts).unwrap_or_default();
        let name = format!("{random:032x}");
        let path = self.path().join(DRAFTS).join(&name);
        let made = mkdirat(&drafts, &name, PRIVATE.into());
        made.map_err(StoreError::io(&path, "create"))?;
        let directory = open_directory(&drafts, &name).map_err(StoreError::io(&path, "open"))?;
        let lock = lock_new(&directory).map_err(StoreError::io(&path, "lock"))?;
        let name = CString::new(name).unwrap_or_default();
        let tree = path.join(ENVIRONMENT).join(CONTENT).join(TREE);
        let draft = EnvironmentDraft { drafts, name, directory, path, tree, _lock: lock };
        draft.make_directories().map_err(StoreError::io(&draft.path, "create"))?;
        Ok(draft)
    }

    /// Removes each draft whose lock is free or does not exist. The caller holds the lock of the
    /// store, so that no draft is between its creation and its lock. Returns their number and the
    /// bytes that they had. A draft that cannot be removed does not keep the others: its error is
    /// returned at the end.
    pub(super) fn remove_free_drafts(&self, drafts: &OwnedFd) -> Result<(u64, u64), StoreError> {
        let place = self.path().join(DRAFTS);
        let (mut count, mut bytes, mut failed) = (0_u64, 0_u64, None);
        for name in names_of(drafts).map_err(StoreError::io(&place, "list"))? {
            match remove_free(drafts, &place, &name) {
                Ok(Some(freed)) => {
                    (count, bytes) = (count.saturating_add(1), bytes.saturating_add(freed));
                }
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok((count, bytes)), Err)
    }
}

/// Removes a draft unless a build holds its lock. Returns the bytes that it had.
fn remove_free(drafts: &OwnedFd, place: &Path, name: &CStr) -> Result<Option<u64>, StoreError> {
    if is_locked(drafts, name).map_err(StoreError::entry(place, name, "lock"))? {
        return Ok(None);
    }
    let freed = remove_tree(drafts.as_fd(), name);
    freed.map(Some).map_err(StoreError::entry(place, name, "remove"))
}

fn lock_new(directory: &OwnedFd) -> rustix::io::Result<StoreLock> {
    // No other process looks at a new draft while this one holds the lock of the store.
    StoreLock::try_take(open_lock(directory, LOCK)?)?.ok_or(Errno::BUSY)
}

/// Returns whether a build holds the lock of a draft. An environment that is being removed has
/// no lock file.
fn is_locked(drafts: &OwnedFd, name: &CStr) -> rustix::io::Result<bool> {
    let lock = open_directory(drafts, name).and_then(|directory| open_file(directory, LOCK));
    match lock {
        Ok(lock) => Ok(StoreLock::try_take(lock.into())?.is_none()),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(false),
        // A draft of another user.
        Err(Errno::ACCESS) => Ok(true),
        Err(errno) => Err(errno),
    }
}
