//! The codec of paths and of values of closed sets, and the bounds of names and paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use model::ClosedSet;

use crate::wire::{FrameReader, FrameWriter, WireError};

/// Writes a value of a closed set as its position.
pub(crate) fn put_value<T: ClosedSet>(writer: &mut FrameWriter, value: T) {
    let position = T::ALL.iter().position(|one| *one == value);
    writer.count(position.unwrap_or(usize::MAX));
}

pub(crate) fn take_value<T: ClosedSet>(reader: &mut FrameReader<'_>) -> Result<T, WireError> {
    let position = reader.count(T::ALL.len())?;
    T::ALL.get(position).copied().ok_or(WireError::Range)
}

pub(super) const NAME_BYTES_MAX: usize = 256;

pub(crate) const PATH_BYTES_MAX: usize = 4096;

pub(super) fn put_path(writer: &mut FrameWriter, path: &Path) {
    writer.bytes(path.as_os_str().as_bytes());
}

pub(super) fn take_path(reader: &mut FrameReader<'_>) -> Result<PathBuf, WireError> {
    Ok(PathBuf::from(OsStr::from_bytes(reader.bytes(PATH_BYTES_MAX)?)))
}
