//! The marks of retention: `<state>/removed`, one line per result that retention removed. They
//! distinguish an expired result from one that was removed otherwise. A line is appended durably
//! before anything of the result is removed; a line whose result still exists is harmless. It is a
//! JSON object and a line feed:
//! `{"result_id":"TS-…","at":"2026-02-09T17:00:00Z","record_sha256":"…","log_index":17}`.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::io_text;

/// Longer lines are invalid.
pub const REMOVAL_MARK_BYTES_MAX: usize = 1024;

/// One line: a result that was kept for the configured time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovalMark {
    /// The id of the result.
    pub result_id: String,
    /// The time of the removal, in UTC.
    pub at: String,
    /// The digest of its Markdown, as in the log.
    pub record_sha256: String,
    /// The number of its log entry, from its proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_index: Option<u64>,
}

/// The reason why the marks cannot be read.
#[derive(Debug)]
pub enum RemovalMarksError {
    /// An I/O error.
    Read(PathBuf, io::Error),
    /// The line of this number, from 1, is invalid.
    Line(PathBuf, usize),
}

impl fmt::Display for RemovalMarksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: read: {}", path.display(), io_text(error)),
            Self::Line(path, line) => write!(
                f,
                "{}:{line}: not a removal mark; help: restore the file from a backup",
                path.display()
            ),
        }
    }
}

impl std::error::Error for RemovalMarksError {}

/// Returns the ids of all removed results. Nothing was removed because of an unfinished last line.
///
/// # Errors
/// [`RemovalMarksError`]: an I/O error, or the first invalid line.
pub fn removed_results(state: &Path) -> Result<HashSet<String>, RemovalMarksError> {
    let mut ids = HashSet::new();
    match each_removal_mark(&state.join("removed"), &mut |one| ids.extend([one.result_id])) {
        Err(RemovalMarksError::Read(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
        read => read?,
    }
    Ok(ids)
}

/// Passes every mark in a file to `act`, in order. Reads lines as [`removed_results`] does.
///
/// # Errors
/// [`RemovalMarksError`], also if the file does not exist.
pub fn each_removal_mark(
    path: &Path,
    act: &mut dyn FnMut(RemovalMark),
) -> Result<(), RemovalMarksError> {
    let failed = |error| RemovalMarksError::Read(path.to_owned(), error);
    let file = File::open(path).map_err(failed)?;
    let most = u64::try_from(REMOVAL_MARK_BYTES_MAX).unwrap_or(u64::MAX);
    let mut reader = BufReader::new(file);
    for number in 1.. {
        let mut line = Vec::new();
        reader.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
        let unfinished = line.last() != Some(&b'\n');
        if unfinished && line.len() < REMOVAL_MARK_BYTES_MAX {
            break;
        }
        let wrong = |_| RemovalMarksError::Line(path.to_owned(), number);
        act(serde_json::from_slice(&line).map_err(wrong)?);
    }
    Ok(())
}
