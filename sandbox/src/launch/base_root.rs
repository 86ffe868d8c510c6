//! The base root: the launcher's minimal root file system, which contains only what sandboxes are
//! made of. A sandbox's mount namespace is a copy of this one, because copying the host's is
//! expensive. Every directory that a plan may name is mounted here read-only, for a sandbox to
//! clone. The base root must never contain a directory that the unit or the parent did not allow.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use model::{LauncherMode, Layer};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, OpenTreeFlags, mount, mount_change, open_tree,
};

use super::cgroup::GroupFactory;
use super::filter::{Filters, MemoryWatch};
use super::identity::{self, ToolIdentity, UidPool};
use super::mount::{
    CERTIFICATES, DEVICES, HOST, LOADER_CACHE, SANDBOX_ROOT, STAGING, attach, below, change_root,
    make_dir, make_file,
};
use super::options::Options;
use super::{Failed, confine, device, subordinate};
use crate::steps::SetupStep;
use crate::sys;

pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(super) const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(super) const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub(super) const NO_EXEC: u64 = libc::MOUNT_ATTR_NOEXEC;
pub(super) const NO_LINKS: u64 = libc::MOUNT_ATTR_NOSYMFOLLOW;

/// Host settings and sources below directories that plans may name; empty in every sandbox.
const COVERED: [&str; 3] = ["/usr/etc", "/usr/local/etc", "/usr/local/src"];
/// Names that are links in the root directory of merged-/usr hosts.
const ROOT_LINKS: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
const CGROUPS: &str = "/sys/fs/cgroup";

/// Properties of the host that are read before its files become invisible.
pub(super) struct BaseRoot {
    /// Links in the host's root directory: name and target.
    pub(super) root_links: Vec<(String, String)>,
    /// The parent of the sandboxes' control groups, or the reason why there are none.
    pub(super) cgroups: Result<GroupFactory, Failed>,
    /// A killed launcher or worker may have left control groups, which the next worker removes.
    pub(super) sweep_due: bool,
    /// Supplementary groups that tools keep because an ordinary user cannot drop them: in user mode
    /// the launcher's own, as seen from the host.
    pub(super) groups: Vec<u32>,
    /// The signals that the launcher ignores; a tool must not inherit that.
    pub(super) ignored_signals: Vec<libc::c_int>,
    pub(super) filters: Filters,
}

impl BaseRoot {
    /// Builds the base root and pivots into it. In user mode, this process also enters the user
    /// namespace of all its sandboxes here. `uids` become `None` if they could not be mapped.
    pub(super) fn enter(options: &Options, uids: &mut Option<UidPool>) -> Result<Self, Failed> {
        SetupStep::BaseRoot.begin();
        let mut groups = Vec::new();
        if options.mode == LauncherMode::User {
            // Inside the namespace these groups have no numbers.
            groups = identity::supplementary_groups()?;
            if !subordinate::enter(ToolIdentity::own(), uids.as_ref())? {
                *uids = None;
            }
        }
        let layer = Layer::Namespaces;
        unshare(CloneFlags::CLONE_NEWNS)
            .map_err(Failed::without(layer, "unshare the mount namespace"))?;
        let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
        mount_change("/", private)
            .map_err(Failed::without(Layer::Mounts, "make mounts private"))?;
        let root_links = root_links();
        let has_loader_cache = Path::new(LOADER_CACHE).is_file();
        let trees = trees(options, has_loader_cache)?;
        let base = &options.staging;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("tmpfs", base, "tmpfs", flags, c"size=1m,nr_inodes=1k,mode=0755")
            .map_err(Failed::without(Layer::Mounts, "mount the base root"))?;
        make_dir(&below(base, Path::new(SANDBOX_ROOT)))?;
        for (tree, place) in trees {
            let place = below(base, &place);
            match place.parent() {
                Some(parent) => make_dir(parent)?,
                None => continue,
            }
            if is_directory(&tree)? {
                make_dir(&place)?
            } else {
                make_file(&place, b"")?
            }
            attach(&tree, &place)?;
        }
        cover(options, base)?;
        change_root(base)?;
        // Once for all sandboxes. A sandbox's own last user namespace has another set.
        confine::drop_bounding_set()?;
        SetupStep::FindCgroups.begin();
        let cgroups = GroupFactory::find(options.cgroup_parent)
            .map_err(Failed::without(Layer::Cgroup, "find the control groups"));
        let memory = if cgroups.is_ok() { MemoryWatch::Kernel } else { MemoryWatch::Sampled };
        SetupStep::OuterFilter.begin();
        let filters = Filters::load_outer(memory)?;
        SetupStep::end();
        let ignored_signals = sys::ignored_signals();
        let sweep_due = true;
        Ok(Self { root_links, cgroups, sweep_due, groups, ignored_signals, filters })
    }

    /// Removes control groups of launcher processes that were killed and could not remove them.
    pub(super) fn sweep_groups(&self) {
        if let Ok(cgroups) = &self.cgroups {
            cgroups.sweep();
        }
    }
}

/// Covers these directories, except those that an operator allows by name.
fn cover(options: &Options, base: &Path) -> Result<(), Failed> {
    let named = |path: &Path| options.mounts_allowed.iter().any(|it| it.starts_with(path));
    for path in COVERED.iter().map(Path::new).filter(|path| !named(path)) {
        let place = below(&below(base, Path::new(HOST)), path);
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
        let empty = c"size=4k,nr_inodes=1,mode=0555";
        mount("tmpfs", &place, "tmpfs", flags | MountFlags::NOEXEC, empty)
            .map_err(Failed::without(Layer::Mounts, &format!("hide {}", path.display())))?;
    }
    Ok(())
}

/// Clones everything that is needed from the host, each with its target path.
fn trees(options: &Options, has_loader_cache: bool) -> Result<Vec<(OwnedFd, PathBuf)>, Failed> {
    let mut trees = Vec::new();
    // With the attributes of `/in`, which a sandbox's clone of a slot then inherits.
    let inputs = READ_ONLY | NO_SETUID | NO_DEVICES | NO_EXEC | NO_LINKS;
    trees.push((host_tree(&options.staging, Some(inputs))?, PathBuf::from(STAGING)));
    let programs = READ_ONLY | NO_SETUID | NO_DEVICES;
    for allowed in options.mounts_allowed.iter().filter(|path| path.is_dir()) {
        trees.push((host_tree(allowed, Some(programs))?, below(Path::new(HOST), allowed)));
    }
    for name in DEVICES {
        let node = Path::new("/dev").join(name);
        trees.push((host_tree(&node, Some(NO_SETUID | NO_EXEC))?, node));
    }
    // A host without virtualisation has none: a plan that asks for it is then refused.
    if let Ok(tree) = host_tree(Path::new(device::KVM), Some(NO_SETUID | NO_EXEC))
        && device::is_kvm(&tree)
    {
        trees.push((tree, device::KVM.into()));
    }
    if has_loader_cache {
        let data = programs | NO_EXEC;
        trees.push((host_tree(Path::new(LOADER_CACHE), Some(data))?, LOADER_CACHE.into()));
    }
    for path in CERTIFICATES.iter().map(Path::new).filter(|path| path.exists()) {
        trees.push((host_tree(path, Some(programs | NO_EXEC))?, path.to_owned()));
    }
    // A user namespace may mount a /proc of its own only where it sees a complete one.
    trees.push((host_tree(Path::new("/proc"), None)?, "/proc".into()));
    if Path::new(CGROUPS).is_dir() {
        trees.push((host_tree(Path::new(CGROUPS), None)?, CGROUPS.into()));
    }
    Ok(trees)
}

fn host_tree(path: &Path, attributes: Option<u64>) -> Result<OwnedFd, Failed> {
    // Recursive, because a user namespace may not uncover what other mounts hide.
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(CWD, path, flags)
        .map_err(Failed::without(Layer::Mounts, &format!("clone {}", path.display())))?;
    if let Some(attributes) = attributes {
        sys::mount_setattr_tree(tree.as_fd(), attributes).map_err(Failed::without(
            Layer::Mounts,
            &format!("make {} read-only", path.display()),
        ))?;
    }
    Ok(tree)
}

fn is_directory(tree: &OwnedFd) -> Result<bool, Failed> {
    let stat = rustix::fs::fstat(tree).map_err(Failed::at("stat a mount"))?;
    Ok(rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
}

fn root_links() -> Vec<(String, String)> {
    let link = |name: &&str| {
        let target = fs::read_link(Path::new("/").join(name)).ok()?;
        Some(((*name).to_owned(), target.to_str()?.to_owned()))
    };
    ROOT_LINKS.iter().filter_map(link).collect()
}
