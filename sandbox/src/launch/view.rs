//! What files there are in the cell: a root built from nothing.
//!
//! Everything that the tool can name is put here by hand; there is nothing to mask because nothing
//! else is mounted. Runs in the cell's own mount namespace, before any right is given up. It must
//! never follow a name that an order or a tool made: the slot is opened by id beneath the staging root
//! and compared with the directory that the daemon filled.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, mount_remount, move_mount, open_tree, unmount,
};

use super::Failed;
use super::proc_view::mount_proc;
use super::programs::Programs;
use crate::plan::{Plan, Slot, TmpUse};
use crate::report::Layer;
use crate::sys;

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(super) const NO_EXEC: u64 = libc::MOUNT_ATTR_NOEXEC;
const NO_LINKS: u64 = libc::MOUNT_ATTR_NOSYMFOLLOW;

/// The device nodes of the cell, bound from the host: mknod is not allowed in a user namespace.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// A file that exists, that file modes allow, and that no Landlock rule grants: see `probe`.
pub(super) const CANARY: &str = "/.canary";

/// Who the tool is, as the cell sees it.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Builds the cell's root and makes it the root of this process.
pub(super) fn build(
    plan: &Plan,
    staging: &Path,
    identity: Identity,
    sampled: bool,
) -> Result<(), Failed> {
    let layer = Layer::Mounts;
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).map_err(Failed::without(layer, "make mounts private"))?;
    // Everything of the host is opened before the new root is mounted over the staging directory.
    let inputs = input_tree(staging, &plan.slot)?;
    let programs = Programs::open(&plan.runtime)?;
    let devices = device_trees(sampled)?;
    let base = staging;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", base, "tmpfs", flags, c"size=1m,nr_inodes=1k,mode=0755")
        .map_err(Failed::without(layer, "mount the root"))?;
    for directory in ["in", "out", "tmp", "dev", "etc", "proc"] {
        make_dir(&base.join(directory))?;
    }
    make_file(&below(base, Path::new(CANARY)), b"")?;
    programs.attach(base)?;
    for (tree, name) in devices {
        let place = base.join("dev").join(name);
        make_file(&place, b"")?;
        attach(&tree, &place)?;
    }
    device_links(base)?;
    account_files(base, identity)?;
    attach(&inputs, &base.join("in"))?;
    writable_mounts(base, plan, identity)?;
    mount_proc(&base.join("proc"), plan.runtime.proc_view)?;
    enter(base)
}

/// Opens the slot by id beneath the staging root and takes a read-only tree of it.
fn input_tree(staging: &Path, slot: &Slot) -> Result<OwnedFd, Failed> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let staging =
        open(staging, directory, Mode::empty()).map_err(Failed::at("open the staging root"))?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened =
        openat2(&staging, slot.id.as_str(), directory | OFlags::NOFOLLOW, Mode::empty(), beneath)
            .map_err(Failed::at("open the staging slot"))?;
    let found = fstat(&opened).map_err(Failed::at("look at the staging slot"))?;
    if (found.st_dev, found.st_ino) != (slot.device, slot.inode) {
        let step = "the staging slot is not the directory that was filled".to_owned();
        return Err(Failed { layer: None, step, errno: 0 });
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(&opened, "", flags)
        .map_err(Failed::without(Layer::Mounts, "clone the staging slot"))?;
    sys::mount_setattr_tree(tree.as_fd(), READ_ONLY | NO_SETUID | NO_DEVICES | NO_EXEC | NO_LINKS)
        .map_err(Failed::without(Layer::Mounts, "make /in read-only"))?;
    Ok(tree)
}

pub(super) fn host_tree(path: &Path, attributes: u64) -> Result<OwnedFd, Failed> {
    // Recursive, because a user namespace may not uncover what other mounts hide.
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, path, flags)
        .map_err(Failed::without(Layer::Mounts, &format!("clone {}", path.display())))?;
    sys::mount_setattr_tree(tree.as_fd(), attributes)
        .map_err(Failed::without(Layer::Mounts, &format!("make {} read-only", path.display())))?;
    Ok(tree)
}

/// A shared mapping of /dev/zero is memory that sampling cannot see.
fn device_trees(sampled: bool) -> Result<Vec<(OwnedFd, &'static str)>, Failed> {
    let attributes = NO_SETUID | NO_EXEC;
    let tree = |name| Ok((host_tree(&Path::new("/dev").join(name), attributes)?, name));
    DEVICES.into_iter().filter(|name| !(sampled && *name == "zero")).map(tree).collect()
}

pub(super) fn attach(tree: &OwnedFd, target: &Path) -> Result<(), Failed> {
    move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(Failed::without(Layer::Mounts, &format!("attach {}", target.display())))
}

/// An absolute path of the host at its place below the new root.
pub(super) fn below(base: &Path, absolute: &Path) -> PathBuf {
    base.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

pub(super) fn make_dir(path: &Path) -> Result<(), Failed> {
    let made = DirBuilder::new().mode(0o755).recursive(true).create(path);
    made.map_err(Failed::at(&format!("make {}", path.display())))
}

pub(super) fn make_file(path: &Path, content: &[u8]) -> Result<(), Failed> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
    let written = made.and_then(|mut file| file.write_all(content));
    written.map_err(Failed::at(&format!("make {}", path.display())))
}

pub(super) fn make_link(target: impl AsRef<Path>, path: &Path) -> Result<(), Failed> {
    symlink(target, path).map_err(Failed::at(&format!("make {}", path.display())))
}

fn device_links(base: &Path) -> Result<(), Failed> {
    let dev = base.join("dev");
    make_link("/proc/self/fd", &dev.join("fd"))?;
    make_link("/proc/self/fd/0", &dev.join("stdin"))?;
    make_link("/proc/self/fd/1", &dev.join("stdout"))?;
    make_link("/proc/self/fd/2", &dev.join("stderr"))?;
    make_dir(&dev.join("shm"))
}

/// The few files without which runtimes cannot say who and where they are.
fn account_files(base: &Path, Identity { uid, gid }: Identity) -> Result<(), Failed> {
    let etc = base.join("etc");
    let root = if uid == 0 { "" } else { "root:x:0:0:root:/:/usr/sbin/nologin\n" };
    let passwd = format!("{root}tool:x:{uid}:{gid}:tool:/tmp:/usr/sbin/nologin\n");
    let root = if gid == 0 { "" } else { "root:x:0:\n" };
    let group = format!("{root}tool:x:{gid}:\n");
    make_file(&etc.join("passwd"), passwd.as_bytes())?;
    make_file(&etc.join("group"), group.as_bytes())?;
    make_file(&etc.join("hosts"), b"127.0.0.1 localhost\n::1 localhost\n")?;
    make_file(&etc.join("nsswitch.conf"), b"passwd: files\ngroup: files\nhosts: files\n")?;
    make_link("/usr/share/zoneinfo/Etc/UTC", &etc.join("localtime"))
}

fn writable_mounts(base: &Path, plan: &Plan, identity: Identity) -> Result<(), Failed> {
    let limits = &plan.limits;
    let places = [
        ("out", limits.out_bytes_max, limits.out_inodes_max),
        ("tmp", limits.tmp_bytes_max, limits.out_inodes_max),
        ("dev/shm", limits.shm_bytes_max, limits.out_inodes_max),
    ];
    for (name, bytes, inodes) in places {
        let Identity { uid, gid } = identity;
        let options = format!("size={bytes},nr_inodes={inodes},mode=0700,uid={uid},gid={gid}\0");
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes())
            .map_err(std::io::Error::other)
            .map_err(Failed::at("write mount options"))?;
        let mut flags = MountFlags::NOSUID | MountFlags::NODEV;
        if name != "tmp" || plan.runtime.tmp == TmpUse::Data {
            flags |= MountFlags::NOEXEC;
        }
        mount("tmpfs", base.join(name), "tmpfs", flags, options)
            .map_err(Failed::without(Layer::Mounts, &format!("mount /{name}")))?;
    }
    Ok(())
}

/// Makes `base` the root and lets everything else go.
fn enter(base: &Path) -> Result<(), Failed> {
    let layer = Layer::Mounts;
    rustix::process::chdir(base).map_err(Failed::without(layer, "enter the root"))?;
    rustix::process::pivot_root(".", ".").map_err(Failed::without(layer, "pivot_root"))?;
    // The old root lies on top of the new one now; "." is still the new one below it.
    unmount(".", UnmountFlags::DETACH).map_err(Failed::without(layer, "let the old root go"))?;
    rustix::process::chdir("/").map_err(Failed::without(layer, "enter /"))?;
    let flags = MountFlags::BIND
        | MountFlags::RDONLY
        | MountFlags::NOSUID
        | MountFlags::NODEV
        | MountFlags::NOEXEC;
    mount_remount("/", flags, "").map_err(Failed::without(layer, "make / read-only"))
}
