//! The mounts of the guest. The tool sees the root image, `/in`, `/out`, `/tmp`, `/proc` and a few
//! device nodes; only `/out` and `/tmp` are writable for it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sys::stat::{Mode, SFlag, makedev, mknod, umask};

use super::devices::disk;
use super::failure::InitFailure;
use crate::archive::PAGE_BYTES;

/// The root of the tool.
pub(super) const TOOL_ROOT: &str = "/root-image";
pub(super) const OUT: &str = "/root-image/out";
/// User and group of the tool.
pub(super) const TOOL_ID: u32 = 65534;

const PLAIN: MsFlags = MsFlags::MS_NODEV.union(MsFlags::MS_NOSUID).union(MsFlags::MS_NOEXEC);
const IMAGE: MsFlags = MsFlags::MS_RDONLY.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOSUID);

/// Mounts the kernel's own views, which the tool does not see.
pub(super) fn mount_kernel_views() -> Result<(), InitFailure> {
    umask(Mode::empty());
    mount_at("devtmpfs", "/dev", "devtmpfs", MsFlags::empty(), "")?;
    mount_at("proc", "/proc", "proc", PLAIN, "")?;
    mount_at("sysfs", "/sys", "sysfs", PLAIN, "")
}

/// Mounts everything that the tool sees. `memory_bytes` is the limit of its group.
pub(super) fn mount_tool_root(
    out_bytes: u64,
    out_inodes: u64,
    memory_bytes: u64,
) -> Result<(), InitFailure> {
    mount_disk("root", TOOL_ROOT, IMAGE)?;
    mount_disk("in", "/root-image/in", IMAGE.union(MsFlags::MS_NOEXEC))?;
    // The directory itself is an inode too.
    let inodes = out_inodes.saturating_add(1);
    let options =
        format!("size={out_bytes},nr_inodes={inodes},mode=755,uid={TOOL_ID},gid={TOOL_ID}");
    mount_at("out", OUT, "tmpfs", PLAIN, &options)?;
    mount_at("tmp", "/root-image/tmp", "tmpfs", PLAIN, &shared_options(memory_bytes / 2))?;
    mount_at("proc", "/root-image/proc", "proc", PLAIN, "")?;
    device_nodes("/root-image/dev", &shared_options(memory_bytes / 4))
}

/// Returns the options of a directory for every user. A size of 0 would not limit it.
fn shared_options(bytes: u64) -> String {
    format!("size={},mode=1777", bytes.max(PAGE_BYTES))
}

fn mount_disk(serial: &str, target: &str, flags: MsFlags) -> Result<(), InitFailure> {
    let device = disk(serial)?;
    let mounted = mount(Some(&device), target, Some("erofs"), flags, None::<&str>);
    mounted.map_err(InitFailure::at(&format!("mount {target}")))
}

fn mount_at(
    source: &str,
    target: &str,
    kind: &str,
    flags: MsFlags,
    options: &str,
) -> Result<(), InitFailure> {
    let mounted = mount(Some(source), target, Some(kind), flags, Some(options));
    mounted.map_err(InitFailure::at(&format!("mount {target}")))
}

/// Makes the nodes that programs expect. Disks, ports and the console are not among them.
fn device_nodes(directory: &str, shared: &str) -> Result<(), InitFailure> {
    let flags = MsFlags::MS_NOSUID.union(MsFlags::MS_NOEXEC);
    mount_at("dev", directory, "tmpfs", flags, "size=64k,nr_inodes=32,mode=755")?;
    let directory = Path::new(directory);
    let mode = Mode::from_bits_truncate(0o666);
    for (name, minor) in [("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)] {
        let made = mknod(&directory.join(name), SFlag::S_IFCHR, mode, makedev(1, minor));
        made.map_err(InitFailure::at(name))?;
    }
    for (name, target) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
        let made = symlink(format!("/proc/self/fd{target}"), directory.join(name));
        made.map_err(InitFailure::at(name))?;
    }
    let place = directory.join("shm");
    fs::create_dir(&place).map_err(InitFailure::at("shm"))?;
    let mounted = mount(Some("shm"), &place, Some("tmpfs"), PLAIN, Some(shared));
    mounted.map_err(InitFailure::at("mount shm"))
}
