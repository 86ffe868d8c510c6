//! Limits where no cgroup can be written: the launcher looks every few milliseconds.
//!
//! Weaker than a cgroup and said to be: between two looks memory can overshoot, and CPU time of
//! processes that nobody waited for is lost. The one named exception of the embedded policy rests on
//! this; it must never be used where a cgroup can be had.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::fstatvfs;

use super::procfs::{self, Look};
use crate::plan::Limits;
use crate::report::{Accounting, LimitInForce, LimitName, Mechanism};

/// Descriptors from inside the cell: its `/proc`, and the three tmpfs whose pages are memory.
pub(super) struct Sampler {
    proc_dir: OwnedFd,
    memory_mounts: Vec<OwnedFd>,
    memory_bytes_max: u64,
    pids_max: u64,
    memory_peak: u64,
    tasks_peak: u64,
    cpu_us: u64,
}

impl Sampler {
    /// `fds` are the four that init sends along when it is ready.
    pub(super) fn new(fds: Vec<OwnedFd>, limits: &Limits) -> io::Result<Self> {
        let mut fds = fds.into_iter();
        let (Some(proc_dir), memory_mounts) = (fds.next(), fds.collect::<Vec<_>>()) else {
            return Err(io::Error::other("init sent no descriptors to sample by"));
        };
        Ok(Self {
            proc_dir,
            memory_mounts,
            memory_bytes_max: limits.memory_bytes_max,
            pids_max: u64::from(limits.pids_max),
            memory_peak: 0,
            tasks_peak: 0,
            cpu_us: 0,
        })
    }

    /// One look. True when memory is over its limit.
    pub(super) fn over_memory(&mut self) -> io::Result<bool> {
        let Look { private_bytes, cpu_us, tasks } = procfs::look(&self.proc_dir)?;
        let mut memory = private_bytes;
        for mount in &self.memory_mounts {
            let stat = fstatvfs(mount)?;
            memory += stat.f_blocks.saturating_sub(stat.f_bfree) * stat.f_frsize;
        }
        self.memory_peak = self.memory_peak.max(memory);
        self.tasks_peak = self.tasks_peak.max(tasks);
        // Time of processes that have gone is not in the sum any more; it never counts backwards.
        self.cpu_us = self.cpu_us.max(cpu_us);
        Ok(memory > self.memory_bytes_max)
    }

    pub(super) fn cpu_us(&self) -> u64 {
        self.cpu_us
    }

    /// A fork that was refused leaves no trace; having stood at the limit is the next best witness.
    pub(super) fn pids_limit_hit(&self) -> bool {
        self.tasks_peak >= self.pids_max
    }

    pub(super) fn account(&self, accounting: &mut Accounting) {
        accounting.memory_peak_bytes = Some(self.memory_peak);
        accounting.memory_peak_sampled = true;
        accounting.pids_peak = Some(self.tasks_peak);
    }

    pub(super) fn limits_in_force(limits: &Limits, cores: u64) -> Vec<LimitInForce> {
        let memory = limits.memory_bytes_max;
        let pids = u64::from(limits.pids_max);
        let cpu = u64::from(limits.cpu_milli);
        vec![
            limit(LimitName::MemoryBytes, Mechanism::Sampled, memory, memory),
            limit(LimitName::Pids, Mechanism::Rlimit, pids, pids),
            limit(LimitName::CpuMilli, Mechanism::Affinity, cpu, cores * 1000),
            limit(LimitName::CpuMs, Mechanism::Sampled, limits.cpu_ms_max, limits.cpu_ms_max),
        ]
    }
}

fn limit(name: LimitName, mechanism: Mechanism, asked: u64, in_force: u64) -> LimitInForce {
    LimitInForce { name, mechanism, asked, in_force }
}
