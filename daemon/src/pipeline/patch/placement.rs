//! The file of a patch: written among the collected changes, and moved to its place when it is
//! complete. It must never replace a file.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use model::Sha256Stream;
use rustix::fs::{Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use rustix::io::Errno;

use super::original::open_beneath;

/// The name of an incomplete patch; those of the changes are numbers.
const NAME: &str = "patch";
const ARTIFACTS: &str = "artifacts";
/// The mode of a patch, as a record states it.
pub(super) const PATCH_MODE: u32 = 0o644;

/// A new patch, digested while it is written.
pub(super) struct HashedFile {
    file: File,
    sha256: Sha256Stream,
}

impl HashedFile {
    /// Creates the file in the directory of the changes.
    pub(super) fn create(work: &OwnedFd) -> io::Result<Self> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(work, NAME, flags, Mode::from_raw_mode(PATCH_MODE))?);
        Ok(Self { file, sha256: Sha256Stream::new() })
    }

    /// Returns the digest of the bytes.
    pub(super) fn finish(self) -> [u8; 32] {
        *self.sha256.finish().as_bytes()
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.file.write(bytes)?;
        self.sha256.update(bytes.get(..length).unwrap_or_default());
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Moves the complete patch to its path below `artifacts/`.
pub(super) fn place(work: &OwnedFd, result: BorrowedFd<'_>, path: &str) -> io::Result<()> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut parent = open_beneath(result, ARTIFACTS, directory)?;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return Ok(renameat_with(work, NAME, &parent, part, RenameFlags::NOREPLACE)?);
        }
        match mkdirat(&parent, part, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        parent = open_beneath(&parent, part, directory)?;
    }
    Err(io::ErrorKind::InvalidFilename.into())
}
