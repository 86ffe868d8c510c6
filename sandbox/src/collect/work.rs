//! The differences between a folder and its work copy, as the collector sends them. Each changed
//! file is copied to `work/<n>`: no name of the tool is ever created on the host.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::{RejectReason, is_deceptive};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};

use super::checks::{checked_size, is_below, open_directory};
use crate::copy::copy_and_hash;
use crate::plan::{CHANGES_MAX, WORK_FILE_BYTES_MAX};
use crate::report::{ChangedFile, WorkChanges};
use crate::work::{WORK_DIRECTORY, is_refused_by_git};

/// The differences so far, and the directory of the changed files.
pub(super) struct WorkCollection {
    /// `work/` of the result.
    directory: OwnedFd,
    changes: WorkChanges,
    seen: HashSet<String>,
}

impl WorkCollection {
    /// Creates `work/` in `result`, for the owner alone.
    pub(super) fn new(result: BorrowedFd<'_>) -> io::Result<Self> {
        mkdirat(result, WORK_DIRECTORY, Mode::from_raw_mode(0o700))?;
        let directory = open_directory(result, WORK_DIRECTORY)?;
        Ok(Self { directory, changes: WorkChanges::default(), seen: HashSet::new() })
    }

    /// Accepts the path of one more difference. `None`: no honest collector sends it.
    pub(super) fn accept(&mut self, path: &[u8]) -> Option<String> {
        let is_plain = |path: &&str| is_below(path) && !is_refused_by_git(path.as_bytes());
        let path = std::str::from_utf8(path).ok().filter(is_plain)?;
        let few = u32::try_from(self.seen.len()).is_ok_and(|seen| seen < CHANGES_MAX);
        (few && self.seen.insert(path.to_owned())).then(|| path.to_owned())
    }

    /// Copies a changed file, at most `bytes_max` bytes. Returns its size, or the file's fault.
    pub(super) fn change(
        &mut self,
        path: String,
        mode: u32,
        file: &OwnedFd,
        bytes_max: u64,
    ) -> io::Result<Result<u64, RejectReason>> {
        if path.chars().any(is_deceptive) {
            return Ok(Err(RejectReason::NameControl));
        }
        let bytes_max = bytes_max.min(WORK_FILE_BYTES_MAX);
        match checked_size(file) {
            Err(reason) => return Ok(Err(reason)),
            Ok(size) if size > bytes_max => return Ok(Err(RejectReason::TooBig)),
            Ok(_) => {}
        }
        let number = self.changes.changed.len().to_string();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let copy = openat(&self.directory, &number, flags, Mode::from_raw_mode(0o600))?;
        let (size_bytes, _) = copy_and_hash(file.as_fd(), copy.as_fd(), bytes_max)?;
        if size_bytes > bytes_max {
            unlinkat(&self.directory, &number, AtFlags::empty())?;
            return Ok(Err(RejectReason::TooBig));
        }
        let executable = mode & 0o111 != 0;
        self.changes.changed.push(ChangedFile { path, executable, size_bytes });
        Ok(Ok(size_bytes))
    }

    pub(super) fn remove(&mut self, path: String) {
        self.changes.removed.push(path);
    }

    pub(super) fn into_changes(self) -> WorkChanges {
        self.changes
    }
}
