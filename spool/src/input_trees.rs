//! Folders of earlier runs, one tree for each digest, so that the same folder is not copied twice.
//! A run moves a tree into its slot, and back here when the slot is cleared, so that no two runs
//! share one. Its digest was computed while it was copied. Its stamp shows that nothing changed
//! since then, and its boot that no power failure tore it: nothing here is made durable.
//!
//! A tree must never go to a run whose submitted folder does not have its digest: records state
//! digests, and a digest alone must not show a user's files. Only the owner of the state directory
//! can reach this directory (0700). It is a cache: a run never fails because of it.
//!
//! ```text
//! <digest>/tree, facts     a tree that a run may take
//! .new-<claim>/            a tree that a run moves here
//! .taken-<claim>/          a tree that a run takes
//! .gone-<name>-<pid>/      a tree that a process removes
//! ```
//!
//! Only the process that gave a tree its hidden name may touch it, so that a tree is never removed
//! while a run takes it. After `hidden_max`, that process counts as killed, and another one may
//! remove the tree.

mod facts;
mod removal;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{ClaimId, Sha256};
use rustix::fs::{Mode, OFlags, fchmod, fstat, open};
use rustix::process::geteuid;
use trees::{TreeLimits, stamp_tree};

use self::facts::InputTreeFacts;
use crate::beneath::remove_tree;
use crate::sync;

const TREE: &str = "tree";
const FACTS: &str = "facts";
const SEALED: u32 = 0o555;
const WRITABLE: u32 = 0o755;

#[derive(Clone, Copy, Debug)]
pub(crate) struct InputTreeLimits {
    pub(crate) bytes_max: u64,
    pub(crate) entries_max: u64,
    pub(crate) trees_max: usize,
    pub(crate) unused_max: Duration,
    /// The time limit for a process to use a hidden name.
    pub(crate) hidden_max: Duration,
}

/// A sealed folder in a slot, whose digest was verified.
#[derive(Debug)]
pub(crate) struct StagedTree {
    sha256: Sha256,
    path: PathBuf,
    facts: InputTreeFacts,
}

impl StagedTree {
    /// Returns the bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        self.facts.bytes
    }

    /// Returns the number of its files, directories and links.
    pub(crate) fn entries(&self) -> u64 {
        self.facts.entries
    }
}

pub(crate) struct InputTreeStore {
    directory: PathBuf,
    bounds: InputTreeLimits,
    /// The kernel's id of this boot. Without it, no tree is kept.
    boot: Option<String>,
}

impl InputTreeStore {
    /// `directory` exists, is private, and is on the same file system as the slots.
    pub(crate) fn new(directory: PathBuf, bounds: InputTreeLimits) -> Self {
        Self { directory, bounds, boot: boot_id() }
    }

    /// Examines a sealed folder of a slot right after its digest was computed. Returns `None` if it
    /// cannot be kept after the run.
    pub(crate) fn examine_new(
        &self,
        sha256: Sha256,
        (path, tree): (&Path, BorrowedFd<'_>),
        (bytes, entries): (u64, u64),
    ) -> Option<StagedTree> {
        let InputTreeLimits { bytes_max, entries_max, .. } = self.bounds;
        if bytes > bytes_max || entries > entries_max {
            return None;
        }
        let boot = self.boot.clone()?;
        let stamp = stamp_tree(tree, &stamp_limits(entries)).ok()?;
        let facts = InputTreeFacts { boot, stamp, bytes, entries };
        Some(StagedTree { sha256, path: path.to_owned(), facts })
    }

    /// Returns whether a tree of this digest is stored. Another run may take it before this one.
    pub(crate) fn holds(&self, sha256: Sha256) -> bool {
        self.path_of(sha256).exists()
    }

    /// Moves a stored tree to `to`, an empty directory, if it exists, is unchanged and is within
    /// these limits. Without one, the directory stays empty. The submitted folder must have this
    /// digest.
    pub(crate) fn take(
        &self,
        sha256: Sha256,
        to: &Path,
        claim: &ClaimId,
        limits: &TreeLimits,
    ) -> Option<StagedTree> {
        let (kept, taken) = (self.path_of(sha256), self.hidden("taken", claim.as_str()));
        if let Err(error) = sync::rename_new(&kept, &taken) {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!("{}: take the stored folder: {error}", kept.display());
            }
            return None;
        }
        let moved = self.examine(&taken).and_then(|facts| {
            if facts.bytes > limits.bytes_max || facts.entries > limits.entries_max {
                // A run with greater limits may use it.
                return sync::rename_new(&taken, &kept).map(|()| None);
            }
            let moved = move_sealed(&taken.join(TREE), to).inspect_err(|_| empty_directory(to));
            moved.map(|()| Some(facts))
        });
        let facts = moved.unwrap_or_else(|error| {
            tracing::warn!("{}: use the stored folder: {error}", kept.display());
            None
        });
        remove_tree(&taken);
        facts.map(|facts| StagedTree { sha256, path: to.to_owned(), facts })
    }

    /// Checks a tree that has a hidden name of this process.
    fn examine(&self, entry: &Path) -> io::Result<InputTreeFacts> {
        let facts = InputTreeFacts::read(&entry.join(FACTS))?;
        let tree = open_directory(&entry.join(TREE))?;
        let is_ours = fstat(&tree)?.st_uid == geteuid().as_raw();
        let is_whole = is_ours && self.is_of_this_boot(&facts);
        let stamp = stamp_tree(tree.as_fd(), &stamp_limits(facts.entries));
        match is_whole && stamp.is_ok_and(|stamp| stamp == facts.stamp) {
            true => Ok(facts),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it changed after it was stored, or an earlier boot left it",
            )),
        }
    }

    /// Moves a folder out of its slot, to be kept for later runs. The slot keeps one that cannot be
    /// moved.
    pub(crate) fn keep(&self, tree: &StagedTree, claim: &ClaimId) {
        let (kept, new) = (self.path_of(tree.sha256), self.hidden("new", claim.as_str()));
        // Another run of the same folder has stored its own.
        if kept.exists() {
            return;
        }
        let facts = tree.facts.render();
        let moved = self
            .make_room(&tree.facts)
            .and_then(|()| DirBuilder::new().mode(0o700).create(&new))
            .and_then(|()| sync::write_new(&new.join(FACTS), facts.as_bytes(), 0o600))
            .and_then(|()| move_sealed(&tree.path, &new.join(TREE)))
            .and_then(|()| sync::rename_new(&new, &kept));
        if let Err(error) = moved {
            if error.kind() != io::ErrorKind::AlreadyExists {
                tracing::warn!("{}: store for later runs: {error}", tree.path.display());
            }
            remove_tree(&new);
        }
    }

    fn is_of_this_boot(&self, facts: &InputTreeFacts) -> bool {
        self.boot.as_ref() == Some(&facts.boot)
    }

    fn path_of(&self, sha256: Sha256) -> PathBuf {
        self.directory.join(sha256.to_string())
    }

    fn hidden(&self, act: &str, name: &str) -> PathBuf {
        self.directory.join(format!(".{act}-{name}"))
    }
}

/// Moves a sealed directory, also over an empty one. A user other than root may move a directory
/// only while that user may write in it. After an error, either place may have the directory.
fn move_sealed(from: &Path, to: &Path) -> io::Result<()> {
    let tree = open_directory(from)?;
    fchmod(&tree, Mode::from_raw_mode(WRITABLE))?;
    let moved = sync::rename_directory(from, to);
    fchmod(&tree, Mode::from_raw_mode(SEALED))?;
    moved
}

/// Empties a directory of a slot after a failed move: the folder is copied into it then.
fn empty_directory(path: &Path) {
    remove_tree(path);
    if let Err(error) = DirBuilder::new().mode(WRITABLE).create(path) {
        tracing::warn!("{}: create: {error}", path.display());
    }
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// A tree with more entries has another stamp.
fn stamp_limits(entries_max: u64) -> TreeLimits {
    TreeLimits { entries_max, bytes_max: u64::MAX, depth_max: u32::MAX }
}

fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id = text.trim_end();
    (!id.is_empty()).then(|| id.to_owned())
}

#[cfg(test)]
mod tests;
