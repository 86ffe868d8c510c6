//! One line about a result, for lists: what its record says, unverified. Must never be taken for a
//! verification, and says so by its type.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;

use crate::tree::read_bounded;
use crate::verify::RECORD_BYTES_MAX;

/// What a record claims about itself. Nobody has checked it.
#[derive(Debug, Deserialize)]
pub struct Summary {
    pub result_id: String,
    pub request_id: String,
    pub created_utc: String,
    pub outcome: String,
    pub exit_code: i32,
}

/// Reads the record of a result directory. `None` where there is none that can be read.
#[must_use]
pub fn summary(dir: &Path) -> Option<Summary> {
    let name = dir.file_name()?.to_str()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(dir, flags, Mode::empty()).ok()?;
    let md = read_bounded(root.as_fd(), &format!("{name}.md"), RECORD_BYTES_MAX).ok()??;
    let text = std::str::from_utf8(&md).ok()?;
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    serde_yaml::from_str(front).ok()
}
