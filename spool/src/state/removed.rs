//! The mark that retention leaves: `<state>/removed`, one line per result that it removed, so that what
//! was kept long enough can be told from what somebody took away. Whoever removes appends the line,
//! durably, before anything of the result goes; a line whose result is still there is harmless.
//!
//! A line is a JSON object and a line feed:
//! `{"result_id":"TS-…","at":"2026-02-09T17:00:00Z","record_sha256":"…","log_index":17}`.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Longer lines are none of ours.
pub const REMOVED_LINE_BYTES_MAX: usize = 1024;

/// One line: a result that was kept for as long as is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    pub result_id: String,
    /// When, UTC.
    pub at: String,
    /// Of its Markdown, as the log has it.
    pub record_sha256: String,
    /// Its entry in the log, by its number, as its proof had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_index: Option<u64>,
}

/// Why the marks cannot be read.
#[derive(Debug)]
pub enum RemovedError {
    Read(PathBuf, io::Error),
    /// The line of that number, from 1, is none of ours.
    Line(PathBuf, usize),
}

impl fmt::Display for RemovedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "{}: read: {error}", path.display()),
            Self::Line(path, line) => {
                write!(f, "{}:{line}: is no mark of a removal", path.display())
            }
        }
    }
}

impl std::error::Error for RemovedError {}

/// The ids of every result that retention removed. An unfinished last line is none: its append never
/// ended, and nothing was removed on the strength of it.
///
/// # Errors
/// [`RemovedError`]: the disk, or the first line that is none of ours.
pub fn removed_in(state: &Path) -> Result<HashSet<String>, RemovedError> {
    let mut ids = HashSet::new();
    match each_removed(&state.join("removed"), &mut |one| ids.extend([one.result_id])) {
        Err(RemovedError::Read(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
        read => read?,
    }
    Ok(ids)
}

/// Every mark of a file of them, one after the other, as [`removed_in`] reads them.
///
/// # Errors
/// [`RemovedError`]; also that there is no such file.
pub fn each_removed(path: &Path, act: &mut dyn FnMut(Removed)) -> Result<(), RemovedError> {
    let failed = |error| RemovedError::Read(path.to_owned(), error);
    let file = File::open(path).map_err(failed)?;
    let most = u64::try_from(REMOVED_LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut reader = BufReader::new(file);
    for number in 1.. {
        let mut line = Vec::new();
        reader.by_ref().take(most).read_until(b'\n', &mut line).map_err(failed)?;
        let unfinished = line.last() != Some(&b'\n');
        if unfinished && line.len() < REMOVED_LINE_BYTES_MAX {
            break;
        }
        let wrong = |_| RemovedError::Line(path.to_owned(), number);
        act(serde_json::from_slice(&line).map_err(wrong)?);
    }
    Ok(())
}
