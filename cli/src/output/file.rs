//! Output files at paths that the caller typed.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::failure::Failure;
use crate::random::random_word;

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
    replace_with(path, |file| file.write_all(bytes).and_then(|()| file.sync_all()))
}

/// Atomically replaces a file by what `write` writes. A link with its name is replaced and not
/// followed.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Failure> {
    if path.file_name().is_none() {
        let path = path.display();
        return Err(Failure::Message(format!("{path}: has no file name; help: name a file")));
    }
    // Random, so that no file of that name can exist by intention.
    let part = path.with_file_name(format!(".toolexec-{}", random_word()?));
    let written = File::create_new(&part)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| Ok(rustix::fs::rename(&part, path)?));
    if written.is_err() {
        fs::remove_file(&part).unwrap_or_default();
    }
    written.map_err(Failure::io(path))
}
