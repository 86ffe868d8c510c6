//! The kernel's switch that keeps a memory file from evading `noexec` mounts.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;

use model::LauncherMode;
use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

const LEVEL: &str = "sys/vm/memfd_noexec";

/// Sets `vm.memfd_noexec` of this pid namespace (Linux 6.3). Only root can set it, and it is not a
/// layer of its own, so failure is not an error.
pub(super) fn forbid_execution(mode: LauncherMode) {
    if mode != LauncherMode::System {
        return;
    }
    if let Err(error) = set_level()
        && error.kind() != ErrorKind::NotFound
    {
        eprintln!("toolexec-launch: /proc/{LEVEL}: cannot be set: {error}");
    }
}

fn set_level() -> io::Result<()> {
    let mut level = match OpenOptions::new().write(true).open(format!("/proc/{LEVEL}")) {
        // Made so by `ProtectKernelTunables=` of the launcher's unit, or by a container.
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => writable_level()?,
        opened => opened?,
    };
    level.write_all(b"2")
}

/// Opens the file in a procfs that is mounted nowhere.
fn writable_level() -> io::Result<File> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let none = MountAttrFlags::empty();
    let procfs = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, none)?;
    let level = openat(procfs, LEVEL, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(File::from(level))
}
