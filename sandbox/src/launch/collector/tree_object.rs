//! One object of a folder or of its work copy, as it is found by name. It must never be looked at
//! through a link.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, SFlag, fstatat};

use super::super::beneath::kind_of;

/// An object found in one of the two trees.
#[derive(Clone, Copy)]
pub(super) struct TreeObject<'a> {
    pub(super) parent: &'a OwnedFd,
    pub(super) stat: FileStat,
}

impl TreeObject<'_> {
    pub(super) fn is_directory(&self) -> bool {
        kind_of(&self.stat) == SFlag::S_IFDIR
    }

    pub(super) fn is_other(&self) -> bool {
        !self.is_directory()
    }
}

/// The same name in both trees, if it exists there.
#[derive(Clone, Copy)]
pub(super) struct ObjectPair<'a> {
    pub(super) original: Option<TreeObject<'a>>,
    pub(super) copy: Option<TreeObject<'a>>,
}

/// Returns the object with this name, if the directory and the object exist.
pub(super) fn find<'a>(
    parent: Option<&'a OwnedFd>,
    name: &CStr,
) -> io::Result<Option<TreeObject<'a>>> {
    let Some(parent) = parent else { return Ok(None) };
    match fstatat(parent, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(TreeObject { parent, stat })),
        Err(Errno::ENOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}
