//! Opening what the tool made, and the faults of its names and kinds. The type of an object is
//! checked before it is opened.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use model::RejectReason;
use nix::sys::stat::{FchmodatFlags, FileStat, Mode as FileMode, SFlag, fchmod, fchmodat};
use rustix::fs::OFlags;

use super::super::beneath::{DIRECTORY, kind_of, open_beneath};
use crate::plan::Limits;

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

pub(super) fn byte_size(stat: &FileStat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(u64::MAX)
}
