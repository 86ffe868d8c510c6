//! The files of a control group that limit and count. A limit that reads back as not effective ends
//! the sandbox before the tool starts. An unreported value is unknown, never zero.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use model::{LimitName, Mechanism};

use super::model::{FILE_BYTES_MAX, V1Dirs};
use super::{Alarm, if_exists};
use crate::plan::Limits;
use crate::report::{Accounting, EffectiveLimit};

/// Processor time of a tree, microseconds.
#[derive(Clone, Copy, Default)]
pub(in crate::launch) struct CpuTimes {
    pub(in crate::launch) total_us: u64,
    user_us: Option<u64>,
    system_us: Option<u64>,
}

/// Returns the period for processor bandwidth, microseconds: the kernel's default, or the longest
/// possible one where the share of the default would be below the minimum quota of 1 ms.
fn cpu_period_us(cpu_milli: u32) -> u64 {
    if cpu_milli < 10 { 1_000_000 } else { 100_000 }
}

pub(in crate::launch) struct Knobs {
    limits: LimitKnobs,
    counts: CountKnobs,
    alarm: Option<Alarm>,
    /// The mechanism's name in the record.
    mechanism: Mechanism,
}

enum LimitKnobs {
    V1 {
        memory: File,
        /// Limit of memory plus swap; absent on a kernel without swap accounting.
        memory_and_swap: Option<File>,
        cpu_period: File,
        cpu_quota: File,
        pids: File,
    },
    V2 {
        memory: File,
        /// Limit of swap alone; absent on a kernel without swap accounting.
        swap: Option<File>,
        cpu: File,
        pids: File,
    },
}

struct CountKnobs {
    memory_now: Option<File>,
    memory_peak: Option<File>,
    /// Contains a line `oom_kill N`.
    oom: File,
    cpu: CpuKnobs,
    /// Contains a line `max N`: the number of refused forks.
    pids_events: File,
    pids_peak: Option<File>,
}

enum CpuKnobs {
    V1 { usage_ns: File, user_ns: Option<File>, system_ns: Option<File> },
    V2 { stat: File },
}

impl Knobs {
    pub(super) fn open_v1(places: &V1Dirs, mechanism: Mechanism) -> io::Result<Self> {
        let V1Dirs { memory, cpu, cpuacct, pids } = places;
        let limits = LimitKnobs::V1 {
            memory: to_set(&memory.join("memory.limit_in_bytes"))?,
            memory_and_swap: if_exists(to_set(&memory.join("memory.memsw.limit_in_bytes")))?,
            cpu_period: to_set(&cpu.join("cpu.cfs_period_us"))?,
            cpu_quota: to_set(&cpu.join("cpu.cfs_quota_us"))?,
            pids: to_set(&pids.join("pids.max"))?,
        };
        let counts = CountKnobs {
            memory_now: if_exists(File::open(memory.join("memory.usage_in_bytes")))?,
            memory_peak: if_exists(File::open(memory.join("memory.max_usage_in_bytes")))?,
            oom: File::open(memory.join("memory.oom_control"))?,
            cpu: CpuKnobs::V1 {
                usage_ns: File::open(cpuacct.join("cpuacct.usage"))?,
                user_ns: if_exists(File::open(cpuacct.join("cpuacct.usage_user")))?,
                system_ns: if_exists(File::open(cpuacct.join("cpuacct.usage_sys")))?,
            },
            pids_events: File::open(pids.join("pids.events"))?,
            pids_peak: if_exists(File::open(pids.join("pids.peak")))?,
        };
        let alarm = Alarm::open_v1(memory, &counts.oom)?;
        Ok(Self { limits, counts, alarm, mechanism })
    }

    pub(super) fn open_v2(group: &Path) -> io::Result<Self> {
        let limits = LimitKnobs::V2 {
            memory: to_set(&group.join("memory.max"))?,
            swap: if_exists(to_set(&group.join("memory.swap.max")))?,
            cpu: to_set(&group.join("cpu.max"))?,
            pids: to_set(&group.join("pids.max"))?,
        };
        let counts = CountKnobs {
            memory_now: if_exists(File::open(group.join("memory.current")))?,
            memory_peak: if_exists(File::open(group.join("memory.peak")))?,
            oom: File::open(group.join("memory.events"))?,
            cpu: CpuKnobs::V2 { stat: File::open(group.join("cpu.stat"))? },
            pids_events: File::open(group.join("pids.events"))?,
            pids_peak: if_exists(File::open(group.join("pids.peak")))?,
        };
        let alarm = Some(Alarm::open_v2(group)?);
        Ok(Self { limits, counts, alarm, mechanism: Mechanism::CgroupV2 })
    }

    /// Sets the limits of the plan and reads them back; fails if one is not effective.
    pub(in crate::launch) fn limit(&self, limits: &Limits) -> io::Result<Vec<EffectiveLimit>> {
        let period_us = cpu_period_us(limits.cpu_milli);
        let quota_us = u64::from(limits.cpu_milli) * period_us / 1000;
        let memory_bytes = limits.memory_bytes_max;
        // One more for the sandbox's init.
        let tasks = u64::from(limits.pids_max) + 1;
        // memory.oom.group of v2 stays off: it would also kill the sandbox's init, and with it lose
        // the tool's exit status and files. The launcher sees the kill and ends the tree, as on v1.
        let (memory_bytes, quota_us, tasks) = match &self.limits {
            LimitKnobs::V1 { memory, memory_and_swap, cpu_period, cpu_quota, pids } => {
                set(memory, memory_bytes)?;
                // No swap: the limit of both together equals the limit of memory.
                set_at_most(memory_and_swap.as_ref(), memory_bytes)?;
                // The period first: the present quota must fit the new period.
                set(cpu_period, period_us)?;
                set(cpu_quota, quota_us)?;
                set(pids, tasks)?;
                (number(memory)?, number(cpu_quota)?, number(pids)?)
            }
            LimitKnobs::V2 { memory, swap, cpu, pids } => {
                set(memory, memory_bytes)?;
                set_at_most(swap.as_ref(), 0)?;
                cpu.write_all_at(format!("{quota_us} {period_us}").as_bytes(), 0)?;
                set(pids, tasks)?;
                (number(memory)?, number(cpu)?, number(pids)?)
            }
        };
        let table = [
            (LimitName::MemoryBytes, limits.memory_bytes_max, memory_bytes),
            (LimitName::CpuMilli, u64::from(limits.cpu_milli), quota_us * 1000 / period_us),
            (LimitName::Pids, u64::from(limits.pids_max), tasks.saturating_sub(1)),
        ];
        if let Some((name, requested, found)) =
            table.iter().find(|(_, requested, found)| found > requested)
        {
            let name = name.as_str();
            return Err(io::Error::other(format!("{name}: asked {requested}, kernel set {found}")));
        }
        let mechanism = self.mechanism;
        let in_force =
            |(name, requested, effective)| EffectiveLimit { name, mechanism, requested, effective };
        Ok(table.map(in_force).to_vec())
    }

    /// Returns the alarm for the memory counters, where the kernel supports one.
    pub(in crate::launch) fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    pub(in crate::launch) fn oom_kills(&self) -> io::Result<u64> {
        keyed(&self.counts.oom, "oom_kill")
    }

    pub(in crate::launch) fn memory_bytes(&self) -> Option<u64> {
        self.counts.memory_now.as_ref().and_then(|knob| number(knob).ok())
    }

    /// Returns user plus system time of the whole tree, microseconds.
    pub(in crate::launch) fn cpu_us(&self) -> io::Result<u64> {
        match &self.counts.cpu {
            CpuKnobs::V1 { usage_ns, .. } => Ok(number(usage_ns)? / 1000),
            CpuKnobs::V2 { stat } => keyed(stat, "usage_usec"),
        }
    }

    pub(in crate::launch) fn times(&self) -> io::Result<CpuTimes> {
        let (user_us, system_us) = self.split_times();
        Ok(CpuTimes { total_us: self.cpu_us()?, user_us, system_us })
    }

    /// Returns user and system time, where the kernel reports them separately.
    fn split_times(&self) -> (Option<u64>, Option<u64>) {
        let us =
            |knob: &Option<File>| knob.as_ref().and_then(|ns| number(ns).ok()).map(|n| n / 1000);
        match &self.counts.cpu {
            CpuKnobs::V1 { user_ns, system_ns, .. } => (us(user_ns), us(system_ns)),
            CpuKnobs::V2 { stat } => {
                (keyed(stat, "user_usec").ok(), keyed(stat, "system_usec").ok())
            }
        }
    }

    /// Fills in the kernel's counts, without the time used `before` the tool started.
    pub(in crate::launch) fn account(&self, accounting: &mut Accounting, before: &CpuTimes) {
        let (user, system) = self.split_times();
        let since = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let (user, system) = (since(user, before.user_us), since(system, before.system_us));
        let peak = |knob: &Option<File>| knob.as_ref().and_then(|knob| number(knob).ok());
        accounting.memory_peak_bytes = peak(&self.counts.memory_peak);
        accounting.memory_peak_sampled = false;
        accounting.cpu_user_us = user.or(accounting.cpu_user_us);
        accounting.cpu_system_us = system.or(accounting.cpu_system_us);
        accounting.oom_kills = self.oom_kills().ok();
        accounting.pids_refused = keyed(&self.counts.pids_events, "max").ok();
        // Without the sandbox's init.
        accounting.pids_peak = peak(&self.counts.pids_peak).map(|peak| peak.saturating_sub(1));
    }
}

fn to_set(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn set(knob: &File, value: u64) -> io::Result<()> {
    knob.write_all_at(value.to_string().as_bytes(), 0)
}

/// Sets the limit of swap, which the record does not list. Without a file nothing needs a limit.
fn set_at_most(knob: Option<&File>, value: u64) -> io::Result<()> {
    let Some(knob) = knob else { return Ok(()) };
    set(knob, value)?;
    match number(knob)? {
        found if found <= value => Ok(()),
        found => Err(io::Error::other(format!("swap bytes: asked {value}, kernel set {found}"))),
    }
}

/// Reads the current content: a read from the start makes the kernel generate it anew.
fn text(knob: &File) -> io::Result<String> {
    let mut bytes = [0; FILE_BYTES_MAX];
    let len = knob.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..len]).into_owned())
}

fn first_number(text: &str) -> io::Result<u64> {
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    word.parse().map_err(|_| io::Error::other(format!("'{word}' is not a number")))
}

pub(super) fn number(knob: &File) -> io::Result<u64> {
    first_number(&text(knob)?)
}

/// Returns the number of `key` in a file of `key number` lines.
fn keyed(knob: &File, key: &str) -> io::Result<u64> {
    let text = text(knob)?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    first_number(line.ok_or_else(|| io::Error::other(format!("line '{key}' is missing")))?)
}
