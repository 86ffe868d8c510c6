//! Writes and removes published files: a hidden draft, then a rename over the old file. Nothing is
//! synced, so a file that must survive a crash may never be written this way.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat, renameat};

use crate::error::SpoolError;

/// Publishes a file for all users. A reader sees either the old version or the new one, whole.
///
/// # Errors
/// An I/O error. It only affects readers.
pub fn publish_file(path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = path.with_file_name(format!(".new-{name}"));
    remove(&draft)?;
    let written = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&draft)?;
        file.write_all(bytes)?;
        // Set the mode regardless of the umask, so that readers can open the file.
        file.set_permissions(Permissions::from_mode(0o644))
    };
    if let Err(error) = written() {
        // Remove the partial file, to give its space back.
        fs::remove_file(&draft).unwrap_or_default();
        return Err(SpoolError::io(&draft, "write")(error));
    }
    renameat(CWD, &draft, CWD, path).map_err(SpoolError::errno(path, "rename"))
}

pub(super) fn publish_json(
    path: &Path,
    document: &impl serde::Serialize,
) -> Result<(), SpoolError> {
    publish_file(path, &to_json(path, document)?)
}

pub(super) fn to_json(
    path: &Path,
    document: &impl serde::Serialize,
) -> Result<Vec<u8>, SpoolError> {
    serde_json::to_vec(document).map_err(|error| {
        SpoolError::io(path, "write")(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}

pub(super) fn remove(path: &Path) -> Result<(), SpoolError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SpoolError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}

pub(super) fn remove_all(path: &Path) -> Result<(), SpoolError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SpoolError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// Reads a published file: a regular file of at most `bytes_max` bytes. A link is not followed.
pub(crate) fn read_published(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    read_from(&open_published(path)?, bytes_max)
}

/// Opens a published file. A link is not followed.
pub(super) fn open_published(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty())?))
}

/// Reads a regular file of at most `bytes_max` bytes.
pub(super) fn read_from(file: &File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let odd = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if !file.metadata()?.is_file() {
        return Err(odd("not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() > bytes_max {
        true => Err(odd(format!("larger than {bytes_max} bytes"))),
        false => Ok(bytes),
    }
}

/// Returns the names of published files without `.json`. An unreadable directory counts as empty.
pub(super) fn published_names(directory: &Path) -> impl Iterator<Item = String> {
    let listed = fs::read_dir(directory);
    listed.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".json").filter(|_| !name.starts_with('.')).map(str::to_owned)
    })
}
