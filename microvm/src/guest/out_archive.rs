//! Archives `/out` onto the raw disk when the tool is gone.

use std::fs::OpenOptions;
use std::io::{self, BufWriter};
use std::path::Path;

use rustix::fs::statvfs;

use super::devices::disk;
use super::failure::InitFailure;
use super::mounts::OUT;
use super::out_walk::OutArchiveWalk;
use crate::protocol::GuestMessage;

const BUFFER_BYTES: usize = 256 * 1024;

/// Writes the archive. Returns the messages about it, the last of which completes the run.
pub(super) fn write() -> Result<Vec<GuestMessage>, InitFailure> {
    let device = disk("out")?;
    let file = OpenOptions::new().write(true).open(device).map_err(failed)?;
    let facts = statvfs(OUT).map_err(|error| failed(error.into()))?;
    let free = facts.f_bavail.saturating_mul(facts.f_frsize);
    let to = BufWriter::with_capacity(BUFFER_BYTES, file);
    let walk = OutArchiveWalk::new(Path::new(OUT), free, to);
    let (buffer, messages) = walk.archive().map_err(failed)?;
    buffer.get_ref().sync_all().map_err(failed)?;
    Ok(messages)
}

fn failed(error: io::Error) -> InitFailure {
    InitFailure::new(format!("archive of /out: {error}"))
}
