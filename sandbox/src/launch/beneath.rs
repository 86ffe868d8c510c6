//! Reading directories beneath an open one: the names in them, and objects by name. No link is
//! followed and no other mount is entered.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::dir::Dir;
use nix::sys::stat::{FileStat, SFlag};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::path::Arg;

pub(super) const DIRECTORY: OFlags = OFlags::DIRECTORY;
/// Opening a file that turns out not to be regular must not block.
pub(super) const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Opens an object beneath this directory for reading (openat2(2)).
pub(super) fn open_beneath(
    parent: impl AsFd,
    path: impl Arg,
    kind: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let flags = kind | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(parent, path, flags, Mode::empty(), resolve)
}

/// Returns the names in a directory, in byte order: the order of the file system is arbitrary.
pub(super) fn names_in(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    let mut listing = Dir::from_fd(directory.try_clone()?)?;
    for entry in listing.iter() {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

pub(super) fn kind_of(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits())
}

/// Returns whether the file has an execute bit.
pub(super) fn is_executable(stat: &FileStat) -> bool {
    stat.st_mode & 0o111 != 0
}
