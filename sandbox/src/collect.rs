//! The daemon's side of collecting: receives descriptors and makes private copies with digests.
//!
//! Names and types come from a process with the tool's uid, so this module checks them again. It
//! only creates names, component by component, in a directory of its own. It never looks a name up
//! in a directory that the tool could have written.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::{RejectReason, is_deceptive};
use rustix::fs::{FileType, Mode, OFlags, fstat, mkdirat, openat};
use rustix::io::Errno;

use crate::copy::{CopiedBytes, copy_and_hash};
use crate::plan::Limits;
use crate::report::{CollectedArtifact, CollectedOutput, RejectedObject};

/// Above the number of rejections that the collector itself reports: it stops after a thousand.
const REJECTIONS_MAX: u32 = 1024;
/// The longest path of a rejected object that is shown, bytes; the collector sends no longer one.
const SHOWN_BYTES_MAX: usize = 512;

/// The state of the collector: trusted, or its further messages are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectorState {
    Trusted,
    Untrusted,
}

/// The collected files of one result so far, and their directory.
pub(crate) struct Collection {
    /// `artifacts/` of the result.
    directory: OwnedFd,
    collected: CollectedOutput,
    seen: HashSet<String>,
    /// The longest that one file may be; `file_full` says whether a file reached it.
    file_bytes_max: u64,
    file_full: bool,
    bytes_left: u64,
    files_left: u32,
    /// Every file can be rejected here. An honest collector never sends more rejections than this.
    rejections_left: u32,
    depth_max: u32,
}

impl Collection {
    /// Creates `artifacts/` in `result`, the directory in which the result is gathered.
    pub(crate) fn new(result: BorrowedFd<'_>, limits: &Limits) -> io::Result<Self> {
        mkdirat(result, "artifacts", Mode::from_raw_mode(0o755))?;
        let directory = open_directory(result, "artifacts")?;
        Ok(Self {
            directory,
            collected: CollectedOutput::default(),
            seen: HashSet::new(),
            file_bytes_max: limits.file_bytes_max,
            file_full: false,
            bytes_left: limits.out_bytes_max,
            files_left: limits.artifacts_max,
            rejections_left: limits.artifacts_max.saturating_add(REJECTIONS_MAX),
            depth_max: limits.artifact_depth_max,
        })
    }

    /// Receives one file. A fault of the file becomes a rejection; an error is one of our own disk.
    pub(crate) fn file(
        &mut self,
        path: &[u8],
        mode: u32,
        file: &OwnedFd,
    ) -> io::Result<CollectorState> {
        let name = match self.accept(path, file) {
            Err(reason) => return Ok(self.reject(path, reason)),
            Ok(name) => name,
        };
        let (size_bytes, sha256) = self.copy(&name, file)?;
        if size_bytes > self.bytes_left {
            self.remove(&name)?;
            return Ok(self.reject(path, RejectReason::TooBig));
        }
        self.bytes_left -= size_bytes;
        self.files_left -= 1;
        let mode = mode & 0o7777;
        self.collected.artifacts.push(CollectedArtifact { path: name, size_bytes, mode, sha256 });
        Ok(CollectorState::Trusted)
    }

    /// Records a rejection. One above the maximum ends the trust in the collector.
    pub(crate) fn reject(&mut self, path: &[u8], reason: RejectReason) -> CollectorState {
        let Some(left) = self.rejections_left.checked_sub(1) else {
            return CollectorState::Untrusted;
        };
        self.rejections_left = left;
        let path = printable(&path[..path.len().min(SHOWN_BYTES_MAX)]);
        self.collected.rejected.push(RejectedObject { path, reason });
        CollectorState::Trusted
    }

    pub(crate) fn end(&mut self, complete: bool) {
        self.collected.complete = complete;
    }

    pub(crate) fn file_full(&self) -> bool {
        self.file_full
    }

    pub(crate) fn into_collected(self) -> CollectedOutput {
        self.collected
    }

    fn accept(&mut self, path: &[u8], file: &OwnedFd) -> Result<String, RejectReason> {
        let name = std::str::from_utf8(path).map_err(|_| RejectReason::NameNotUtf8)?;
        if name.chars().any(is_deceptive) {
            return Err(RejectReason::NameControl);
        }
        let plain = |part: &str| !matches!(part, "" | "." | "..");
        if !name.split('/').all(plain) {
            return Err(RejectReason::NameControl);
        }
        let depth = u32::try_from(name.split('/').count()).unwrap_or(u32::MAX) - 1;
        if depth > self.depth_max {
            return Err(RejectReason::TooDeep);
        }
        if self.files_left == 0 {
            return Err(RejectReason::TooMany);
        }
        let stat = fstat(file).map_err(|_| RejectReason::Unreadable)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(RejectReason::Device);
        }
        if stat.st_nlink > 1 {
            return Err(RejectReason::Hardlink);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        self.file_full |= size >= self.file_bytes_max;
        if size > self.bytes_left {
            return Err(RejectReason::TooBig);
        }
        if !self.seen.insert(name.to_owned()) {
            return Err(RejectReason::Hardlink);
        }
        Ok(name.to_owned())
    }

    fn copy(&self, name: &str, file: &OwnedFd) -> io::Result<CopiedBytes> {
        let (parent, last) = self.parent_of(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let copy = openat(parent.as_fd(), last, flags, Mode::from_raw_mode(0o644))?;
        copy_and_hash(file.as_fd(), copy.as_fd(), self.bytes_left)
    }

    fn parent_of<'a>(&self, name: &'a str) -> io::Result<(OwnedFd, &'a str)> {
        let mut parent = self.directory.try_clone()?;
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return Ok((parent, part));
            }
            match mkdirat(&parent, part, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            parent = open_directory(parent.as_fd(), part)?;
        }
        Err(io::Error::other("artifact: empty name"))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let (parent, last) = self.parent_of(name)?;
        Ok(rustix::fs::unlinkat(parent, last, rustix::fs::AtFlags::empty())?)
    }
}

fn open_directory(parent: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

pub(crate) fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Returns a name from the sandbox as text that is safe to show.
fn printable(path: &[u8]) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(path).chars() {
        if is_deceptive(c) || c == '\\' {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Limits;

    const LIMITS: Limits = Limits { artifacts_max: 10, ..Limits::SMALL };

    #[test]
    fn endless_rejections_end_collecting() {
        let place = std::env::temp_dir().join(format!("toolexec-collect-{}", std::process::id()));
        std::fs::create_dir(&place).unwrap();
        let result = std::fs::File::open(&place).unwrap();
        let mut collection = Collection::new(result.as_fd(), &LIMITS).unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        let name = vec![b'\n'; 4096];
        let believed = (0..100_000)
            .take_while(|_| collection.reject(&name, RejectReason::Fifo) == CollectorState::Trusted)
            .count();
        assert_eq!(believed, 10 + 1024);
        let collected = collection.into_collected();
        assert_eq!((collected.rejected.len(), collected.complete), (believed, false));
        let bytes: usize = collected.rejected.iter().map(|it| it.path.len()).sum();
        assert!(bytes <= believed * 512 * 6, "{bytes}");
    }

    #[test]
    fn deceptive_names_are_escaped() {
        assert_eq!(printable(b"plain.txt"), "plain.txt");
        assert_eq!(printable(b"a\nb"), "a\\u{a}b");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(printable("a\u{fe00}b\u{17b4}".as_bytes()), "a\\u{fe00}b\\u{17b4}");
        assert_eq!(printable(b"\xff"), "\u{fffd}");
    }
}
