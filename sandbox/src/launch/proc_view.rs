//! The cell's `/proc`: the tool's own processes, and where the policy says so what the kernel tells of
//! the machine.
//!
//! The whole of `/proc` is a view of the host: its command line, its symbols, its disks and interrupts.
//! What is shown of it is listed here by name and everything else is covered, so that a file of a later
//! kernel is hidden until somebody decides otherwise.

use std::fs::{DirEntry, read_dir};
use std::path::Path;

use model::Layer;
use rustix::mount::{MountFlags, mount};

use super::Failed;
use super::mount::{attach, copy_of};

/// What runtimes ask the machine: how many processors and how busy, how much memory, which kernel.
/// `sys` is readable and, behind Landlock and without capabilities, never writable.
const SHOWN: [&str; 8] =
    ["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version"];

const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Mounts the processes of this pid namespace and nothing else. Init reads its own state there; whether
/// the tool may is Landlock's to say.
pub(super) fn mount_processes(place: &Path) -> Result<(), Failed> {
    mount("proc", place, "proc", FLAGS, c"hidepid=invisible,subset=pid")
        .map_err(Failed::without(Layer::Mounts, "mount /proc"))
}

/// Mounts, over that, the processes with what runtimes ask of the machine.
pub(super) fn show_machine(place: &Path) -> Result<(), Failed> {
    mount("proc", place, "proc", FLAGS, c"hidepid=invisible")
        .map_err(Failed::without(Layer::Mounts, "mount /proc"))?;
    cover_the_rest(place)
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
    attach(&copy_of(Path::new("/dev/null"))?, &entry.path())
}
