//! Limits where no cgroup is writable: the launcher samples usage every few milliseconds. That is
//! weaker than a cgroup, and the record says so: memory can exceed its limit between two samples,
//! and the CPU time of processes that are never waited for is lost. Only the one named exception of
//! the embedded policy relies on it; it must never be used where a cgroup is available.

use std::collections::BTreeMap;
use std::io;

use model::{LimitName, Mechanism};

use super::host_memory::HostMemory;
use super::inner_fds::InnerFds;
use super::procfs::{self, NonresidentMemory, ProcSnapshot};
use super::sockets::Sockets;
use super::{Failed, confine};
use crate::plan::Limits;
use crate::report::{Accounting, EffectiveLimit};

/// Slow sources are read once in this many samples: page tables cannot outgrow pages by much.
const SLOW_SAMPLE_INTERVAL: u64 = 4;

pub(super) struct Sampler {
    memory_bytes_max: u64,
    pids_max: u64,
    samples: u64,
    /// The value of the last slow sample.
    nonresident: NonresidentMemory,
    descriptors_bytes: u64,
    sockets: Sockets,
    host_memory: HostMemory,
    memory_now: u64,
    memory_peak: u64,
    tasks_peak: u64,
    cpu: CpuTime,
}

/// CPU time of a tree whose processes start and end between two samples.
#[derive(Default)]
struct CpuTime {
    /// Time of each process in the last sample.
    seen_us: BTreeMap<u32, u64>,
    /// Time of ended processes, as of their last sample.
    ended_us: u64,
    total_us: u64,
}

impl CpuTime {
    /// Combines two counts that are both too low: sums over processes miss those too short to be
    /// sampled, times of waited-for children miss orphans. The larger is more accurate.
    fn add(&mut self, own_us: BTreeMap<u32, u64>, waited_us: u64) {
        for (pid, before) in &self.seen_us {
            // A reused pid starts anew.
            if own_us.get(pid).is_none_or(|now| now < before) {
                self.ended_us += before;
            }
        }
        let own: u64 = own_us.values().sum();
        self.seen_us = own_us;
        // The total never decreases.
        self.total_us = self.total_us.max(self.ended_us + own).max(own + waited_us);
    }
}

impl Sampler {
    pub(super) fn new(limits: &Limits, sockets: Sockets) -> Result<Self, Failed> {
        let machine = HostMemory::now().map_err(Failed::at("read the host's memory"))?;
        Ok(Self {
            memory_bytes_max: limits.memory_bytes_max,
            pids_max: processes(limits),
            samples: 0,
            nonresident: NonresidentMemory::default(),
            descriptors_bytes: 0,
            sockets,
            host_memory: machine,
            memory_now: 0,
            memory_peak: 0,
            tasks_peak: 0,
            cpu: CpuTime::default(),
        })
    }

    /// Takes one sample. Returns true if memory is over its limit.
    pub(super) fn over_memory(&mut self, windows: &InnerFds) -> io::Result<bool> {
        let ProcSnapshot { anonymous_bytes, own_cpu_us, waited_cpu_us, tasks } =
            procfs::snapshot(windows.proc_dir())?;
        let slow = self.samples.is_multiple_of(SLOW_SAMPLE_INTERVAL);
        if slow {
            self.nonresident = procfs::nonresident_memory(windows.proc_dir())?;
            self.descriptors_bytes = procfs::descriptors_bytes(windows.proc_dir())?;
        }
        self.samples += 1;
        let in_files = windows.memory_bytes()?;
        let in_sockets = self.sockets.memory_bytes(windows.proc_dir())?;
        let unmapped_bytes = in_files + in_sockets;
        let NonresidentMemory { swapped_bytes, fixed_bytes } = self.nonresident;
        let mut memory =
            anonymous_bytes + swapped_bytes + fixed_bytes + unmapped_bytes + self.descriptors_bytes;
        if memory > self.memory_bytes_max {
            // The last slow sample may include processes that have ended.
            self.nonresident = procfs::nonresident_memory(windows.proc_dir())?;
            self.descriptors_bytes = procfs::descriptors_bytes(windows.proc_dir())?;
            memory = self.nonresident.fixed_bytes + unmapped_bytes + self.descriptors_bytes;
            // The cheap sum counts a shared page once for each process after a fork. The exact sum
            // is slow where page tables are large, and those alone can exceed the limit.
            if memory <= self.memory_bytes_max {
                memory += procfs::proportional_bytes(windows.proc_dir())?;
            }
        }
        self.memory_now = memory;
        self.memory_peak = self.memory_peak.max(memory);
        self.tasks_peak = self.tasks_peak.max(tasks);
        self.cpu.add(own_cpu_us, waited_cpu_us);
        let unseen =
            slow && self.host_memory.must_end(HostMemory::now()?, memory, self.memory_bytes_max);
        Ok(memory > self.memory_bytes_max || unseen)
    }

    /// Adds init's count at the kill: a failed fork may be over before the next sample.
    pub(super) fn see_processes(&mut self, count: u32) {
        self.tasks_peak = self.tasks_peak.max(count.into());
    }

    pub(super) fn cpu_us(&self) -> u64 {
        self.cpu.total_us
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_now
    }

    /// Returns whether the tree reached its process limit: a refused fork leaves no other trace.
    pub(super) fn pids_limit_hit(&self) -> bool {
        self.tasks_peak >= self.pids_max
    }

    pub(super) fn account(&self, accounting: &mut Accounting) {
        accounting.memory_peak_bytes = Some(self.memory_peak);
        accounting.memory_peak_sampled = true;
        accounting.pids_peak = Some(self.tasks_peak);
    }

    pub(super) fn effective_limits(limits: &Limits, cores: u64) -> Vec<EffectiveLimit> {
        let memory = limits.memory_bytes_max;
        let pids = u64::from(limits.pids_max);
        let processes = processes(limits);
        let cpu = u64::from(limits.cpu_milli);
        vec![
            EffectiveLimit::exact(LimitName::MemoryBytes, Mechanism::Sampled, memory),
            EffectiveLimit {
                effective: processes,
                ..EffectiveLimit::exact(LimitName::Pids, Mechanism::Rlimit, pids)
            },
            EffectiveLimit {
                effective: cores * 1000,
                ..EffectiveLimit::exact(LimitName::CpuMilli, Mechanism::Affinity, cpu)
            },
            EffectiveLimit::exact(LimitName::CpuMs, Mechanism::Sampled, limits.cpu_ms_max),
        ]
    }
}

/// Returns 0 for a limit that cannot be read. It cannot be lowered in the tool's process either, so
/// the tool never runs, and no record contains the 0.
fn processes(limits: &Limits) -> u64 {
    confine::processes(limits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_ended_processes_is_kept() {
        let mut cpu = CpuTime::default();
        cpu.add(BTreeMap::from([(2, 100), (3, 50)]), 0);
        assert_eq!(cpu.total_us, 150);
        cpu.add(BTreeMap::from([(2, 110)]), 0);
        assert_eq!(cpu.total_us, 160, "3 is gone, and no process waited for it");
        cpu.add(BTreeMap::from([(2, 10)]), 0);
        assert_eq!(cpu.total_us, 170, "another process has its pid");
        cpu.add(BTreeMap::from([(2, 10)]), 500);
        assert_eq!(cpu.total_us, 510, "it waited for a process that was never sampled");
    }
}
