//! The daemon's side of collecting: receives descriptors and makes private copies with digests.
//!
//! Names and types come from a process with the tool's uid, so this module checks them again. It
//! only creates names, component by component, in a directory of its own. It never looks a name up
//! in a directory that the tool could have written. `checks` has the checks, `work` the differences
//! in a work copy.

mod checks;
#[cfg(test)]
mod tests;
mod work;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::{RejectReason, is_deceptive};
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::copy::{CopiedBytes, copy_and_hash};
use crate::plan::{Limits, WorkCopy};
use crate::report::{CollectedArtifact, CollectedOutput, RejectedObject};
use crate::work::WORK_DIRECTORY;
use checks::{checked_size, is_below, open_directory, printable};
use work::WorkCollection;

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
    work: Option<WorkCollection>,
    /// The path of the file that TOOL-EXEC itself writes, if any.
    reserved: Option<String>,
    /// The longest that one file may be; `file_full` says whether a file reached it.
    file_bytes_max: u64,
    file_full: bool,
    /// Of artifacts and changed files together: both were in `/out`.
    bytes_left: u64,
    files_left: u32,
    /// Every artifact can be rejected here. An honest collector exceeds this number only for a tool
    /// that changes many files which do not fit; the walk then counts as incomplete.
    rejections_left: u32,
    depth_max: u32,
}

impl Collection {
    /// Creates `artifacts/` in `result`, the directory in which the result is gathered, and with a
    /// work copy also `work/`.
    pub(crate) fn new(
        result: BorrowedFd<'_>,
        limits: &Limits,
        work: Option<WorkCopy>,
    ) -> io::Result<Self> {
        mkdirat(result, "artifacts", Mode::from_raw_mode(0o755))?;
        let directory = open_directory(result, "artifacts")?;
        let reserved = work.map(|work| work.patch);
        let work = reserved.is_some().then(|| WorkCollection::new(result)).transpose()?;
        Ok(Self {
            directory,
            collected: CollectedOutput::default(),
            seen: HashSet::new(),
            work,
            reserved,
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

    /// Receives a file of the work copy that is new or differs. A path that no honest collector
    /// sends ends the trust in it.
    pub(crate) fn changed(
        &mut self,
        path: &[u8],
        mode: u32,
        file: &OwnedFd,
    ) -> io::Result<CollectorState> {
        let Some(work) = &mut self.work else { return Ok(CollectorState::Untrusted) };
        let Some(name) = work.accept(path) else { return Ok(CollectorState::Untrusted) };
        match work.change(name, mode, file, self.bytes_left)? {
            Ok(size_bytes) => {
                self.bytes_left -= size_bytes;
                self.file_full |= size_bytes >= self.file_bytes_max;
                Ok(CollectorState::Trusted)
            }
            Err(reason) => {
                let below = [WORK_DIRECTORY.as_bytes(), b"/", path].concat();
                Ok(self.reject(&below, reason))
            }
        }
    }

    /// Receives the path of a file or link that the work copy no longer has.
    pub(crate) fn removed(&mut self, path: &[u8]) -> CollectorState {
        let Some(work) = &mut self.work else { return CollectorState::Untrusted };
        let Some(name) = work.accept(path) else { return CollectorState::Untrusted };
        work.remove(name);
        CollectorState::Trusted
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

    /// Returns whether the tool has a work copy.
    pub(crate) fn has_work(&self) -> bool {
        self.work.is_some()
    }

    pub(crate) fn into_collected(self) -> CollectedOutput {
        CollectedOutput { work: self.work.map(WorkCollection::into_changes), ..self.collected }
    }

    fn accept(&mut self, path: &[u8], file: &OwnedFd) -> Result<String, RejectReason> {
        let name = std::str::from_utf8(path).map_err(|_| RejectReason::NameNotUtf8)?;
        if name.chars().any(is_deceptive) || !is_below(name) {
            return Err(RejectReason::NameControl);
        }
        if self.reserved.as_deref().is_some_and(|reserved| collide(reserved, name)) {
            return Err(RejectReason::Reserved);
        }
        let depth = u32::try_from(name.split('/').count()).unwrap_or(u32::MAX) - 1;
        if depth > self.depth_max {
            return Err(RejectReason::TooDeep);
        }
        if self.files_left == 0 {
            return Err(RejectReason::TooMany);
        }
        let size = checked_size(file)?;
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

/// Returns whether two files cannot both exist: the paths are equal, or one is below the other.
fn collide(one: &str, other: &str) -> bool {
    let below = |path: &str, top: &str| {
        path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below(one, other) || below(other, one)
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
