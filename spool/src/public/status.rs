//! The daemon's status, as it reports it: `public/status.json`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::model::PublishedStatus;
use super::published_file::{read_published, to_json};
use super::reserved_file::{publish_reserved, read_reserved};
use crate::error::{SpoolError, io_text};
use crate::paths::{Spool, make_dir};

/// The size limit of the file, larger than any that is written.
const STATUS_BYTES_MAX: usize = 64 * 1024;

/// The reason why a published file cannot be shown.
#[derive(Debug)]
pub enum PublishedFileError {
    /// No daemon has written it, or the spool has none.
    Missing,
    /// The caller cannot read it.
    Unreadable(PathBuf, io::Error),
    /// It is invalid or of another version.
    Invalid(PathBuf, String),
}

impl fmt::Display for PublishedFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no daemon has published it"),
            Self::Unreadable(path, error) => write!(f, "{}: {}", path.display(), io_text(error)),
            Self::Invalid(path, what) => write!(
                f,
                "{}: not a valid document of this version: {what}; help: use the version of the \
                 daemon",
                path.display()
            ),
        }
    }
}

impl std::error::Error for PublishedFileError {}

impl Spool {
    /// Publishes the daemon's status.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn publish_status(&self, status: &PublishedStatus) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        let path = directory.join("status.json");
        publish_reserved(&path, &to_json(&path, status)?)
    }
}

/// Reads the last daemon's status, which does not prove that it runs: [`super::daemon_liveness`].
///
/// # Errors
/// Any [`PublishedFileError`].
pub fn published_status(spool: &Path) -> Result<PublishedStatus, PublishedFileError> {
    let path = spool.join("public/status.json");
    let bytes = read_reserved(&path, STATUS_BYTES_MAX).map_err(|error| read_error(&path, error))?;
    let read = serde_json::from_slice(&bytes);
    let status: PublishedStatus =
        read.map_err(|error| PublishedFileError::Invalid(path.clone(), error.to_string()))?;
    match status.is_valid() {
        true => Ok(status),
        false => Err(PublishedFileError::Invalid(path, "invalid time or digest".into())),
    }
}

pub(super) fn read_document<T: DeserializeOwned>(
    path: PathBuf,
    bytes_max: usize,
) -> Result<T, PublishedFileError> {
    let bytes = read_bytes(&path, bytes_max)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| PublishedFileError::Invalid(path, error.to_string()))
}

pub(super) fn read_bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, PublishedFileError> {
    read_published(path, bytes_max).map_err(|error| read_error(path, error))
}

fn read_error(path: &Path, error: io::Error) -> PublishedFileError {
    match error.kind() {
        io::ErrorKind::NotFound => PublishedFileError::Missing,
        _ => PublishedFileError::Unreadable(path.to_owned(), error),
    }
}
