//! The directories of a group on cgroup v1, and the size limit of its files.

use std::path::PathBuf;

/// The longest files of a group, `memory.events` of v2 and `cpu.stat`, have a few hundred bytes.
pub(super) const FILE_BYTES_MAX: usize = 4096;

/// One directory for each controller of v1.
pub(in crate::launch) struct V1Dirs {
    pub(super) memory: PathBuf,
    pub(super) cpu: PathBuf,
    pub(super) cpuacct: PathBuf,
    pub(super) pids: PathBuf,
}

impl V1Dirs {
    pub(super) fn all(&self) -> [&PathBuf; 4] {
        [&self.memory, &self.cpu, &self.cpuacct, &self.pids]
    }

    pub(super) fn join(&self, name: &str) -> Self {
        Self {
            memory: self.memory.join(name),
            cpu: self.cpu.join(name),
            cpuacct: self.cpuacct.join(name),
            pids: self.pids.join(name),
        }
    }
}
