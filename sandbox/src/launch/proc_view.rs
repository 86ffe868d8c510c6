//! The sandbox's `/proc`: the tool's own processes and, if the policy allows it, the kernel's view
//! of the machine. The whole of `/proc` shows the host: its command line, symbols, disks and
//! interrupts. The visible files are listed here and all others covered, so that a new file of a
//! later kernel stays hidden.

use std::fs::{DirEntry, read_dir};
use std::path::Path;

use model::Layer;
use rustix::mount::{MountFlags, mount};

use super::Failed;
use super::mount::{attach, copy_of};

/// Files that runtimes read about the machine: number and load of processors, memory, kernel
/// version. `sys` is readable, and never writable because of Landlock and missing capabilities.
const SHOWN: [&str; 8] =
    ["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys", "uptime", "version"];

const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Mounts a `/proc` with only the processes of this pid namespace. Init reads its own state there;
/// Landlock decides whether the tool may.
pub(super) fn mount_processes(place: &Path) -> Result<(), Failed> {
    mount("proc", place, "proc", FLAGS, c"hidepid=invisible,subset=pid")
        .map_err(Failed::without(Layer::Mounts, "mount /proc"))
}

/// Mounts over it a `/proc` that also has the files about the machine.
pub(super) fn show_machine(place: &Path) -> Result<(), Failed> {
    mount("proc", place, "proc", FLAGS, c"hidepid=invisible")
        .map_err(Failed::without(Layer::Mounts, "mount /proc"))?;
    cover_others(place)
}

fn cover_others(place: &Path) -> Result<(), Failed> {
    for entry in read_dir(place).map_err(Failed::at("list /proc"))? {
        cover(&entry.map_err(Failed::at("list /proc"))?)?;
    }
    Ok(())
}

fn cover(entry: &DirEntry) -> Result<(), Failed> {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_process = name.bytes().all(|b| b.is_ascii_digit());
    let kind = entry.file_type().map_err(Failed::at("stat an entry of /proc"))?;
    // The links (`self`, `net`, `mounts`) lead into a process's own directory.
    if is_process || kind.is_symlink() || SHOWN.contains(&name.as_ref()) {
        return Ok(());
    }
    if kind.is_dir() {
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        let options = c"size=4k,nr_inodes=1,mode=0555";
        return mount("tmpfs", entry.path(), "tmpfs", flags | MountFlags::NOEXEC, options)
            .map_err(Failed::without(Layer::Mounts, &format!("hide /proc/{name}")));
    }
    attach(&copy_of(Path::new("/dev/null"))?, &entry.path())
}
