//! Reads and writes whole files of a build. A source is read once, with a limit; a FIFO or a device
//! is refused, because it might never end.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use model::Sha256;
use rustix::fs::{Mode, OFlags};

use super::error::SourceError;

/// The limit of a lock file.
const BYTES_MAX: u64 = 16 << 20;

/// A file that names packages, as it was read.
pub(super) struct SourceDocument {
    /// Its file name, for messages and records.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) sha256: Sha256,
}

impl SourceDocument {
    pub(super) fn read(path: &Path) -> Result<Self, SourceError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty());
        let file = File::from(file.map_err(|errno| SourceError::io(path)(errno.into()))?);
        if !file.metadata().map_err(SourceError::io(path))?.is_file() {
            let what = format!("{}: not a regular file", path.display());
            return Err(SourceError::refused(what, "name a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(SourceError::io(path))?;
        if u64::try_from(bytes.len()).is_ok_and(|len| len > BYTES_MAX) {
            let what = format!("{}: larger than {} MiB", path.display(), BYTES_MAX >> 20);
            return Err(SourceError::refused(what, "name the lock file itself"));
        }
        let sha256 = Sha256::of(&bytes);
        Ok(Self { name: file_name(path), bytes, sha256 })
    }

    /// Returns the text, which must be UTF-8.
    pub(super) fn text(&self) -> Result<&str, SourceError> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let what = format!("{}: not UTF-8 after byte {}", self.name, error.valid_up_to());
            SourceError::refused(what, "save the file as UTF-8")
        })
    }
}

/// Returns the last name of a path, for messages and records.
pub(super) fn file_name(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned());
    name.map_or_else(|| "/".to_owned(), |name| model::escape_line(&name))
}

/// Writes a new file.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), SourceError> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(bytes)).map_err(SourceError::io(path))
}

/// Replaces the bytes of an existing file of the build; the mode stays.
pub(super) fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), SourceError> {
    let opened = OpenOptions::new().write(true).truncate(true).open(path);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(SourceError::io(path))
}

/// Removes a file that may be missing.
pub(super) fn remove_file(path: &Path) -> Result<(), SourceError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(SourceError::io(path)(error)),
        _ => Ok(()),
    }
}
