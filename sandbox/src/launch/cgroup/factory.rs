//! The parent of the sandboxes' groups, determined once, from the mount table and by trying. Never
//! inferred from a version: containers, mount options and old kernels matter, too.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cgroups_rs::Controllers;
use cgroups_rs::cgroup::get_cgroups_relative_paths;
use cgroups_rs::hierarchies::{V1, is_cgroup2_unified_mode};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::group::{ControlGroup, V2Group};
use super::model::V1Dirs;
use super::{GroupJoin, V2_ROOT, leftovers, own_name, write};
use crate::launch::Failed;
use crate::launch::options::CgroupParent;
use crate::process::ends_within;
use crate::sys::{self, Fork};

/// The most time that a process may take to be cloned into a group and to end.
const TRY_TIME_MAX: Duration = Duration::from_secs(2);

pub(in crate::launch) enum GroupFactory {
    V1 {
        parents: V1Dirs,
        /// A group on a v2 tree beside v1, without controllers, where that tree supports
        /// `CLONE_INTO_CGROUP` and `cgroup.kill`.
        bare: Option<PathBuf>,
    },
    V2 {
        /// Relative to the root of the tree.
        parent: PathBuf,
        joining: GroupJoin,
    },
}

impl GroupFactory {
    pub(in crate::launch) fn find(parent: CgroupParent) -> io::Result<Self> {
        if is_cgroup2_unified_mode() {
            let parent = v2_parent(parent)?;
            let joining = match try_v2(&Path::new(V2_ROOT).join(&parent)) {
                Ok(()) => GroupJoin::ByClone,
                Err(_) => GroupJoin::ByWriting,
            };
            return Ok(Self::V2 { parent, joining });
        }
        let own = get_cgroups_relative_paths().map_err(io::Error::other)?;
        let parents = v1_dirs(&own)?;
        let bare = bare_dir(&own)?.filter(|place| try_v2(place).is_ok());
        Ok(Self::V1 { parents, bare })
    }

    /// Removes groups of launcher processes that were killed and could not remove them.
    pub(in crate::launch) fn sweep(&self) {
        let parents = match self {
            Self::V1 { parents, bare } => {
                parents.all().into_iter().chain(bare).map(PathBuf::clone).collect()
            }
            Self::V2 { parent, .. } => vec![Path::new(V2_ROOT).join(parent)],
        };
        for parent in parents {
            leftovers::sweep_beside(&parent.join("sandbox"));
        }
    }

    /// Creates a group for this process's sandbox, without limits. A failure is a missing layer.
    pub(in crate::launch) fn make_group(&self) -> Result<ControlGroup, Failed> {
        let name = own_name();
        match self {
            Self::V1 { parents, bare } => {
                let bare = bare.as_ref().map(|parent| parent.join(&name));
                ControlGroup::make_v1(parents.join(&name), bare)
            }
            Self::V2 { parent, joining } => ControlGroup::make_v2(&parent.join(&name), *joining),
        }
    }
}

/// Returns the directories below this process's groups, so that the host's limits apply as well.
pub(super) fn v1_dirs(own: &HashMap<String, String>) -> io::Result<V1Dirs> {
    let hierarchy = V1::new();
    let place = |controller: Controllers, key: &str| {
        let mounted = hierarchy.get_mount_point(controller);
        let mounted = mounted.ok_or_else(|| no_controller(key))?;
        let relative = own.get(key).ok_or_else(|| no_controller(key))?;
        Ok::<_, io::Error>(below(&mounted, relative))
    };
    Ok(V1Dirs {
        memory: place(Controllers::Mem, "memory")?,
        cpu: place(Controllers::Cpu, "cpu")?,
        cpuacct: place(Controllers::CpuAcct, "cpuacct")?,
        pids: place(Controllers::Pids, "pids")?,
    })
}

/// Returns the same on a v2 tree beside v1, if one is mounted.
pub(super) fn bare_dir(own: &HashMap<String, String>) -> io::Result<Option<PathBuf>> {
    // proc_pid_cgroup(5): the line of the v2 tree names no controller.
    let beside = own.get("").zip(v2_mount_point()?);
    Ok(beside.map(|(own, mounted)| below(&mounted, own)))
}

fn below(mounted: &Path, relative: &str) -> PathBuf {
    mounted.join(relative.trim_start_matches('/'))
}

fn no_controller(name: &str) -> io::Error {
    io::Error::other(format!("{name}: this host has no such cgroup controller"))
}

fn v2_mount_point() -> io::Result<Option<PathBuf>> {
    // proc_pid_mountinfo(5): field 5 is the mount point; the type follows a separate dash.
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let place = |line: &str| {
        let (mount, file_system) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?;
        (file_system.split(' ').next()? == "cgroup2").then(|| PathBuf::from(place))
    };
    Ok(table.lines().find_map(place))
}

/// Tries to clone a process into a group below `parent`. The tree must also support `cgroup.kill`.
fn try_v2(parent: &Path) -> io::Result<()> {
    // Below the root of the tree, our own group may not exist yet.
    match fs::create_dir(parent) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let path = parent.join(own_name());
    leftovers::sweep_beside(&path);
    fs::create_dir(&path)?;
    let tried = V2Group::open(&path).and_then(|tree| {
        if !tree.can_be_killed() {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        match sys::clone_process_into(0, tree.directory())? {
            Fork::Child => std::process::exit(0),
            Fork::Parent(cloned) => {
                // In a frozen tree no process can end.
                if !ends_within(&cloned.pidfd, TRY_TIME_MAX) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                waitpid(Pid::from_raw(cloned.pid), Some(WaitPidFlag::__WALL))?;
                Ok(())
            }
        }
    });
    leftovers::remove(&path)?;
    tried
}

/// Returns the parent of the sandboxes' groups on v2, relative to the root of the tree: the unit's
/// own group, or a group of ours below the root. The launcher first moves itself from the unit's
/// group into a child: a group with processes cannot enable controllers for its children.
fn v2_parent(parent: CgroupParent) -> io::Result<PathBuf> {
    if parent == CgroupParent::Root {
        return Ok(PathBuf::from("toolexec"));
    }
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let own = own.trim().strip_prefix("0::/").unwrap_or_default().to_owned();
    let unit = Path::new(V2_ROOT).join(&own);
    let aside = unit.join("launcher");
    match fs::create_dir(&aside) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    write(&aside.join("cgroup.procs"), "0")?;
    write(&unit.join("cgroup.subtree_control"), "+memory +cpu +pids")?;
    Ok(PathBuf::from(own))
}
