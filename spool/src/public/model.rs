//! The status of a daemon: its process, and its state.

use std::fs;

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};

/// The process that wrote a file, and where its number means that process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// The process, by its own count.
    pub pid: u32,
    /// The kernel's name for this start of the host; none where it is hidden.
    pub boot_id: Option<String>,
    /// The namespace in which the process counts; none where it is hidden.
    pub pid_namespace: Option<String>,
}

impl Seat {
    /// The seat of this process.
    #[must_use]
    pub fn here() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let namespace = fs::read_link("/proc/self/ns/pid").ok();
        Self {
            pid: std::process::id(),
            boot_id: boot.map(|id| id.trim_end().to_owned()),
            pid_namespace: namespace.map(|name| name.to_string_lossy().into_owned()),
        }
    }

    /// Returns whether numbers of processes mean the same there and here.
    pub(super) fn counts_as(&self, other: &Self) -> bool {
        self.boot_id.is_some()
            && self.pid_namespace.is_some()
            && self.boot_id == other.boot_id
            && self.pid_namespace == other.pid_namespace
    }
}

model::closed_set! {
    /// The state of a daemon as a whole.
    pub enum DaemonState {
        /// It recovers what an earlier one left; nothing is taken yet.
        Starting = "starting",
        /// It takes what is dropped, unless admission is stopped.
        Serving = "serving",
        /// It was asked to stop: runs in flight end, nothing new is taken.
        Draining = "draining",
        /// It ended in order; nothing was in flight.
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
    pub fn is_of_the_living(self) -> bool {
        matches!(self, Self::Starting | Self::Serving | Self::Draining)
    }
}

/// The number of requests in each state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Dropped and not looked at, or waiting for room.
    pub waiting: u64,
    /// Waiting for a person's answer.
    pub held: u64,
    /// Being decided.
    pub claimed: u64,
    /// Being staged.
    pub staging: u64,
    /// With a tool that runs.
    pub running: u64,
    /// With a record that is being made.
    pub publishing: u64,
}

/// The active policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TellsPolicy {
    /// The name that it gives itself.
    pub name: String,
    /// The digest of its file, in hexadecimal.
    pub sha256: String,
}

/// The status of a daemon.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// The process, and where its number means it.
    pub seat: Seat,
    /// The version of the program.
    pub version: String,
    /// When it started, in UTC.
    pub started_utc: String,
    /// When this was written, in UTC.
    pub at_utc: String,
    pub state: DaemonState,
    /// Why it halted, or what the state alone does not say.
    pub why: Option<String>,
    /// Why nothing is admitted although it serves: no room, a trust store that cannot be read.
    pub admission_stopped: Option<String>,
    pub counts: Counts,
    /// The most runs at once.
    pub runs_max: u64,
    /// Bytes that were promised to the runs in flight, and how many may be.
    pub memory_bytes_promised: u64,
    pub memory_bytes_max: Option<u64>,
    pub policy: TellsPolicy,
}

impl Status {
    pub(super) fn is_sound(&self) -> bool {
        let times = [&self.started_utc, &self.at_utc];
        times.iter().all(|time| time.parse::<UtcTime>().is_ok())
            && self.policy.sha256.parse::<Sha256>().is_ok()
    }
}
