//! Unverified claims of a result: a summary for lists, all facts for pages, and its files. These
//! must never be taken for verified facts. Reads must be bounded and must never follow a link.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tree::{read_below, read_bounded};
use crate::verify::RECORD_BYTES_MAX;

/// A summary of the claims of a record. Unverified.
#[derive(Debug, Deserialize)]
pub struct Summary {
    /// The result id.
    pub result_id: String,
    /// The request id, or `unusable`.
    pub request_id: String,
    /// The time when the record was made.
    pub created_utc: String,
    /// The outcome.
    pub outcome: String,
    /// The tool's exit code.
    pub exit_code: i32,
    /// See [`crate::split_reason`].
    #[serde(default)]
    pub reason: Option<String>,
}

/// Reads the summary of a result directory. Returns `None` if it has no readable record.
#[must_use]
pub fn summary(dir: &Path) -> Option<Summary> {
    front(dir)
}

/// Reads every claimed fact of a result directory. Unverified.
#[must_use]
pub fn claims(dir: &Path) -> Option<Value> {
    front::<Value>(dir).filter(Value::is_object)
}

/// Reads a file at a path below a record's directory; `None` if larger than `bytes_max`.
///
/// # Errors
/// It does not exist, is not a regular file, or its path leaves the directory.
pub fn read_claimed(dir: &Path, path: &str, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path below the record"));
    }
    read_below(open(dir)?.as_fd(), path, bytes_max)
}

fn open(dir: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(dir, flags, Mode::empty())?)
}

fn front<T: DeserializeOwned>(dir: &Path) -> Option<T> {
    let name = dir.file_name()?.to_str()?;
    let root = open(dir).ok()?;
    let md = read_bounded(root.as_fd(), &format!("{name}.md"), RECORD_BYTES_MAX).ok()??;
    let text = std::str::from_utf8(&md).ok()?;
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    serde_yaml::from_str(front).ok()
}
