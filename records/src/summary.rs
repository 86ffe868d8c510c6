//! What a result says of itself, unverified: one line of it for lists, all of it for pages, and its files.
//! Must never be taken for a verification, follow a link, or read without a bound.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tree::{read_below, read_bounded};
use crate::verify::RECORD_BYTES_MAX;

/// What a record claims about itself. Nobody has checked it.
#[derive(Debug, Deserialize)]
pub struct Summary {
    pub result_id: String,
    pub request_id: String,
    pub created_utc: String,
    pub outcome: String,
    pub exit_code: i32,
    /// See [`crate::split_reason`].
    #[serde(default)]
    pub reason: Option<String>,
}

/// Reads the record of a result directory. `None` where there is none that can be read.
#[must_use]
pub fn summary(dir: &Path) -> Option<Summary> {
    front(dir)
}

/// Every fact that the record of a result directory claims. Nobody has checked it.
#[must_use]
pub fn claims(dir: &Path) -> Option<Value> {
    front::<Value>(dir).filter(Value::is_object)
}

/// Reads a file that a record names, at a path below its directory; `None` where it is larger than that.
///
/// # Errors
/// It is not there, is no regular file, or its path leads elsewhere.
pub fn read_claimed(dir: &Path, path: &str, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no path below the record"));
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
