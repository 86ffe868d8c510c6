//! The cell's own control groups: memory, cpu and pids, on cgroup v1 and v2.
//!
//! Created through cgroups-rs ahead of any plan; `knobs` has the files that limit and count. v1 and v2
//! are not one thing under two names: v1 kills one process when memory is out and knows no group kill, so
//! the launcher watches the counters and ends the tree itself.

mod knobs;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use cgroups_rs::Cgroup;
use cgroups_rs::Controller;
use cgroups_rs::cgroup::get_cgroups_relative_paths;
use cgroups_rs::cpu::CpuController;
use cgroups_rs::cpuacct::CpuAcctController;
use cgroups_rs::hierarchies::{V1, V2, is_cgroup2_unified_mode};
use cgroups_rs::memory::MemController;
use cgroups_rs::pid::PidController;

use super::Failed;
use super::options::CgroupParent;
use crate::report::Layer;

pub(super) use knobs::Knobs;

const V2_ROOT: &str = "/sys/fs/cgroup";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// Where the groups of cells are made: found once, because it takes reading the mount table.
pub(super) enum Home {
    V1 { memory: PathBuf, cpu: PathBuf, cpuacct: PathBuf, pids: PathBuf },
    V2 { parent: PathBuf },
}

impl Home {
    pub(super) fn find(parent: CgroupParent) -> io::Result<Self> {
        if is_cgroup2_unified_mode() {
            return Ok(Self::V2 { parent: v2_parent(parent)? });
        }
        use cgroups_rs::Controllers;
        let own = get_cgroups_relative_paths().map_err(io::Error::other)?;
        let hierarchy = V1::new();
        // Below the group that this process is in, so that the host's own limits on us hold too.
        let place = |controller: Controllers, key: &str| {
            let mounted = hierarchy.get_mount_point(controller);
            let mounted = mounted.ok_or_else(|| no_controller(key))?;
            let relative = own.get(key).ok_or_else(|| no_controller(key))?;
            Ok::<_, io::Error>(mounted.join(relative.trim_start_matches('/')))
        };
        Ok(Self::V1 {
            memory: place(Controllers::Mem, "memory")?,
            cpu: place(Controllers::Cpu, "cpu")?,
            cpuacct: place(Controllers::CpuAcct, "cpuacct")?,
            pids: place(Controllers::Pids, "pids")?,
        })
    }

    /// Removes groups whose process is no more; those that were killed could not.
    pub(super) fn sweep(&self) {
        let parents = match self {
            Self::V1 { memory, cpu, cpuacct, pids } => {
                [memory, cpu, cpuacct, pids].map(Clone::clone).to_vec()
            }
            Self::V2 { parent } => vec![Path::new(V2_ROOT).join(parent)],
        };
        for parent in parents {
            sweep_beside(&parent.join("cell"));
        }
    }

    /// A group of this process's cell, without limits yet. Failing is a missing layer.
    pub(super) fn make_group(&self) -> Result<Group, Failed> {
        // With our pid, so that the next launcher can tell a group that is left over.
        let name = format!("cell-{}", std::process::id());
        let (made, step) = match self {
            Self::V1 { memory, cpu, cpuacct, pids } => {
                let place = |parent: &PathBuf| parent.join(&name);
                let group = Group {
                    version: Version::V1,
                    memory: place(memory),
                    cpu: place(cpu),
                    cpuacct: place(cpuacct),
                    pids: place(pids),
                };
                (group.make_v1(), "make cgroup v1 groups")
            }
            Self::V2 { parent } => (Group::make_v2(parent.join(&name)), "make a cgroup v2 group"),
        };
        made.map_err(Failed::without(Layer::Cgroup, step))
    }
}

/// Directories of one cell. On v2 all are the same one.
pub(super) struct Group {
    version: Version,
    memory: PathBuf,
    cpu: PathBuf,
    cpuacct: PathBuf,
    pids: PathBuf,
}

impl Group {
    /// The files that limit and count.
    pub(super) fn knobs(&self) -> io::Result<Knobs> {
        match self.version {
            Version::V1 => Knobs::open_v1(&self.memory, &self.cpu, &self.cpuacct, &self.pids),
            Version::V2 => Knobs::open_v2(&self.memory),
        }
    }

    fn make_v1(self) -> io::Result<Self> {
        self.directories().into_iter().for_each(|directory| sweep_beside(directory));
        // Whatever is there already is somebody else's, and counts somebody else's tasks.
        if let Some(taken) = self.directories().into_iter().find(|d| d.exists()) {
            let taken = io::Error::other(format!("{}: exists already", taken.display()));
            std::mem::forget(self);
            return Err(taken);
        }
        MemController::new(self.memory.clone(), false).create();
        CpuController::new(self.cpu.clone(), false).create();
        CpuAcctController::new(self.cpuacct.clone()).create();
        PidController::new(self.pids.clone(), false).create();
        self.insist_on_directories()
    }

    fn make_v2(path: PathBuf) -> io::Result<Self> {
        let directory = Path::new(V2_ROOT).join(&path);
        if directory.exists() {
            return Err(io::Error::other(format!("{}: exists already", path.display())));
        }
        sweep_beside(&directory);
        let wanted = ["memory", "cpu", "pids"].map(str::to_owned).to_vec();
        Cgroup::new_with_specified_controllers(Box::new(V2::new()), &path, Some(wanted))
            .map_err(io::Error::other)?;
        let group = Self {
            version: Version::V2,
            memory: directory.clone(),
            cpu: directory.clone(),
            cpuacct: directory.clone(),
            pids: directory,
        };
        group.insist_on_directories()
    }

    /// cgroups-rs does not say when a directory could not be made.
    fn insist_on_directories(self) -> io::Result<Self> {
        for directory in self.directories() {
            fs::metadata(directory.join("cgroup.procs"))?;
        }
        Ok(self)
    }

    fn directories(&self) -> Vec<&PathBuf> {
        match self.version {
            Version::V1 => vec![&self.memory, &self.cpu, &self.cpuacct, &self.pids],
            Version::V2 => vec![&self.memory],
        }
    }

    /// Files into which a process writes `0` to join. Opened here, because the cell's init has
    /// another view of the file system by then, and may have another uid.
    pub(super) fn doors(&self) -> Result<Vec<File>, Failed> {
        let open = |directory: &PathBuf| {
            OpenOptions::new().write(true).open(directory.join("cgroup.procs"))
        };
        let opened = self.directories().into_iter().map(open).collect::<io::Result<_>>();
        opened.map_err(Failed::without(Layer::Cgroup, "open the cell's cgroup"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for directory in self.directories() {
            if let Err(error) = remove(directory) {
                eprintln!("toolexec-launch: {}: {error}", directory.display());
            }
        }
    }
}

/// Removes groups of launchers that are no more, beside `directory`: one that was killed could not.
fn sweep_beside(directory: &Path) {
    let Some(Ok(beside)) = directory.parent().map(fs::read_dir) else { return };
    for entry in beside.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let launcher = name.strip_prefix("cell-").and_then(|rest| rest.split('-').next());
        let Some(Ok(pid)) = launcher.map(str::parse::<u32>) else { continue };
        // One with processes in it is EBUSY; they may be on their way out.
        if !lives(pid)
            && let Err(error) = remove(&entry.path())
        {
            eprintln!("toolexec-launch: {}: {error}", entry.path().display());
        }
    }
}

/// Whether this process can still do anything: one that waits to be reaped cannot.
fn lives(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // proc_pid_stat(5): the state follows the name, which may hold anything but ends with a bracket.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// The tree is dead when this happens, but the kernel may need a moment to let its last tasks go.
fn remove(directory: &Path) -> io::Result<()> {
    let mut removed = fs::remove_dir(directory);
    for _ in 0..50 {
        match &removed {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(std::time::Duration::from_millis(2));
                removed = fs::remove_dir(directory);
            }
            _ => break,
        }
    }
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn no_controller(name: &str) -> io::Error {
    io::Error::other(format!("no {name} controller on this host"))
}

/// Where on v2 cells' groups go, relative to the root of the tree. In a delegated unit that is the
/// unit's own group, after the launcher has moved itself out of the way into a group of its own: a
/// group with processes in it can have no controllers for its children. Elsewhere it is a group of
/// ours directly below the root.
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

fn write(path: &Path, value: &str) -> io::Result<()> {
    use std::io::Write;
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}
