//! The collector walks `/out` and sends each regular file to the daemon as a read-only descriptor.
//! It is a process of its own, forked when the sandbox's tree is dead, with the tool's uid and
//! filters, no capability, Landlock restrictions and a deadline, and outside the sandbox's control
//! group, which the tool may have left full. It checks a type before it opens a file, follows no
//! link, and limits entries, depth and bytes. The daemon trusts nothing that it sends.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::RejectReason;
use nix::dir::Dir;
use nix::fcntl::AtFlags;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::stat::{FchmodatFlags, FileStat, Mode as FileMode, SFlag, fchmod, fchmodat, fstatat};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use super::filter::Filters;
use super::identity::ToolIdentity;
use super::{Failed, confine};
use crate::messages::EvidenceMessage;
use crate::plan::Limits;
use crate::sys::{self, ClonedChild, Fork};
use crate::wire;

/// The longest path below `/out`, bytes.
const PATH_BYTES_MAX: usize = 512;
/// The most rejections that are sent; the walk then ends as incomplete.
const REJECTED_MAX: u32 = 1000;

/// Forks the collector, which ends by itself when it has sent everything.
pub(super) fn fork(
    out: BorrowedFd<'_>,
    evidence: &OwnedFd,
    limits: &Limits,
    identity: ToolIdentity,
    mode: model::LauncherMode,
    filters: &Filters,
) -> io::Result<ClonedChild> {
    match sys::clone_process(0)? {
        Fork::Child => {
            let collected = give_up_rights(out, evidence, identity, mode, filters)
                .map_err(|failed| failed.to_string())
                .and_then(|()| collect(out, evidence, limits).map_err(|error| error.to_string()));
            if let Err(why) = &collected {
                eprintln!("toolexec-launch: collector: {why}");
            }
            std::process::exit(i32::from(collected.is_err()))
        }
        Fork::Parent(cloned) => Ok(cloned),
    }
}

/// Becomes the tool's user permanently, with only the two descriptors open.
fn give_up_rights(
    out: BorrowedFd<'_>,
    evidence: &OwnedFd,
    identity: ToolIdentity,
    mode: model::LauncherMode,
    filters: &Filters,
) -> Result<(), Failed> {
    sys::close_all_but(&[out, evidence.as_fd()]).map_err(Failed::at("close other descriptors"))?;
    identity.assume(mode)?;
    confine::drop_capabilities()?;
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failed::at("set the parent-death signal"))?;
    prctl::set_no_new_privs().map_err(Failed::at("set no_new_privs"))?;
    confine::landlock_only(out)?;
    filters.load_for_collector()
}

/// Walks `/out` and sends its files, ending with `EvidenceMessage::End`.
fn collect(out: BorrowedFd<'_>, evidence: &OwnedFd, limits: &Limits) -> io::Result<()> {
    let mut walk = OutWalk { evidence, limits, files: 0, rejected: 0 };
    let complete = match open_top(out) {
        Ok(top) => walk.directory(top, &mut Vec::new(), 0)?,
        Err(_) => false,
    };
    wire::send(evidence, &EvidenceMessage::End { complete }.encode(), &[])
}

/// Sends the answer for an empty `/out`. The launcher calls it itself and does not block.
pub(super) fn send_empty(evidence: &OwnedFd) -> io::Result<()> {
    wire::send_at_once(evidence, &EvidenceMessage::End { complete: true }.encode(), &[])
}

const DIRECTORY: OFlags = OFlags::DIRECTORY;
/// Opening a file that turns out not to be regular must not block.
const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Opens a name in this directory for reading; follows no link, enters no mount (openat2(2)).
fn open_in(parent: impl AsFd, name: &CStr, kind: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let flags = kind | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(parent, name, flags, Mode::empty(), resolve)
}

/// Opens `/out` itself; the tool may have removed all permissions, including the owner's.
fn open_top(out: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    open_in(out, c".", DIRECTORY).or_else(|_| {
        fchmod(out, FileMode::S_IRWXU)?;
        Ok(open_in(out, c".", DIRECTORY)?)
    })
}

struct OutWalk<'a> {
    evidence: &'a OwnedFd,
    limits: &'a Limits,
    files: u32,
    rejected: u32,
}

impl OutWalk<'_> {
    /// Returns false if the walk had to stop before its end.
    fn directory(&mut self, opened: OwnedFd, path: &mut Vec<u8>, depth: u32) -> io::Result<bool> {
        let mut names = Vec::new();
        let mut listing = Dir::from_fd(opened.try_clone()?)?;
        for entry in listing.iter() {
            let name = entry?.file_name().to_owned();
            if !matches!(name.to_bytes(), b"." | b"..") {
                names.push(name);
            }
        }
        // The order of the file system is arbitrary; the record's order must be reproducible.
        names.sort();
        for name in names {
            let before = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            let goes_on = self.entry(&opened, &name, path, depth)?;
            path.truncate(before);
            if !goes_on || self.rejected > REJECTED_MAX {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn entry(
        &mut self,
        parent: &OwnedFd,
        name: &CStr,
        path: &mut Vec<u8>,
        depth: u32,
    ) -> io::Result<bool> {
        let reason = match name_fault(path) {
            Some(reason) => reason,
            None => match self.object(parent, name, depth) {
                OutObject::File(file, mode) => {
                    self.files += 1;
                    let frame = EvidenceMessage::File { path: path.clone(), mode };
                    wire::send(self.evidence, &frame.encode(), &[file.as_fd()])?;
                    return Ok(true);
                }
                OutObject::Directory(opened) => return self.directory(opened, path, depth + 1),
                OutObject::Rejected(reason) => reason,
            },
        };
        self.rejected += 1;
        let path = path[..path.len().min(PATH_BYTES_MAX)].to_vec();
        wire::send(self.evidence, &EvidenceMessage::Rejected { path, reason }.encode(), &[])?;
        Ok(true)
    }

    fn object(&self, parent: &OwnedFd, name: &CStr, depth: u32) -> OutObject {
        let Ok(stat) = fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW) else {
            return OutObject::Rejected(RejectReason::Unreadable);
        };
        let kind = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits());
        if kind == SFlag::S_IFDIR {
            if depth + 1 > self.limits.artifact_depth_max {
                return OutObject::Rejected(RejectReason::TooDeep);
            }
            return match open_own(parent, name, DIRECTORY, 0o500, &stat) {
                Some(opened) => OutObject::Directory(opened),
                None => OutObject::Rejected(RejectReason::Unreadable),
            };
        }
        if let Some(reason) = self.file_fault(kind, &stat) {
            return OutObject::Rejected(reason);
        }
        match open_own(parent, name, FILE, 0o400, &stat) {
            Some(file) => OutObject::File(file, stat.st_mode & 0o7777),
            None => OutObject::Rejected(RejectReason::Unreadable),
        }
    }

    fn file_fault(&self, kind: SFlag, stat: &FileStat) -> Option<RejectReason> {
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
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
        } else if size > self.limits.out_bytes_max {
            Some(RejectReason::Sparse)
        } else if self.files >= self.limits.artifacts_max {
            Some(RejectReason::TooMany)
        } else {
            None
        }
    }
}

enum OutObject {
    File(OwnedFd, u32),
    Directory(OwnedFd),
    Rejected(RejectReason),
}

/// Opens an object. If its mode forbids that, this process, its owner, adds the permission first.
fn open_own(
    parent: &OwnedFd,
    name: &CStr,
    kind: OFlags,
    needed: u32,
    stat: &FileStat,
) -> Option<OwnedFd> {
    if let Ok(opened) = open_in(parent, name, kind) {
        return Some(opened);
    }
    let mode = FileMode::from_bits_truncate((stat.st_mode & 0o777) | needed);
    fchmodat(parent, name, mode, FchmodatFlags::FollowSymlink).ok()?;
    open_in(parent, name, kind).ok()
}

fn name_fault(path: &[u8]) -> Option<RejectReason> {
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
