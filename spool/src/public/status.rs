//! The daemon's status, as it reports it: `public/status.json`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::kept_room::{read_kept, tell_kept};
use super::model::Status;
use super::tell::{json_of, read_told};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// The size limit of the file, larger than any that is written.
const STATUS_BYTES_MAX: usize = 64 * 1024;

/// The reason why a published file cannot be shown.
#[derive(Debug)]
pub enum ToldError {
    /// No daemon has written it, or the spool has none.
    Nothing,
    /// The caller cannot read it.
    Unreadable(PathBuf, io::Error),
    /// It is invalid or of another version.
    Unsound(PathBuf, String),
}

impl fmt::Display for ToldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no daemon has published it"),
            Self::Unreadable(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Unsound(path, what) => {
                write!(f, "{}: not a valid document of this version: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for ToldError {}

impl Spool {
    /// Publishes the daemon's status.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn tell_status(&self, status: &Status) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        let path = directory.join("status.json");
        tell_kept(&path, &json_of(&path, status)?)
    }
}

/// Reads the status that the last daemon published. It does not prove that the daemon is running:
/// check [`super::daemon_alive`].
///
/// # Errors
/// Any [`ToldError`].
pub fn told_status(spool: &Path) -> Result<Status, ToldError> {
    let path = spool.join("public/status.json");
    let bytes = read_kept(&path, STATUS_BYTES_MAX).map_err(|error| not_told(&path, error))?;
    let read = serde_json::from_slice(&bytes);
    let status: Status =
        read.map_err(|error| ToldError::Unsound(path.clone(), error.to_string()))?;
    match status.is_sound() {
        true => Ok(status),
        false => Err(ToldError::Unsound(path, "invalid time or digest".into())),
    }
}

/// Reads a published JSON document.
pub(super) fn told_document<T: DeserializeOwned>(
    path: PathBuf,
    bytes_max: usize,
) -> Result<T, ToldError> {
    let bytes = told_bytes(&path, bytes_max)?;
    serde_json::from_slice(&bytes).map_err(|error| ToldError::Unsound(path, error.to_string()))
}

/// Reads a published file of any format.
pub(super) fn told_bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, ToldError> {
    read_told(path, bytes_max).map_err(|error| not_told(path, error))
}

fn not_told(path: &Path, error: io::Error) -> ToldError {
    match error.kind() {
        io::ErrorKind::NotFound => ToldError::Nothing,
        _ => ToldError::Unreadable(path.to_owned(), error),
    }
}
