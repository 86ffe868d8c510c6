//! Opening what the tool made, and the faults of its names and kinds. The type of an object is
//! checked before it is opened.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use model::RejectReason;
use nix::sys::stat::{FchmodatFlags, FileStat, Mode as FileMode, SFlag, fchmod, fchmodat};
use rustix::fs::OFlags;

use super::super::beneath::{DIRECTORY, kind_of, open_beneath};
use crate::plan::{Limits, WORK_FILE_BYTES_MAX};
use crate::work::{is_link_refused_by_git, is_refused_by_git};

/// The longest path below `/out`, bytes.
pub(super) const PATH_BYTES_MAX: usize = 512;

/// Opens `/out` itself; the tool may have removed all permissions, including the owner's.
pub(super) fn open_top(out: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    open_beneath(out, c".", DIRECTORY).or_else(|_| {
        fchmod(out, FileMode::S_IRWXU)?;
        Ok(open_beneath(out, c".", DIRECTORY)?)
    })
}

/// Opens an object. If its mode forbids that, this process, its owner, adds the permission first.
pub(super) fn open_own(
    parent: &OwnedFd,
    name: &CStr,
    kind: OFlags,
    needed: u32,
    stat: &FileStat,
) -> Option<OwnedFd> {
    if let Ok(opened) = open_beneath(parent, name, kind) {
        return Some(opened);
    }
    let mode = FileMode::from_bits_truncate((stat.st_mode & 0o777) | needed);
    fchmodat(parent, name, mode, FchmodatFlags::FollowSymlink).ok()?;
    open_beneath(parent, name, kind).ok()
}

pub(super) fn name_fault(path: &[u8]) -> Option<RejectReason> {
    let Ok(text) = std::str::from_utf8(path) else {
        return Some(RejectReason::NameNotUtf8);
    };
    if path.len() > PATH_BYTES_MAX {
        Some(RejectReason::NameTooLong)
    } else if text.chars().any(model::is_deceptive) {
        Some(RejectReason::NameControl)
    } else {
        None
    }
}

/// Returns the fault of an object that cannot be a directory: of its kind, links or size.
pub(super) fn file_fault(stat: &FileStat, limits: &Limits) -> Option<RejectReason> {
    let kind = kind_of(stat);
    if kind == SFlag::S_IFLNK {
        Some(RejectReason::Symlink)
    } else if kind == SFlag::S_IFIFO {
        Some(RejectReason::Fifo)
    } else if kind == SFlag::S_IFSOCK {
        Some(RejectReason::Socket)
    } else if kind != SFlag::S_IFREG {
        Some(RejectReason::Device)
    } else if stat.st_nlink > 1 {
        Some(RejectReason::Hardlink)
    } else if byte_size(stat) > limits.out_bytes_max {
        Some(RejectReason::Sparse)
    } else {
        None
    }
}

/// Returns the fault of a difference, apart from the new version of the file: of its path below
/// `/out`, or of its original. A patch cannot have either.
pub(super) fn difference_fault(path: &[u8], original: Option<&FileStat>) -> Option<RejectReason> {
    let is_link = original.is_some_and(|stat| kind_of(stat) == SFlag::S_IFLNK);
    let is_refused = is_refused_by_git(path) || (is_link && is_link_refused_by_git(path));
    let too_big = original.is_some_and(is_above_work_limit);
    name_fault(path)
        .or(is_refused.then_some(RejectReason::Reserved))
        .or(too_big.then_some(RejectReason::TooBig))
}

/// Returns the fault of the new version of a file.
pub(super) fn version_fault(stat: &FileStat, limits: &Limits) -> Option<RejectReason> {
    file_fault(stat, limits).or(is_above_work_limit(stat).then_some(RejectReason::TooBig))
}

fn is_above_work_limit(stat: &FileStat) -> bool {
    byte_size(stat) > WORK_FILE_BYTES_MAX
}

pub(super) fn byte_size(stat: &FileStat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(u64::MAX)
}
