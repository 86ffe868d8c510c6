//! The files that an approver leaves next to a request: signatures and the filled-in approval. Only
//! the named request file is ever overwritten, and only while it holds the bytes that the approver
//! has seen. Other users who may write there must not be able to redirect a write.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::atomic_file::{AtomicFile, parent_of};
use crate::error::SpoolError;
use crate::own_file::open_file;
use crate::sync;

/// Writes a new file, whole and durable. Its mode follows the user's umask.
///
/// # Errors
/// The name exists, or an I/O error. Nothing is left behind.
pub fn write_new_file(path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let mut fresh = AtomicFile::create_for(path, 0o666).map_err(SpoolError::io(path, "create"))?;
    let placed = fresh.write(bytes).and_then(|()| fresh.place());
    placed.map_err(SpoolError::io(path, "write"))?;
    sync_parent(path).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Replaces `known`, the bytes of a file, in one step. Mode and group stay. Another user's file
/// becomes this user's, and only this user can write to it. A link is followed.
///
/// # Errors
/// The file holds other bytes now, or an I/O error. The file is then unchanged, unless only the
/// last step, the sync of the directory, failed.
pub fn replace_unchanged(path: &Path, known: &[u8], bytes: &[u8]) -> Result<(), SpoolError> {
    let real = fs::canonicalize(path).map_err(SpoolError::io(path, "open"))?;
    let before = open_file(&real)?;
    let mut fresh =
        AtomicFile::create_for(&real, 0o600).map_err(SpoolError::io(&real, "create"))?;
    let dressed = fresh.write(bytes).and_then(|()| fresh.copy_owner_and_mode(&before.metadata()?));
    dressed.map_err(SpoolError::io(&real, "replace"))?;
    check_contents(before, &real, known)?;
    fresh.replace().map_err(SpoolError::io(&real, "replace"))?;
    sync_parent(&real)
}

/// Replaces `known`, the bytes of a file, or writes a new file if there was none.
///
/// # Errors
/// As [`replace_unchanged`] or [`write_new_file`].
pub fn write_or_replace(path: &Path, known: Option<&[u8]>, bytes: &[u8]) -> Result<(), SpoolError> {
    match known {
        Some(known) => replace_unchanged(path, known, bytes),
        None => write_new_file(path, bytes),
    }
}

/// Checks that a file still holds the bytes that the user has seen.
///
/// # Errors
/// The file holds other bytes now, or cannot be read.
pub fn check_unchanged(path: &Path, known: &[u8]) -> Result<(), SpoolError> {
    check_contents(open_file(path)?, path, known)
}

fn check_contents(file: File, path: &Path, known: &[u8]) -> Result<(), SpoolError> {
    let mut found = Vec::new();
    let most = u64::try_from(known.len()).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut found).map_err(SpoolError::io(path, "read"))?;
    match found == known {
        true => Ok(()),
        false => Err(SpoolError::Changed { path: path.to_owned() }),
    }
}

fn sync_parent(path: &Path) -> Result<(), SpoolError> {
    sync::sync_dir(parent_of(path)).map_err(SpoolError::io(path, "sync"))
}
