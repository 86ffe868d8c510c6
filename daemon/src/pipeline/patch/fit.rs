//! The check that the tool's copy of a folder fits into `/out`, before the request is used up. The
//! sizes are those of the staged folder, so that no other process can change them.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat, statat};
use spool::{Staged, io_text};
use validator::{Code, Violation};

use super::original::{OriginalFolder, open_beneath};
use crate::model::DaemonError;
use crate::pipeline::model::PipelineStep;
use crate::pipeline::request_context::RequestContext;
use crate::prewarm::PrewarmedSandbox;

/// A target of fewer bytes is stored with its link.
const SHORT_TARGET_BYTES: u64 = 128;
/// `/out` itself, and the directory of the copy.
const DIRECTORIES: u64 = 2;

/// Returns the unit in which `/out` stores bytes: a page of memory.
fn block_bytes() -> u64 {
    u64::try_from(rustix::param::page_size()).unwrap_or(4096)
}

/// The space that the copy of a folder takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CopySize {
    pub(super) bytes: u64,
    /// Files, directories and links.
    pub(super) inodes: u64,
}

impl CopySize {
    /// Measures a folder. Its depth is limited.
    pub(super) fn of(folder: &OwnedFd) -> io::Result<Self> {
        let mut size = Self { bytes: 0, inodes: DIRECTORIES };
        let mut levels = vec![Dir::read_from(folder)?];
        while let Some(level) = levels.last_mut() {
            let Some(entry) = level.read() else {
                levels.pop();
                continue;
            };
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = statat(level.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            size.add(&stat);
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                let name = entry.file_name().to_str().map_err(io::Error::other)?;
                let below = open_beneath(level.fd()?, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
                levels.push(Dir::new(below)?);
            }
        }
        Ok(size)
    }

    fn add(&mut self, stat: &Stat) {
        let length = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let is_stored = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => true,
            FileType::Symlink => length >= SHORT_TARGET_BYTES,
            _ => false,
        };
        if is_stored {
            let block = block_bytes();
            let stored = length.div_ceil(block).saturating_mul(block);
            self.bytes = self.bytes.saturating_add(stored);
        }
        self.inodes = self.inodes.saturating_add(1);
    }

    /// Returns the violation of a folder whose copy leaves no byte or no inode of `/out` free: the
    /// kernel fails a write before the last page of `/out`, and the tool needs space too.
    pub(super) fn violation(self, folder: &str, limit: Self) -> Option<Violation> {
        let (needed, most, unit, remedy) = if self.bytes >= limit.bytes {
            let remedy = "memory_limit_mb, or limits.out_percent in the policy";
            (self.bytes, limit.bytes, "bytes", remedy)
        } else if self.inodes >= limit.inodes {
            let remedy = "limits.out_inodes_max in the policy";
            (self.inodes, limit.inodes, "inodes", remedy)
        } else {
            return None;
        };
        let message = format!(
            "the folder `{folder}/`: its copy needs {needed} {unit} in /out, which holds {most} \
             and must not be full"
        );
        let hint = format!("leave out what is not needed, or raise {remedy}");
        Some(Violation::error(Code::LimitsOverPolicy, message).hint(hint))
    }
}

impl RequestContext<'_> {
    /// Staged inputs → the same, of which the tool's copy fits into `/out`.
    pub(in crate::pipeline) fn check_copy_fits(
        &self,
        staged: Staged,
        ahead: Option<PrewarmedSandbox>,
        violations: &[Violation],
    ) -> Result<PipelineStep<(Staged, Option<PrewarmedSandbox>)>, DaemonError> {
        let Some(asked) = staged.approved().request().patch() else {
            return Ok(PipelineStep::Next((staged, ahead)));
        };
        let slot = self.host.spool.staging().join(staged.claimed().slot().as_str());
        let folder = OriginalFolder::open(&slot, asked.folder);
        let violation = match folder.and_then(|folder| CopySize::of(folder.top())) {
            Ok(size) => {
                let granted = staged.approved().grant().limits();
                let limit = CopySize { bytes: granted.out_bytes, inodes: granted.out_inodes };
                size.violation(asked.folder, limit)
            }
            Err(error) => {
                drop(ahead);
                let why = format!("{}/: measure the folder: {}", asked.folder, io_text(&error));
                let (approved, claimed) = staged.into_parts();
                return self
                    .record_setup_error(&approved, claimed, violations.to_vec(), &why)
                    .map(PipelineStep::end);
            }
        };
        match violation {
            None => Ok(PipelineStep::Next((staged, ahead))),
            Some(violation) => {
                drop(ahead);
                self.refuse_staged(staged, violations.to_vec(), violation)
            }
        }
    }
}
