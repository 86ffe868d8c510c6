//! Reads files up to a size limit: those of the operator, and those in directories where others
//! write.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Reads a file.
///
/// # Errors
/// The file cannot be read, or is larger than `bytes_max`. The message has its path and help.
pub(super) fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let shown = path.display();
    let failed = |error: io::Error| format!("{shown}: {}", spool::io_text(&error));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    match u64::try_from(read).unwrap_or(u64::MAX) > bytes_max {
        true => Err(format!("{shown}: larger than {bytes_max} bytes; help: shorten the file")),
        false => Ok(bytes),
    }
}

/// Reads a text file.
///
/// # Errors
/// As [`read_bytes`], or the file is not UTF-8.
pub(super) fn read_text(path: &Path, bytes_max: u64) -> Result<String, String> {
    String::from_utf8(read_bytes(path, bytes_max)?)
        .map_err(|_| format!("{}: not UTF-8; help: save the file as UTF-8", path.display()))
}

/// Reads at most this many bytes of a file that others may write. A link is not followed, and a pipe
/// is not waited for.
///
/// # Errors
/// It does not exist, cannot be read, or is not a regular file.
pub(super) fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
