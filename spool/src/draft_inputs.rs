//! Copies the inputs of a draft from `drafts/` to `approved/`, and removes the originals. A file of
//! an agent must never get into `approved/`: its owner can hold its lock for ever. A rename or a
//! removal waits for that lock, and holds the locks of both directories meanwhile.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use policies::ActionTarget;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, fstat, mkdirat, renameat_with, statat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use trees::{LinkRule, TreeError, TreeSummary, copy_tree};

use crate::beneath::{open_beneath, remove_tree, try_remove_tree};
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::standing_drafts::input_tree::InputTreeBounds;
use crate::sync;

const COPY: &str = "copy";
/// The end of the hidden name of a copy.
const COPY_END: &str = ".draft";
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// Operators read waiting inputs through the group.
const DIRECTORY_MODE: u32 = 0o750;
/// A tree with more files is made durable by one sync of its file system.
const SYNCED_FILES_MAX: u64 = 64;

/// The inputs of one draft as a copy in `approved/`. Dropping it removes the copy.
#[must_use]
pub(crate) struct CopiedInputs {
    /// The path of the copy now. `None` if the draft has no inputs.
    copy: Option<PathBuf>,
    /// The inode of the original.
    original: Option<u64>,
}

impl CopiedInputs {
    /// Copies the inputs of this name to a hidden directory, durably. A draft may have none. Links
    /// are copied as they are.
    ///
    /// # Errors
    /// An entry cannot be copied, or they exceed the limits. Nothing is left then.
    pub(crate) fn of(
        drafts: &Inbox,
        approved: &Inbox,
        name: &str,
        bounds: InputTreeBounds,
    ) -> Result<Self, SpoolError> {
        let path = drafts.path().join(name);
        let from = match open_beneath(drafts.handle(), name, DIRECTORY) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return Ok(Self { copy: None, original: None });
            }
            opened => opened.map_err(SpoolError::errno(&path, "open"))?,
        };
        let original = Some(fstat(&from).map_err(SpoolError::errno(&path, "stat"))?.st_ino);
        // The name is fixed, so that the next copy replaces that of a killed daemon.
        let hidden = format!(".{name}{COPY_END}");
        let to = make_directory(approved, &hidden)?;
        let hidden = approved.path().join(hidden);
        let copied = Self { copy: Some(hidden.clone()), original };
        let limits = bounds.of_copy();
        let summary = copy_tree(from.as_fd(), to.as_fd(), LinkRule::Root, &limits, &mut |_| ())
            .map_err(|error| copy_error(&path, error))?;
        sync_copy(&hidden, &summary).map_err(SpoolError::io(&hidden, "sync"))?;
        Ok(copied)
    }

    /// Gives the copy its final name, which must not exist.
    ///
    /// # Errors
    /// An object has the name, or an I/O error.
    pub(crate) fn place(&mut self, approved: &Inbox, name: &str) -> Result<(), SpoolError> {
        let Some(copy) = &mut self.copy else { return Ok(()) };
        let target = approved.path().join(name);
        let hidden = copy.file_name().unwrap_or_default();
        let at = approved.handle();
        match renameat_with(at, hidden, at, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(SpoolError::in_the_way(&target)),
            Err(errno) => return Err(SpoolError::errno(&target, "submit")(errno)),
        }
        *copy = target;
        Ok(())
    }

    /// Keeps the copy. Returns the inode of the original, which is still in `drafts/`.
    pub(crate) fn keep(mut self) -> Option<u64> {
        self.copy = None;
        self.original
    }
}

impl Drop for CopiedInputs {
    fn drop(&mut self) {
        if let Some(copy) = &self.copy {
            remove_tree(copy);
        }
    }
}

impl Inbox {
    /// Removes inputs that were copied, unless another directory has their name now.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn remove_inputs(
        &self,
        name: &str,
        original: Option<u64>,
    ) -> Result<(), SpoolError> {
        let found = self.identity(name).map(|(inode, _, _)| inode);
        if original.is_none() || found != original {
            return Ok(());
        }
        let path = self.path().join(name);
        try_remove_tree(&path).map_err(SpoolError::io(&path, "remove"))
    }

    /// Removes the copies of inputs that a killed daemon left here. A failure is only logged,
    /// because the next start tries again. The daemon calls this before it takes drafts, because a
    /// copy in progress has such a name too.
    pub fn remove_interrupted_copies(&self) {
        let mut found = Vec::new();
        let listed = self.each_name(|name| {
            let copy = name.to_str().filter(|name| is_copy_name(name) && self.is_own_copy(name));
            found.extend(copy.map(|name| self.path().join(name)));
        });
        if let Err(error) = listed {
            tracing::warn!("interrupted copies of inputs: {error}");
        }
        for copy in found {
            remove_tree(&copy);
        }
    }

    /// Returns whether the name is that of a directory of this user.
    fn is_own_copy(&self, name: &str) -> bool {
        statat(self.handle(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| {
            let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
            is_directory && found.st_uid == geteuid().as_raw()
        })
    }
}

/// Returns whether a copy of the inputs of a draft can have this hidden name.
fn is_copy_name(name: &str) -> bool {
    let inputs = name.strip_prefix('.').and_then(|name| name.strip_suffix(COPY_END));
    let target = inputs.and_then(|inputs| inputs.strip_suffix(".inputs"));
    target.is_some_and(|target| target.parse::<ActionTarget>().is_ok())
}

/// Makes a hidden directory. The copy that a killed daemon left under its name is removed.
fn make_directory(approved: &Inbox, hidden: &str) -> Result<OwnedFd, SpoolError> {
    let path = approved.path().join(hidden);
    let mode = Mode::from_raw_mode(DIRECTORY_MODE);
    let made = match mkdirat(approved.handle(), hidden, mode) {
        Err(Errno::EXIST) => {
            try_remove_tree(&path).map_err(SpoolError::io(&path, "remove"))?;
            mkdirat(approved.handle(), hidden, mode)
        }
        made => made,
    };
    made.map_err(SpoolError::errno(&path, "create"))?;
    let opened = open_beneath(approved.handle(), hidden, DIRECTORY);
    let directory = opened.map_err(SpoolError::errno(&path, "open"))?;
    // Regardless of the umask. A set-group-id bit inherited from `approved/` stays.
    let inherited = fstat(&directory).map_err(SpoolError::errno(&path, "stat"))?.st_mode & 0o7000;
    let mode = Mode::from_raw_mode(inherited | DIRECTORY_MODE);
    fchmod(&directory, mode).map_err(SpoolError::errno(&path, "set the mode of"))?;
    Ok(directory)
}

fn sync_copy(path: &Path, summary: &TreeSummary) -> io::Result<()> {
    match summary.files <= SYNCED_FILES_MAX {
        true => sync::sync_tree(path),
        false => sync::sync_large_tree(path),
    }
}

fn copy_error(path: &Path, error: TreeError) -> SpoolError {
    match error {
        TreeError::Io { path: below, error, .. } => SpoolError::io(&path.join(below), COPY)(error),
        refused => {
            let why = io::Error::new(io::ErrorKind::InvalidInput, refused.to_string());
            SpoolError::io(path, COPY)(why)
        }
    }
}

#[cfg(test)]
mod tests;
