//! The parts that all threads of a copy share: its rules, its limits and its totals.

use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use model::Sha256;

use crate::digest::TreeSummary;
use crate::error::TreeError;
use crate::limits::TreeLimits;
use crate::links::LinkRule;

/// The rules of a copy, and its totals up to now.
#[derive(Clone, Copy)]
pub(super) struct CopyContext<'a> {
    pub(super) rule: LinkRule,
    pub(super) limits: &'a TreeLimits,
    pub(super) totals: &'a CopyTotals,
    /// The lowest position whose entry failed, or the greatest number.
    pub(super) failed: &'a AtomicUsize,
    /// The position of the present entry among those that two threads divide.
    pub(super) position: usize,
}

impl CopyContext<'_> {
    /// Fails if the other thread failed at a lower position: only that error is reported.
    pub(super) fn check_needed(&self, path: &str) -> Result<(), TreeError> {
        match self.failed.load(Ordering::Relaxed) < self.position {
            true => Err(TreeError::failed(path, "copy")(io::Error::from(ErrorKind::Interrupted))),
            false => Ok(()),
        }
    }

    /// Adds the size of a file that is about to be copied.
    pub(super) fn add_bytes(&self, bytes: u64, path: &str) -> Result<(), TreeError> {
        let bytes_max = self.limits.bytes_max;
        let before = self.totals.bytes.fetch_add(bytes, Ordering::Relaxed);
        match before.checked_add(bytes).is_some_and(|total| total <= bytes_max) {
            true => Ok(()),
            false => Err(TreeError::TooManyBytes { path: path.to_owned(), bytes_max }),
        }
    }
}

/// The totals of a copy.
#[derive(Default)]
pub(super) struct CopyTotals {
    pub(super) entries: AtomicU64,
    pub(super) files: AtomicU64,
    pub(super) directories: AtomicU64,
    pub(super) links: AtomicU64,
    bytes: AtomicU64,
}

impl CopyTotals {
    pub(super) fn into_summary(self, sha256: Sha256) -> TreeSummary {
        TreeSummary {
            sha256,
            files: self.files.into_inner(),
            directories: self.directories.into_inner(),
            links: self.links.into_inner(),
            bytes: self.bytes.into_inner(),
        }
    }
}

/// A directory and its copy, if there is one.
#[derive(Clone, Copy)]
pub(super) struct DirectoryPair<'a> {
    pub(super) from: BorrowedFd<'a>,
    pub(super) to: Option<BorrowedFd<'a>>,
    /// The components of the path of each entry.
    pub(super) depth: u32,
}
