//! Opens and verifies stored environments. An environment whose stamp differs is digested; its
//! content must never be used before one of the two checks.
//!
//! The stamp finds changes by accident and by other users. It is not a proof against the owner of
//! the store, who can also replace the stamp: `verify` computes the digest. An index spares the
//! listings of most directories; a wrong one gives another stamp, and is replaced. A tree for which
//! none can be made is listed each time.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use model::Sha256;
use rustix::fs::{AtFlags, fstat, renameat, unlinkat};

use super::directory::{EnvironmentStore, INDEX, PUBLIC_FILE, STAMP, TREE};
use super::environment::{StoredDirectory, read_content};
use super::error::StoreError;
use super::handle::{create_file, open_directory, read_small, write_new};
use crate::content::EnvironmentContent;
use crate::digest::{TreeFile, TreeSummary, digest_content};
use crate::error::TreeError;
use crate::index::{INDEX_BYTES_MAX, NO_INDEX, index_tree};
use crate::indexed_stamp::stamp_indexed;
use crate::limits::TreeLimits;
use crate::links::LinkRule;
use crate::stamp::stamp_tree;

/// The limits of stored trees, far above those of a build.
pub(super) const STORED_LIMITS: TreeLimits =
    TreeLimits { entries_max: 8_000_000, bytes_max: 1 << 40, depth_max: u32::MAX };

/// Attempts to digest files while other environments are built.
const ATTEMPTS_MAX: u32 = 4;
const STAMP_BYTES_MAX: usize = 128;
/// The stamp before it replaces the old one.
const STAMP_NEW: &str = "stamp.new";
/// The index before it replaces the old one.
const INDEX_NEW: &str = "index.new";

/// An environment whose files have its digest.
#[derive(Debug)]
pub struct OpenEnvironment {
    /// The digest.
    pub sha256: Sha256,
    /// The facts that matter to a run.
    pub content: EnvironmentContent,
    /// The open directory of the tree.
    pub tree: OwnedFd,
    /// The path of the tree.
    pub path: PathBuf,
    /// The device and the inode of the tree.
    pub identity: (u64, u64),
}

impl EnvironmentStore {
    /// Opens an environment for a run. If the stamp of its files is the stored one, none of them
    /// is read. Otherwise they are digested, and the new stamp is stored if the user may write it.
    ///
    /// # Errors
    /// The environment does not exist or cannot be read, or its files changed.
    pub fn open_content(&self, sha256: Sha256) -> Result<OpenEnvironment, StoreError> {
        let stored = StoredDirectory::open(self, sha256)?;
        let (content, path) = (stored.content()?, stored.content_path());
        if !stored.is_unchanged(&content)? {
            stored.verify(&content, &STORED_LIMITS)?;
        }
        let facts = read_content(&content, &path)?;
        let path = path.join(TREE);
        let (tree, identity) = open_tree(&content, &path)?;
        Ok(OpenEnvironment { sha256, content: facts, tree, path, identity })
    }

    /// Reads the facts of an environment, and returns them with the path of its tree and the device
    /// and the inode of it. No file is compared with its digest: [`Self::open_content`] must do so
    /// before the tree is used.
    ///
    /// # Errors
    /// The environment does not exist, or its facts cannot be read.
    pub fn read_content(
        &self,
        sha256: Sha256,
    ) -> Result<(EnvironmentContent, PathBuf, (u64, u64)), StoreError> {
        let stored = StoredDirectory::open(self, sha256)?;
        let (content, path) = (stored.content()?, stored.content_path());
        let facts = read_content(&content, &path)?;
        let path = path.join(TREE);
        let (_, identity) = open_tree(&content, &path)?;
        Ok((facts, path, identity))
    }

    /// Digests the files of an environment. Returns its digest and the totals of its tree.
    ///
    /// # Errors
    /// The environment does not exist, cannot be read or is beyond a limit, or its files changed.
    pub fn verify(&self, sha256: Sha256, limits: &TreeLimits) -> Result<TreeSummary, StoreError> {
        let stored = StoredDirectory::open(self, sha256)?;
        let summary = stored.verify(&stored.content()?, limits)?;
        let content = stored.load()?.content;
        Ok(tree_totals(&summary, &content.render()))
    }
}

impl StoredDirectory {
    /// Returns whether the files have the stored stamp. An index that did not say so is replaced.
    fn is_unchanged(&self, content: &OwnedFd) -> Result<bool, StoreError> {
        let index = self.read_index();
        if indexed_stamp(content, &index).is_some_and(|stamp| self.has_stamp(&stamp)) {
            return Ok(true);
        }
        let is_unchanged = self.has_stamp(&self.stamp(content)?);
        if is_unchanged && index != NO_INDEX {
            // Without an index, the directories are listed again next time.
            self.write_index(content).unwrap_or_default();
        }
        Ok(is_unchanged)
    }

    /// Returns the stored index. One that cannot be read is empty, which fits no environment.
    fn read_index(&self) -> Vec<u8> {
        read_small(&self.directory, INDEX, INDEX_BYTES_MAX).unwrap_or_default()
    }

    fn stamp(&self, content: &OwnedFd) -> Result<Sha256, StoreError> {
        stamp_tree(content.as_fd(), &STORED_LIMITS).map_err(StoreError::tree(&self.content_path()))
    }

    /// Returns whether the stored stamp is this one. A stamp that cannot be read is another one.
    fn has_stamp(&self, stamp: &Sha256) -> bool {
        let stored = read_small(&self.directory, STAMP, STAMP_BYTES_MAX);
        stored.is_ok_and(|text| text == format!("{stamp}\n").into_bytes())
    }

    fn verify(&self, content: &OwnedFd, limits: &TreeLimits) -> Result<TreeSummary, StoreError> {
        // The stamp first: a change while the files are read makes the next stamp differ.
        let stamp = self.stamp(content)?;
        // The digest covers the targets of the links, whose rule `add` checked.
        let summary = digest_shared(content.as_fd(), LinkRule::Root, limits, &mut |_| ());
        let summary = summary.map_err(StoreError::tree(&self.content_path()))?;
        if summary.sha256 != self.sha256 {
            return Err(StoreError::Changed { environment: self.label() });
        }
        if !self.has_stamp(&stamp) {
            // Without a new stamp, the files are digested again next time.
            self.write_stamp(&stamp).unwrap_or_default();
        }
        if indexed_stamp(content, &self.read_index()) != Some(stamp) {
            self.write_index(content).unwrap_or_default();
        }
        Ok(summary)
    }

    /// Two processes may write it at once. Any mixture of their texts is another stamp than that
    /// of the files, or theirs.
    fn write_stamp(&self, stamp: &Sha256) -> io::Result<()> {
        let directory = &self.directory;
        // A process that was killed may have left it.
        unlinkat(directory, STAMP_NEW, AtFlags::empty()).unwrap_or_default();
        write_new(directory, STAMP_NEW, format!("{stamp}\n").as_bytes(), PUBLIC_FILE)?;
        Ok(renameat(directory, STAMP_NEW, directory, STAMP)?)
    }

    /// Two processes may write it at once, as the stamp. A user who may not write it learns so
    /// before the tree is read.
    fn write_index(&self, content: &OwnedFd) -> io::Result<()> {
        let directory = &self.directory;
        unlinkat(directory, INDEX_NEW, AtFlags::empty()).unwrap_or_default();
        let mut file = create_file(directory, INDEX_NEW, PUBLIC_FILE)?;
        let index = index_tree(content.as_fd(), &STORED_LIMITS, INDEX_BYTES_MAX);
        file.write_all(index.as_deref().unwrap_or(NO_INDEX))?;
        Ok(renameat(directory, INDEX_NEW, directory, INDEX)?)
    }
}

/// Returns the stamp of the files with the names of an index, if the index fits.
fn indexed_stamp(content: &OwnedFd, index: &[u8]) -> Option<Sha256> {
    stamp_indexed(content.as_fd(), index, &STORED_LIMITS)
}

/// Opens `tree/` of `content/`, and returns it with its device and its inode.
fn open_tree(content: &OwnedFd, path: &Path) -> Result<(OwnedFd, (u64, u64)), StoreError> {
    let tree = open_directory(content, TREE).map_err(StoreError::io(path, "open"))?;
    let stat = fstat(&tree).map_err(StoreError::io(path, "stat"))?;
    Ok((tree, (stat.st_dev, stat.st_ino)))
}

/// Computes the digest of `content/` whose files other environments may share. A build that links
/// a file while it is read changes its ctime, as a write does, so the digest is begun again.
pub(super) fn digest_shared(
    content: BorrowedFd<'_>,
    rule: LinkRule,
    limits: &TreeLimits,
    on_file: &mut dyn FnMut(&TreeFile<'_>),
) -> Result<TreeSummary, TreeError> {
    for _ in 1..ATTEMPTS_MAX {
        match digest_content(content, rule, limits, on_file) {
            Err(TreeError::Changed { .. }) => {}
            digested => return digested,
        }
    }
    digest_content(content, rule, limits, on_file)
}

/// Returns the totals of `tree/` from those of `content/`, with the digest of `content/`. The text
/// is that of `environment.json`.
pub(super) fn tree_totals(content: &TreeSummary, text: &str) -> TreeSummary {
    TreeSummary {
        files: content.files.saturating_sub(1),
        directories: content.directories.saturating_sub(1),
        bytes: content.bytes.saturating_sub(bytes_of(text)),
        ..*content
    }
}

pub(super) fn bytes_of(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
