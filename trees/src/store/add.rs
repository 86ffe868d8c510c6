//! Adds a filled draft to the store. The environment gets its name by one rename after everything
//! is on the disk, so that none is ever half stored. The name of the build is written last.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use model::Sha256;
use rustix::fs::{RenameFlags, fsync, renameat, renameat_with, syncfs};
use rustix::io::Errno;

use super::build_file::{BuildFacts, StatedBuild, TooManyNames};
use super::directory::{BUILD_JSON, EnvironmentStore, NAMES, PUBLIC_FILE, directory_name};
use super::draft::{ENVIRONMENT, EnvironmentDraft};
use super::environment::{Environment, StoredDirectory};
use super::error::StoreError;
use super::handle::write_new;
use super::new_environment::finish_draft;
use crate::content::EnvironmentContent;
use crate::limits::TreeLimits;
use crate::name::{DIGEST_PREFIX, EnvironmentReference};

/// The name of a file of the draft before it gets its own.
const NEW: &str = "new";

impl EnvironmentStore {
    /// Stores the environment of a draft, and gives it the name of the build. Sets the modes of its
    /// files, and removes the draft. If the store has an environment with this digest, that one
    /// stays, unless its files changed.
    ///
    /// # Errors
    /// The content is invalid, the tree is refused or beyond a limit, a file cannot be written, or
    /// another process has the lock of the store for too long. Then nothing is stored, or, after a
    /// failure at the very end, the whole environment without its name.
    pub fn add(
        &self,
        draft: EnvironmentDraft,
        content: &EnvironmentContent,
        facts: &BuildFacts,
        limits: &TreeLimits,
    ) -> Result<Environment, StoreError> {
        let stated = StatedBuild { facts, imported: false };
        let sha256 = finish_draft(self, &draft, content, stated, limits)?;
        self.store(draft, sha256, stated)
    }

    /// Adds a copy of an environment of another store, which must have this digest. The store
    /// remembers that it did not build the environment from the source that `facts` state.
    ///
    /// # Errors
    /// As those of [`Self::add`]. With another digest, nothing is stored, and no name changes.
    pub fn add_copy(
        &self,
        draft: EnvironmentDraft,
        sha256: Sha256,
        content: &EnvironmentContent,
        facts: &BuildFacts,
        limits: &TreeLimits,
    ) -> Result<Environment, StoreError> {
        let stated = StatedBuild { facts, imported: true };
        if finish_draft(self, &draft, content, stated, limits)? != sha256 {
            let reference = EnvironmentReference { name: facts.name.clone(), sha256 };
            return Err(StoreError::Changed { environment: reference.to_string() });
        }
        self.store(draft, sha256, stated)
    }

    fn store(
        &self,
        draft: EnvironmentDraft,
        sha256: Sha256,
        stated: StatedBuild<'_>,
    ) -> Result<Environment, StoreError> {
        syncfs(self.handle()).map_err(StoreError::unsynced(self.path()))?;
        let environment = self.place(&draft, sha256, stated)?;
        drop(draft);
        // If the store had this environment, the draft had other links to its files. They are gone
        // now, which changed its stamp.
        self.open_content(sha256)?;
        self.renew_stamps(sha256);
        Ok(environment)
    }

    /// Gives the environment of a draft its place, and the name its digest.
    fn place(
        &self,
        draft: &EnvironmentDraft,
        sha256: Sha256,
        stated: StatedBuild<'_>,
    ) -> Result<Environment, StoreError> {
        let _lock = self.lock()?;
        let directory = directory_name(&sha256);
        let rename =
            |flags| renameat_with(draft.handle(), ENVIRONMENT, self.handle(), &directory, flags);
        let placed = match rename(RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => match self.keep(draft, sha256, stated) {
                // The draft gets the stored one in exchange, and removes it.
                Err(error) if error.is_damage() => rename(RenameFlags::EXCHANGE),
                Err(error) => return Err(error),
                Ok(()) => Ok(()),
            },
            placed => placed,
        };
        let path = self.path().join(&directory);
        placed.map_err(StoreError::io(&path, "rename"))?;
        fsync(self.handle()).map_err(StoreError::unsynced(self.path()))?;
        self.write_name(draft, sha256, stated.facts)?;
        let environment = StoredDirectory::open(self, sha256)?.load()?;
        Ok(Environment { name: stated.facts.name.clone(), ..environment })
    }

    /// Checks the stored environment of this digest, and adds the name and the source to its build.
    fn keep(
        &self,
        draft: &EnvironmentDraft,
        sha256: Sha256,
        stated: StatedBuild<'_>,
    ) -> Result<(), StoreError> {
        self.open_content(sha256)?;
        let stored = StoredDirectory::open(self, sha256)?;
        let mut build = stored.read_build()?;
        let is_new = build.add(stated).map_err(|_: TooManyNames| StoreError::TooManyNames {
            path: stored.path.join(BUILD_JSON),
        })?;
        if !is_new {
            return Ok(());
        }
        let text = build.render();
        let directory = stored.directory.as_fd();
        replace(draft, directory, &stored.path, BUILD_JSON, &text)
    }

    fn write_name(
        &self,
        draft: &EnvironmentDraft,
        sha256: Sha256,
        facts: &BuildFacts,
    ) -> Result<(), StoreError> {
        let (names, path) = (self.part(NAMES)?, self.path().join(NAMES));
        let text = format!("{DIGEST_PREFIX}{sha256}\n");
        replace(draft, names.as_fd(), &path, facts.name.as_str(), &text)
    }
}

/// Replaces a file, or makes it. Readers see either file whole, also after a crash.
fn replace(
    draft: &EnvironmentDraft,
    directory: BorrowedFd<'_>,
    path: &Path,
    name: &str,
    text: &str,
) -> Result<(), StoreError> {
    let file_path = path.join(name);
    let file = write_new(draft.handle(), NEW, text.as_bytes(), PUBLIC_FILE)
        .map_err(StoreError::io(&file_path, "write"))?;
    file.sync_all().map_err(StoreError::unsynced(&file_path))?;
    renameat(draft.handle(), NEW, directory, name).map_err(StoreError::io(&file_path, "rename"))?;
    fsync(directory).map_err(StoreError::unsynced(path))
}
