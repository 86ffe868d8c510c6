//! What an approver leaves where the request lies: signatures beside it, and its approval filled in.
//! A file that is there is never overwritten but for the one that was named, and that one only where
//! it still holds the bytes that its person has seen. Whoever else may write there must not be able to
//! turn this on another file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::durable;
use crate::error::SpoolError;
use crate::fresh::{Fresh, parent_of};
use crate::promote::open_file;

/// Writes a new file, whole and durable. Its mode is the person's umask's.
///
/// # Errors
/// Something of this name is there, or the disk. Nothing is left behind.
pub fn place_beside(path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let mut fresh = Fresh::beside(path, 0o666).map_err(SpoolError::io(path, "make"))?;
    let placed = fresh.write(bytes).and_then(|()| fresh.place());
    placed.map_err(SpoolError::io(path, "write"))?;
    sync_parent(path)
}

/// Replaces `known`, the bytes of a file, by others, in one step. Mode and group stay; somebody else's
/// file becomes this person's, and nobody else's to write. A link is followed.
///
/// # Errors
/// It holds other bytes by now, or the disk. The file is as it was then, except where only the very
/// last step, making it durable, failed.
pub fn replace_own(path: &Path, known: &[u8], bytes: &[u8]) -> Result<(), SpoolError> {
    let real = fs::canonicalize(path).map_err(SpoolError::io(path, "open"))?;
    let before = open_file(&real)?;
    let mut fresh = Fresh::beside(&real, 0o600).map_err(SpoolError::io(&real, "make"))?;
    let dressed = fresh.write(bytes).and_then(|()| fresh.dress(&before.metadata()?));
    dressed.map_err(SpoolError::io(&real, "fill in"))?;
    insist_on(before, &real, known)?;
    fresh.replace().map_err(SpoolError::io(&real, "fill in"))?;
    sync_parent(&real)
}

/// Insists that a file still holds what its person has seen.
///
/// # Errors
/// It holds other bytes by now, or cannot be read.
pub fn insist_unchanged(path: &Path, known: &[u8]) -> Result<(), SpoolError> {
    insist_on(open_file(path)?, path, known)
}

fn insist_on(file: File, path: &Path, known: &[u8]) -> Result<(), SpoolError> {
    let mut found = Vec::new();
    let most = u64::try_from(known.len()).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut found).map_err(SpoolError::io(path, "read"))?;
    match found == known {
        true => Ok(()),
        false => Err(SpoolError::Changed { path: path.to_owned() }),
    }
}

fn sync_parent(path: &Path) -> Result<(), SpoolError> {
    durable::sync_dir(parent_of(path)).map_err(SpoolError::io(path, "make durable"))
}
