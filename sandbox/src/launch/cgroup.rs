//! The cell's own control groups: memory, cpu and pids, on cgroup v1 and v2.
//!
//! Created and set through cgroups-rs, read back by us, because a limit that was written is not yet a
//! limit that holds. v1 and v2 are not one thing under two names: v1 kills one process when memory is
//! out and knows no group kill, so the launcher watches the counters and ends the tree itself.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use cgroups_rs::Controller;
use cgroups_rs::cgroup::get_cgroups_relative_paths;
use cgroups_rs::cpu::CpuController;
use cgroups_rs::cpuacct::CpuAcctController;
use cgroups_rs::hierarchies::{V1, V2, is_cgroup2_unified_mode};
use cgroups_rs::memory::MemController;
use cgroups_rs::pid::PidController;
use cgroups_rs::{Cgroup, MaxValue};

use super::Failed;
use super::options::CgroupParent;
use crate::plan::Limits;
use crate::report::{Accounting, Layer, LimitInForce, LimitName, Mechanism};

/// Period over which processor bandwidth is measured, microseconds: the kernel's default, or the longest
/// there is where the share of the default one would be below the least quota, 1 ms.
fn cpu_period_us(cpu_milli: u32) -> u64 {
    if cpu_milli < 10 { 1_000_000 } else { 100_000 }
}

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
    /// Sets the order's limits and reads them back; fails if one is not in force afterwards. That is a
    /// fault of its own and no missing layer: no exception covers it.
    pub(super) fn limit(&self, limits: &Limits) -> Result<Vec<LimitInForce>, Failed> {
        self.set(limits).map_err(Failed::at("set cgroup limits"))?;
        self.read_back(limits).map_err(Failed::at("read cgroup limits back"))
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

    fn set(&self, limits: &Limits) -> io::Result<()> {
        let v2 = self.version == Version::V2;
        let memory = MemController::new(self.memory.clone(), v2);
        let bytes = i64::try_from(limits.memory_bytes_max).map_err(io::Error::other)?;
        memory.set_limit(bytes).map_err(io::Error::other)?;
        // No swap: v2 counts swap apart, v1 memory and swap together. Neither file is there on a
        // kernel without swap accounting, and then there is none to limit by cgroup.
        let (swap_file, swap) =
            if v2 { ("memory.swap.max", 0) } else { ("memory.memsw.limit_in_bytes", bytes) };
        if self.memory.join(swap_file).exists() {
            memory.set_memswap_limit(swap).map_err(io::Error::other)?;
        }
        let period_us = cpu_period_us(limits.cpu_milli);
        let quota_us = u64::from(limits.cpu_milli) * period_us / 1000;
        let quota_us = i64::try_from(quota_us).map_err(io::Error::other)?;
        let cpu = CpuController::new(self.cpu.clone(), v2);
        // The period first: on v1 the quota that is there must fit the new period.
        cpu.set_cfs_quota_and_period(None, Some(period_us)).map_err(io::Error::other)?;
        cpu.set_cfs_quota_and_period(Some(quota_us), None).map_err(io::Error::other)?;
        // One more for the cell's init.
        let pids = MaxValue::Value(i64::from(limits.pids_max) + 1);
        PidController::new(self.pids.clone(), v2).set_pid_max(pids).map_err(io::Error::other)?;
        // No memory.oom.group: it would take the cell's init along, and with it the tool's exit status
        // and its files. The launcher sees the kill and ends the tree, as on v1.
        Ok(())
    }

    fn read_back(&self, limits: &Limits) -> io::Result<Vec<LimitInForce>> {
        let (mechanism, memory_file) = match self.version {
            Version::V1 => (Mechanism::CgroupV1, "memory.limit_in_bytes"),
            Version::V2 => (Mechanism::CgroupV2, "memory.max"),
        };
        let memory = number(&self.memory.join(memory_file))?;
        let quota_us = match self.version {
            Version::V1 => number(&self.cpu.join("cpu.cfs_quota_us"))?,
            Version::V2 => first_number(&read(&self.cpu.join("cpu.max"))?)?,
        };
        let cpu_milli = quota_us * 1000 / cpu_period_us(limits.cpu_milli);
        let pids = number(&self.pids.join("pids.max"))?.saturating_sub(1);
        let table = [
            (LimitName::MemoryBytes, limits.memory_bytes_max, memory),
            (LimitName::CpuMilli, u64::from(limits.cpu_milli), cpu_milli),
            (LimitName::Pids, u64::from(limits.pids_max), pids),
        ];
        if let Some((name, asked, found)) = table.iter().find(|(_, asked, found)| found > asked) {
            let name = name.word();
            return Err(io::Error::other(format!("{name}: asked {asked}, in force {found}")));
        }
        let in_force = |(name, asked, in_force)| LimitInForce { name, mechanism, asked, in_force };
        Ok(table.map(in_force).to_vec())
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

    /// Processes that the kernel's OOM killer has ended in this group.
    pub(super) fn oom_kills(&self) -> io::Result<u64> {
        match self.version {
            Version::V1 => keyed(&self.memory.join("memory.oom_control"), "oom_kill"),
            Version::V2 => keyed(&self.memory.join("memory.events"), "oom_kill"),
        }
    }

    /// User plus system time of the whole tree, microseconds.
    pub(super) fn cpu_us(&self) -> io::Result<u64> {
        match self.version {
            Version::V1 => Ok(number(&self.cpuacct.join("cpuacct.usage"))? / 1000),
            Version::V2 => keyed(&self.cpu.join("cpu.stat"), "usage_usec"),
        }
    }

    /// How often a fork was refused for the pids limit.
    pub(super) fn pids_refused(&self) -> io::Result<u64> {
        keyed(&self.pids.join("pids.events"), "max")
    }

    /// What the kernel counted for this group; what it does not tell stays unknown.
    pub(super) fn account(&self, accounting: &mut Accounting) {
        let (peak, user, system) = match self.version {
            Version::V1 => (
                number(&self.memory.join("memory.max_usage_in_bytes")).ok(),
                number(&self.cpuacct.join("cpuacct.usage_user")).ok().map(|ns| ns / 1000),
                number(&self.cpuacct.join("cpuacct.usage_sys")).ok().map(|ns| ns / 1000),
            ),
            Version::V2 => (
                number(&self.memory.join("memory.peak")).ok(),
                keyed(&self.cpu.join("cpu.stat"), "user_usec").ok(),
                keyed(&self.cpu.join("cpu.stat"), "system_usec").ok(),
            ),
        };
        accounting.memory_peak_bytes = peak;
        accounting.memory_peak_sampled = false;
        accounting.cpu_user_us = user.or(accounting.cpu_user_us);
        accounting.cpu_system_us = system.or(accounting.cpu_system_us);
        accounting.oom_kills = self.oom_kills().ok();
        accounting.pids_refused = self.pids_refused().ok();
        // Without the cell's init.
        let pids = number(&self.pids.join("pids.peak")).ok();
        accounting.pids_peak = pids.map(|peak| peak.saturating_sub(1));
    }
}

impl Drop for Group {
    /// The tree is dead when this happens, but the kernel may need a moment to let its last tasks go.
    fn drop(&mut self) {
        for directory in self.directories() {
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
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    eprintln!("toolexec-launch: {}: {error}", directory.display());
                }
                _ => {}
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
        // One with processes in it is EBUSY and stays.
        if !Path::new(&format!("/proc/{pid}")).exists() && fs::remove_dir(entry.path()).is_ok() {
            eprintln!("toolexec-launch: {}: left by a killed launcher", entry.path().display());
        }
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

fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
}

fn first_number(text: &str) -> io::Result<u64> {
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    word.parse().map_err(|_| io::Error::other(format!("'{word}' is no number")))
}

fn number(path: &Path) -> io::Result<u64> {
    first_number(&read(path)?)
}

/// The number behind `key` in a file of `key number` lines.
fn keyed(path: &Path, key: &str) -> io::Result<u64> {
    let text = read(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    first_number(line.ok_or_else(|| io::Error::other(format!("no {key} line")))?)
}
