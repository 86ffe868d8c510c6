//! Output files at paths that the caller typed.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file. An existing regular file is replaced only if it begins with `kind`: it must be
/// output of the same command. A device or a pipe is written to directly.
pub(crate) fn replace_own_file(path: &Path, kind: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path.metadata().is_ok_and(|it| it.is_file()) {
        let mut there = Vec::new();
        let kind_len = u64::try_from(kind.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(kind_len).read_to_end(&mut there));
        read.map_err(Failure::io(path))?;
        if there != kind.as_bytes() {
            let path = path.display();
            return Err(Failure::Message(format!(
                "{path}: exists, and was not written by this command; help: name another file"
            )));
        }
    }
    replace_file(path, bytes)
}
/// Atomically replaces a file. A device or a pipe is written to directly.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::Io(path.to_owned(), error);
    if path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return File::create(path).and_then(|mut it| it.write_all(bytes)).map_err(failed);
    }
    let name = path.file_name().ok_or_else(|| {
        Failure::Message(format!("{}: has no file name; help: name a file", path.display()))
    })?;
    let part = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| Ok(rustix::fs::rename(&part, path)?));
    if written.is_err() {
        std::fs::remove_file(&part).unwrap_or_default();
    }
    written.map_err(failed)
}
