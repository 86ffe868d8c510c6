//! How a file that only tells gets its name and loses it: a hidden draft, a rename over what was there.
//! Nothing here is synced, so nothing that must outlive a crash may be written this way.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat, renameat};

use crate::error::SpoolError;

/// Puts a file into place that only tells, readable by everybody who may enter its directory; whoever
/// opens the name sees the old one whole or the new one whole.
///
/// # Errors
/// The disk. Nobody but readers misses what was not told.
pub fn tell_file(path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = path.with_file_name(format!(".new-{name}"));
    remove(&draft)?;
    let written = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&draft)?;
        file.write_all(bytes)?;
        // Whatever the mask of the process: what nobody can read tells nobody.
        file.set_permissions(Permissions::from_mode(0o644))
    };
    if let Err(error) = written() {
        // What there was room for is not kept from others.
        fs::remove_file(&draft).unwrap_or_default();
        return Err(SpoolError::io(&draft, "write")(error));
    }
    renameat(CWD, &draft, CWD, path).map_err(SpoolError::errno(path, "rename"))
}

/// Tells a document.
pub(super) fn tell_json(path: &Path, document: &impl serde::Serialize) -> Result<(), SpoolError> {
    tell_file(path, &json_of(path, document)?)
}

/// A document as it is told.
pub(super) fn json_of(
    path: &Path,
    document: &impl serde::Serialize,
) -> Result<Vec<u8>, SpoolError> {
    serde_json::to_vec(document).map_err(|error| {
        SpoolError::io(path, "write")(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}

/// It is told no longer.
pub(super) fn remove(path: &Path) -> Result<(), SpoolError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SpoolError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// None of it is told any longer.
pub(super) fn remove_all(path: &Path) -> Result<(), SpoolError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SpoolError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}

/// Reads what was told: a regular file of at most so many bytes, reached through no link of its own.
pub(super) fn read_told(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    read_from(&open_told(path)?, bytes_max)
}

/// Opens what was told, through no link of its own.
pub(super) fn open_told(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(openat(CWD, path, flags | OFlags::CLOEXEC, Mode::empty())?))
}

/// Reads a regular file of at most so many bytes.
pub(super) fn read_from(file: &File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let odd = |why| io::Error::new(io::ErrorKind::InvalidData, why);
    if !file.metadata()?.is_file() {
        return Err(odd("is no regular file"));
    }
    let mut bytes = Vec::new();
    let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max { Err(odd("is too large")) } else { Ok(bytes) }
}

/// The names that are told in a directory, without `.json`. What cannot be listed is not there.
pub(super) fn told_names(directory: &Path) -> impl Iterator<Item = String> {
    let listed = fs::read_dir(directory);
    listed.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".json").filter(|_| !name.starts_with('.')).map(str::to_owned)
    })
}
