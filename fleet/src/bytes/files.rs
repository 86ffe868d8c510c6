//! Files of this host that others may write to, read by handle. Nothing here follows a link or
//! waits for a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use model::{Sha256, Sha256Stream};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open};
use spool::open_beneath;

use super::error::ByteStoreError;

const BUFFER_BYTES: usize = 256 * 1024;
const EXECUTE_BITS: u32 = 0o111;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Runs work that blocks on a thread for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ByteStoreError> + Send + 'static,
) -> Result<T, ByteStoreError> {
    let done = crate::blocking::blocking(work).await;
    done.map_err(|error| {
        ByteStoreError::io(Path::new("a thread"), "wait for")(io::Error::other(error))
    })?
}

/// Opens a directory, whose last component may not be a link.
pub(super) fn open_directory(path: &Path) -> Result<OwnedFd, ByteStoreError> {
    open(path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
        .map_err(ByteStoreError::io(path, "open"))
}

/// Opens a directory beneath another one.
pub(super) fn open_directory_beneath(
    directory: impl AsFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    open_beneath(directory, name, DIRECTORY)
}

/// Opens a regular file beneath a directory.
pub(super) fn open_regular(directory: impl AsFd, name: &str) -> io::Result<(File, Stat)> {
    let file = open_beneath(directory, name, OFlags::RDONLY)?;
    let stat = fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((File::from(file), stat)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Returns the size of a file.
pub(super) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(u64::MAX)
}

/// Returns whether any execute bit is set.
pub(super) fn is_executable(stat: &Stat) -> bool {
    stat.st_mode & EXECUTE_BITS != 0
}

/// Hashes to the end. Returns the digest and the number of bytes, or `None` if there are more than
/// `bytes_max`.
pub(super) fn hash(from: impl Read, bytes_max: u64) -> io::Result<Option<(Sha256, u64)>> {
    let mut limited = from.take(bytes_max.saturating_add(1));
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut hash, mut total) = (Sha256Stream::new(), 0);
    loop {
        let read = match limited.read(&mut buffer) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        hash.update(buffer.get(..read).unwrap_or_default());
        total += u64::try_from(read).unwrap_or(u64::MAX);
    }
    Ok((total <= bytes_max).then(|| (hash.finish(), total)))
}
