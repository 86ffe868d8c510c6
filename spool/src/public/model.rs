//! The status of a daemon: its process, and its state.

use std::fs;

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};

/// The process that wrote a file, and the scope in which its pid is valid.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessId {
    /// The process id, in its own PID namespace.
    pub pid: u32,
    /// The kernel's boot id; none if it is not readable.
    pub boot_id: Option<String>,
    /// The PID namespace of the process; none if it is not readable.
    pub pid_namespace: Option<String>,
}

impl ProcessId {
    /// Returns the identity of this process.
    #[must_use]
    pub fn current() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let namespace = fs::read_link("/proc/self/ns/pid").ok();
        Self {
            pid: std::process::id(),
            boot_id: boot.map(|id| id.trim_end().to_owned()),
            pid_namespace: namespace.map(|name| name.to_string_lossy().into_owned()),
        }
    }

    /// Returns whether process ids mean the same for both.
    pub(super) fn shares_pid_namespace(&self, other: &Self) -> bool {
        self.boot_id.is_some()
            && self.pid_namespace.is_some()
            && self.boot_id == other.boot_id
            && self.pid_namespace == other.pid_namespace
    }
}

model::closed_set! {
    /// The state of a daemon as a whole.
    pub enum DaemonState {
        /// It recovers the claims of an earlier daemon and claims nothing new yet.
        Starting = "starting",
        /// It claims submissions, unless admission is stopped.
        Serving = "serving",
        /// It was asked to stop: runs in progress end, nothing new is claimed.
        Draining = "draining",
        /// It ended in order, with no run in progress.
        Stopped = "stopped",
        /// It ended because its own disk, keys or kernel failed.
        Halted = "halted",
    }
}

model::serialize_closed_set!(DaemonState);
model::deserialize_closed_set!(DaemonState);

impl DaemonState {
    /// Returns whether a daemon is in this state while it lives.
    #[must_use]
    pub fn is_alive(self) -> bool {
        matches!(self, Self::Starting | Self::Serving | Self::Draining)
    }
}

/// The number of requests in each state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestCounts {
    /// Submitted and not examined yet, or waiting for capacity.
    pub waiting: u64,
    /// Waiting for an approval or a permission.
    pub held: u64,
    /// Being decided.
    pub claimed: u64,
    /// Being staged.
    pub staging: u64,
    /// Running a tool.
    pub running: u64,
    /// Having its record written.
    pub publishing: u64,
}

/// The active policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivePolicy {
    /// The name in the policy file.
    pub name: String,
    /// The digest of its file, in hexadecimal.
    pub sha256: String,
}

/// The status of a daemon.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedStatus {
    /// The process, and the scope in which its pid is valid.
    #[serde(alias = "seat")]
    pub process: ProcessId,
    /// The version of the program.
    pub version: String,
    /// The time of its start, in UTC.
    pub started_utc: String,
    /// The time of writing, in UTC.
    pub at_utc: String,
    /// The state.
    pub state: DaemonState,
    /// The reason for halting, or details of the state.
    #[serde(alias = "why")]
    pub reason: Option<String>,
    /// The reason why nothing is admitted while it serves, for example a full disk.
    pub admission_stopped: Option<String>,
    /// The number of requests in each state.
    pub counts: RequestCounts,
    /// The maximum number of concurrent runs.
    pub runs_max: u64,
    /// Bytes of memory reserved for the runs in progress.
    #[serde(alias = "memory_bytes_promised")]
    pub memory_bytes_reserved: u64,
    /// The limit of the reserved memory; none if it is unlimited.
    pub memory_bytes_max: Option<u64>,
    /// The active policy.
    pub policy: ActivePolicy,
}

impl PublishedStatus {
    pub(super) fn is_valid(&self) -> bool {
        let times = [&self.started_utc, &self.at_utc];
        times.iter().all(|time| time.parse::<UtcTime>().is_ok())
            && self.policy.sha256.parse::<Sha256>().is_ok()
    }
}
