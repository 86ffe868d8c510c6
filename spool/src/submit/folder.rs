//! Copies a folder of inputs into the spool, with its links as they are. The code runs as the
//! submitter. The daemon checks the copy, so nothing is hashed here; a tree that the daemon would
//! refuse for its depth or its number of entries must not fill the spool.

use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

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
    let limits = folder_limits(u64::MAX);
    let (mut waiting, mut entries) = (Vec::new(), 0_u64);
    list(from, to, 1, &mut waiting)?;
    while let Some(FolderEntry { from, to, kind, depth }) = waiting.pop() {
        entries += 1;
        if entries > limits.entries_max || depth > limits.depth_max {
            return Err(SpoolError::io(&from, COPY)(too_large()));
        }
        if kind.is_dir() {
            list(&from, &to, depth + 1, &mut waiting)?;
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

/// Makes the copy of a directory, and adds the entries of the original to those to be copied.
fn list(
    from: &Path,
    to: &Path,
    depth: u32,
    waiting: &mut Vec<FolderEntry>,
) -> Result<(), SpoolError> {
    make_directory(to).map_err(SpoolError::io(to, "create"))?;
    for entry in fs::read_dir(from).map_err(SpoolError::io(from, "list"))? {
        let entry = entry.map_err(SpoolError::io(from, "list"))?;
        let kind = entry.file_type().map_err(SpoolError::io(from, "list"))?;
        let to = to.join(entry.file_name());
        waiting.push(FolderEntry { from: entry.path(), to, kind, depth });
    }
    Ok(())
}

fn too_large() -> io::Error {
    let what = "the folder has too many entries or levels; help: leave out what is not needed";
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
