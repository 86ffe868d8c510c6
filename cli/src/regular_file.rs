//! Opens files that agents or the daemon wrote: below an open directory, without links, devices or
//! pipes.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};

/// Opens a regular file of the directory.
///
/// # Errors
/// The file is missing, unreadable, a link, or not a regular file.
pub(crate) fn open_regular(directory: &OwnedFd, name: &str) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }
}

/// Returns the content, or `None` if it is unreadable or longer than the limit.
pub(crate) fn read_bounded(file: File, bytes_max: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= bytes_max).then_some(bytes)
}
