//! The files in the sandbox: a root file system built from nothing, so that nothing has to be
//! hidden. The worker makes the part that is the same for every sandbox. The sandbox's init adds
//! the rest in its own mount namespace, before it drops any right. It receives mounts and must
//! never look them up by path: it has left the launcher's root. A name from a plan or a tool is
//! never followed: the staging slot is opened by id beneath the staging root and compared with the
//! directory that the daemon filled.

use std::os::fd::OwnedFd;
use std::path::Path;

use model::Layer;
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::mount::{MountFlags, OpenTreeFlags, mount, mount_remount, open_tree};

use super::Failed;
use super::filter::MemoryWatch;
use super::identity::ToolIdentity;
use super::mount::{
    DEVICES, PROBE_FILE, SANDBOX_ROOT, STAGING, WRITABLE, attach, below, change_root, copy_of,
    make_dir, make_file, make_link,
};
use super::proc_view::{mount_processes, show_machine};
use super::programs::attach_runtime;
use crate::messages::RuntimeMount;
use crate::plan::{ProcView, SandboxSpec, StagingSlot, TmpUse};

/// Builds what is the same for every sandbox of this identity, in the worker's mount namespace.
pub(super) fn build_base(identity: ToolIdentity, memory: MemoryWatch) -> Result<(), Failed> {
    let base = Path::new(SANDBOX_ROOT);
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", base, "tmpfs", flags, c"size=1m,nr_inodes=1k,mode=0755")
        .map_err(Failed::without(Layer::Mounts, "mount the sandbox's root"))?;
    for directory in ["in", "dev", "etc", "proc"].into_iter().chain(WRITABLE) {
        make_dir(&base.join(directory))?;
    }
    make_file(&below(base, Path::new(PROBE_FILE)), b"")?;
    // A shared mapping of /dev/zero is memory that sampling cannot see.
    let hidden = if memory == MemoryWatch::Sampled { "zero" } else { "" };
    for name in DEVICES.into_iter().filter(|name| *name != hidden) {
        let place = base.join("dev").join(name);
        make_file(&place, b"")?;
        attach(&copy_of(&Path::new("/dev").join(name))?, &place)?;
    }
    device_links(base)?;
    account_files(base, identity)?;
    Ok(())
}

/// Mounts everything that needs no plan, in the sandbox's own namespaces, and makes the sandbox's
/// root this process's root. After that, nothing else of the launcher's root is visible.
pub(super) fn mount_base(identity: ToolIdentity) -> Result<(), Failed> {
    let base = Path::new(SANDBOX_ROOT);
    writable_mounts(base, identity)?;
    mount_processes(&base.join("proc"))?;
    change_root(base)
}

/// Adds the mounts of the plan, and makes the root read-only.
pub(super) fn mount_plan(
    plan: &SandboxSpec,
    mounts: &[RuntimeMount],
    inputs: &OwnedFd,
    trees: &[OwnedFd],
) -> Result<(), Failed> {
    attach_runtime(mounts, trees)?;
    attach(inputs, Path::new("/in"))?;
    if plan.runtime.tmp == TmpUse::Programs {
        let flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV;
        mount_remount("/tmp", flags, "")
            .map_err(Failed::without(Layer::Mounts, "make /tmp executable"))?;
    }
    if plan.runtime.proc_view == ProcView::Full {
        show_machine(Path::new("/proc"))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount_remount("/", flags | MountFlags::BIND | MountFlags::RDONLY, "")
        .map_err(Failed::without(Layer::Mounts, "make / read-only"))
}

/// Opens the slot by id beneath the staging root and clones it read-only, for init to attach.
pub(super) fn inputs(slot: &StagingSlot) -> Result<OwnedFd, Failed> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let staging =
        open(STAGING, directory, Mode::empty()).map_err(Failed::at("open the staging root"))?;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened =
        openat2(&staging, slot.id.as_str(), directory | OFlags::NOFOLLOW, Mode::empty(), beneath)
            .map_err(Failed::at("open the staging slot"))?;
    let found = fstat(&opened).map_err(Failed::at("stat the staging slot"))?;
    if (found.st_dev, found.st_ino) != (slot.device, slot.inode) {
        let step = "staging slot: not the directory that was filled".to_owned();
        return Err(Failed { layer: None, step, errno: 0 });
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(&opened, "", flags).map_err(Failed::without(Layer::Mounts, "clone the staging slot"))
}

fn device_links(base: &Path) -> Result<(), Failed> {
    let dev = base.join("dev");
    make_link("/proc/self/fd", &dev.join("fd"))?;
    make_link("/proc/self/fd/0", &dev.join("stdin"))?;
    make_link("/proc/self/fd/1", &dev.join("stdout"))?;
    make_link("/proc/self/fd/2", &dev.join("stderr"))
}

/// Writes the few files of `/etc` from which runtimes learn their user and host name.
fn account_files(base: &Path, ToolIdentity { uid, gid }: ToolIdentity) -> Result<(), Failed> {
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

fn writable_mounts(base: &Path, ToolIdentity { uid, gid }: ToolIdentity) -> Result<(), Failed> {
    // A page and the root directory. The launcher later sets the sizes of the plan from outside.
    let options = format!("size=4k,nr_inodes=1,mode=0700,uid={uid},gid={gid}\0");
    let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes())
        .map_err(std::io::Error::other)
        .map_err(Failed::at("encode the mount options"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    for name in WRITABLE {
        mount("tmpfs", base.join(name), "tmpfs", flags, options)
            .map_err(Failed::without(Layer::Mounts, &format!("mount /{name}")))?;
    }
    Ok(())
}
