//! The cell's `/proc`: the tool's own processes, and where the policy says so what the kernel tells of
//! the machine.
//!
//! The whole of `/proc` is a view of the host: its command line, its symbols, its disks and interrupts.
//! What is shown of it is listed here by name and everything else is covered, so that a file of a later
//! kernel is hidden until somebody decides otherwise.

use std::fs::{DirEntry, read_dir};
use std::path::Path;

use rustix::mount::{MountFlags, mount};

use super::Failed;
use super::view::{NO_EXEC, NO_SETUID, READ_ONLY, attach, host_tree};
use crate::plan::ProcView;
use crate::report::Layer;

/// What runtimes ask the machine: how many processors and how busy, how much memory, which kernel.
/// `sys` is readable and, behind Landlock and without capabilities, never writable.
const SHOWN: [&str; 8] =
    ["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version"];

/// Mounts `/proc` for the pid namespace of this process.
pub(super) fn mount_proc(place: &Path, view: ProcView) -> Result<(), Failed> {
    let options = match view {
        // Init reads its own state there; without a Landlock rule the tool reads nothing.
        ProcView::None | ProcView::Pid => c"hidepid=invisible,subset=pid",
        ProcView::Full => c"hidepid=invisible",
    };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", place, "proc", flags, options)
        .map_err(Failed::without(Layer::Mounts, "mount /proc"))?;
    if view == ProcView::Full {
        cover_the_rest(place)?;
    }
    Ok(())
}

fn cover_the_rest(place: &Path) -> Result<(), Failed> {
    for entry in read_dir(place).map_err(Failed::at("list /proc"))? {
        cover(&entry.map_err(Failed::at("list /proc"))?)?;
    }
    Ok(())
}

fn cover(entry: &DirEntry) -> Result<(), Failed> {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_process = name.bytes().all(|b| b.is_ascii_digit());
    let kind = entry.file_type().map_err(Failed::at("look at an entry of /proc"))?;
    // The links (`self`, `net`, `mounts`) lead into a process's own directory.
    if is_process || kind.is_symlink() || SHOWN.contains(&name.as_ref()) {
        return Ok(());
    }
    if kind.is_dir() {
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        let options = c"size=4k,nr_inodes=1,mode=0555";
        return mount("tmpfs", entry.path(), "tmpfs", flags | MountFlags::NOEXEC, options)
            .map_err(Failed::without(Layer::Mounts, &format!("cover /proc/{name}")));
    }
    let empty = host_tree(Path::new("/dev/null"), READ_ONLY | NO_SETUID | NO_EXEC)?;
    attach(&empty, &entry.path())
}
