//! What an approver leaves where the request lies: signatures beside it, and its approval filled in.
//! A file that is there is never overwritten but for the one that was named, and that one only where
//! it still holds the bytes that its person has seen.

use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use crate::durable;
use crate::error::SpoolError;
use crate::promote::hidden_beside;

/// Writes a new file, whole and durable. Its mode is the person's umask's.
///
/// # Errors
/// Something of this name is there, or the disk. Nothing is left behind.
pub fn place_beside(path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let hidden = hidden_beside(path);
    let placed = write(&hidden, bytes, 0o666)?
        .and_then(|()| durable::sync_file(&hidden))
        .and_then(|()| durable::rename_new(&hidden, path));
    finish(placed, &hidden, path, "write")
}

/// Replaces `known`, the bytes of a file, by others, in one step. Mode and, as far as this person may
/// give it away, owner stay; a link is followed.
///
/// # Errors
/// It holds other bytes by now, or the disk. The file is as it was then, except where only the very
/// last step, making it durable, failed.
pub fn replace_own(path: &Path, known: &[u8], bytes: &[u8]) -> Result<(), SpoolError> {
    let real = fs::canonicalize(path).map_err(SpoolError::io(path, "open"))?;
    let before = fs::metadata(&real).map_err(SpoolError::io(path, "look at"))?;
    let hidden = hidden_beside(&real);
    let replaced = write(&hidden, bytes, 0o600)?
        .and_then(|()| dress(&hidden, &before))
        .and_then(|()| durable::sync_file(&hidden))
        .and_then(|()| match holds(&real, known)? {
            true => durable::replace(&hidden, &real),
            false => Err(io::Error::other("it was changed meanwhile; look at it again")),
        });
    finish(replaced, &hidden, &real, "fill in")
}

/// The outer error is of a hidden file that was there: it is another process's, and not ours to remove.
fn write(hidden: &Path, bytes: &[u8], mode: u32) -> Result<io::Result<()>, SpoolError> {
    match durable::write_new(hidden, bytes, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(SpoolError::io(hidden, "make")(error))
        }
        written => Ok(written),
    }
}

fn holds(path: &Path, known: &[u8]) -> io::Result<bool> {
    let mut found = Vec::new();
    let most = u64::try_from(known.len()).unwrap_or(u64::MAX).saturating_add(1);
    fs::File::open(path)?.take(most).read_to_end(&mut found)?;
    Ok(found == known)
}

/// The mode last: a change of the owner takes special bits away.
fn dress(path: &Path, like: &fs::Metadata) -> io::Result<()> {
    let file = fs::File::open(path)?;
    let ours = file.metadata()?;
    if (ours.uid(), ours.gid()) != (like.uid(), like.gid()) {
        match fchown(&file, Some(like.uid()), Some(like.gid())) {
            // Who fills in another's draft owns the approved text from then on.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            changed => changed?,
        }
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o7777))
}

fn finish(
    done: io::Result<()>,
    hidden: &Path,
    path: &Path,
    act: &'static str,
) -> Result<(), SpoolError> {
    if let Err(error) = done {
        if let Err(left) = fs::remove_file(hidden) {
            tracing::warn!("{}: remove: {left}", hidden.display());
        }
        return Err(SpoolError::io(path, act)(error));
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    durable::sync_dir(directory).map_err(SpoolError::io(path, "make durable"))
}
