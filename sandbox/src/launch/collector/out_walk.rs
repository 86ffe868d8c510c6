//! The walk of `/out`: sends each regular file and rejects every other object.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use model::RejectReason;
use nix::fcntl::AtFlags;
use nix::sys::stat::{SFlag, fstatat};

use super::super::beneath::{DIRECTORY, FILE, kind_of, names_in};
use super::access::{file_fault, name_fault, open_own};
use super::sender::EvidenceSender;
use crate::plan::Limits;
use crate::work::WORK_DIRECTORY;

/// The files of `/out`, except the work copy, which has a walk of its own.
pub(super) struct OutWalk<'a, 'e> {
    sender: &'a mut EvidenceSender<'e>,
    limits: &'a Limits,
    skips_work: bool,
    files: u32,
}

impl<'a, 'e> OutWalk<'a, 'e> {
    pub(super) fn new(
        sender: &'a mut EvidenceSender<'e>,
        limits: &'a Limits,
        skips_work: bool,
    ) -> Self {
        Self { sender, limits, skips_work, files: 0 }
    }

    /// Returns false if the walk had to stop before its end.
    pub(super) fn walk(&mut self, top: &OwnedFd) -> io::Result<bool> {
        self.directory(top, &mut Vec::new(), 0)
    }

    fn directory(&mut self, opened: &OwnedFd, path: &mut Vec<u8>, depth: u32) -> io::Result<bool> {
        for name in names_in(opened)? {
            if depth == 0 && self.skips_work && name.to_bytes() == WORK_DIRECTORY.as_bytes() {
                continue;
            }
            let before = path.len();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            let goes_on = self.entry(opened, &name, path, depth)?;
            path.truncate(before);
            if !goes_on || self.sender.has_too_many_rejections() {
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
                    self.sender.file(path, mode, &file)?;
                    return Ok(true);
                }
                OutObject::Directory(opened) => return self.directory(&opened, path, depth + 1),
                OutObject::Rejected(reason) => reason,
            },
        };
        self.sender.rejected(path, reason)?;
        Ok(true)
    }

    fn object(&self, parent: &OwnedFd, name: &CStr, depth: u32) -> OutObject {
        let Ok(stat) = fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW) else {
            return OutObject::Rejected(RejectReason::Unreadable);
        };
        if kind_of(&stat) == SFlag::S_IFDIR {
            if depth + 1 > self.limits.artifact_depth_max {
                return OutObject::Rejected(RejectReason::TooDeep);
            }
            return match open_own(parent, name, DIRECTORY, 0o500, &stat) {
                Some(opened) => OutObject::Directory(opened),
                None => OutObject::Rejected(RejectReason::Unreadable),
            };
        }
        if let Some(reason) = file_fault(&stat, self.limits) {
            return OutObject::Rejected(reason);
        }
        if self.files >= self.limits.artifacts_max {
            return OutObject::Rejected(RejectReason::TooMany);
        }
        match open_own(parent, name, FILE, 0o400, &stat) {
            Some(file) => OutObject::File(file, stat.st_mode & 0o7777),
            None => OutObject::Rejected(RejectReason::Unreadable),
        }
    }
}

enum OutObject {
    File(OwnedFd, u32),
    Directory(OwnedFd),
    Rejected(RejectReason),
}
