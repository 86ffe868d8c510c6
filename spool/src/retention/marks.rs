//! Appends marks to `<state>/removed`. A line must never follow an unfinished one, and a mark must
//! be durable before its result is removed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::error::SpoolError;
use crate::state::{REMOVAL_MARK_BYTES_MAX, RemovalMark};
use crate::sync;

/// Appends the marks. They are durable when this returns.
pub(super) fn mark(state: &Path, removed: &[RemovalMark]) -> Result<(), SpoolError> {
    if removed.is_empty() {
        return Ok(());
    }
    let path = state.join("removed");
    let mut lines = Vec::new();
    for one in removed {
        let written = serde_json::to_writer(&mut lines, one);
        written.map_err(|error| SpoolError::io(&path, "write a line")(error.into()))?;
        lines.push(b'\n');
    }
    let opened = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&path);
    let mut file = opened.map_err(SpoolError::io(&path, "open"))?;
    cut_unfinished(&file).map_err(SpoolError::io(&path, "truncate an unfinished line"))?;
    let written = file.write_all(&lines).and_then(|()| file.sync_data());
    written.map_err(SpoolError::io(&path, "append"))?;
    sync::sync_dir(state).map_err(SpoolError::io(state, "sync"))
}

/// Cuts off a line whose append never ended. Nothing was removed because of it.
fn cut_unfinished(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let tail = length.min(u64::try_from(REMOVAL_MARK_BYTES_MAX).unwrap_or(u64::MAX));
    let mut bytes = vec![0; usize::try_from(tail).unwrap_or(0)];
    file.read_exact_at(&mut bytes, length - tail)?;
    let unfinished = bytes.iter().rev().take_while(|byte| **byte != b'\n').count();
    if unfinished == bytes.len() && length > tail {
        return Err(io::Error::other(
            "not a file of removal marks; help: restore it from a backup",
        ));
    }
    if unfinished == 0 {
        return Ok(());
    }
    file.set_len(length - u64::try_from(unfinished).unwrap_or(tail))
}
