//! Copies a folder of inputs into the spool, with its links as they are. The code runs as the
//! submitter. The daemon checks the copy, so nothing is hashed here; a tree that the daemon would
//! refuse for its depth or its number of entries must not fill the spool.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use trees::TreeLimits;

use super::placing::{COPY, make_directory, place_copy};
use crate::error::SpoolError;
use crate::own_file::open_file;
use crate::stage::folder_limits;

/// An entry of a folder that is still to be copied.
struct FolderEntry {
    from: PathBuf,
    to: PathBuf,
    kind: FileType,
    depth: u32,
}

/// Copies a folder, whose parent directories exist in the spool.
pub(super) fn place_folder(from: &Path, to: &Path) -> Result<(), SpoolError> {
    let mut walk = FolderPlacing { waiting: Vec::new(), limits: folder_limits(u64::MAX) };
    walk.list(from, to, 1)?;
    while let Some(FolderEntry { from, to, kind, depth }) = walk.waiting.pop() {
        if kind.is_dir() {
            walk.list(&from, &to, depth + 1)?;
        } else if kind.is_symlink() {
            let linked = fs::read_link(&from).and_then(|target| symlink(target, &to));
            linked.map_err(SpoolError::io(&from, COPY))?;
        } else {
            let file = open_file(&from)?;
            place_copy(&file, &to).map_err(SpoolError::io(&from, COPY))?;
        }
    }
    Ok(())
}

/// The entries that are still to be copied, and the limits of those that may be added.
struct FolderPlacing {
    waiting: Vec<FolderEntry>,
    limits: TreeLimits,
}

impl FolderPlacing {
    /// Makes the copy of a directory, and adds the entries of the original, up to the limits.
    fn list(&mut self, from: &Path, to: &Path, depth: u32) -> Result<(), SpoolError> {
        make_directory(to).map_err(SpoolError::io(to, "create"))?;
        for entry in fs::read_dir(from).map_err(SpoolError::io(from, "list"))? {
            let entry = entry.map_err(SpoolError::io(from, "list"))?;
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            let left = self.limits.entries_max.checked_sub(1);
            let left = left.filter(|_| depth <= self.limits.depth_max);
            self.limits.entries_max =
                left.ok_or_else(|| SpoolError::io(&from, COPY)(too_large()))?;
            let kind = entry.file_type().map_err(SpoolError::io(&from, "list"))?;
            self.waiting.push(FolderEntry { from, to, kind, depth });
        }
        Ok(())
    }
}

fn too_large() -> io::Error {
    let what = "the folder has too many entries or levels; help: leave out what is not needed";
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
