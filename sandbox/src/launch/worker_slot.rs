//! A worker slot: the identity and network of one sandbox at a time, and the state of its process.
//! Only the long-lived launcher changes the state.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use model::Layer;
use nix::unistd::Pid;

use super::Failed;
use super::identity::ToolIdentity;

/// The number of consecutive checks that must find a process stuck before it counts as stuck.
pub(super) const STUCK_CHECKS: u32 = 2;

pub(super) struct WorkerSlot {
    pub(super) identity: ToolIdentity,
    /// Reserves the uid while any process of ours holds the file open.
    pub(super) _uid_lock: Option<File>,
    pub(super) network: SlotNetwork,
    pub(super) state: WorkerSlotState,
    /// The number of consecutive checks that found its process stuck.
    pub(super) stuck_checks: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerSlotState {
    Free,
    Waiting(Pid),
    Busy(Pid),
    /// Its process was killed because the launcher is ending.
    Ending(Pid),
    /// Its network namespace has counted something and must be replaced.
    NetworkUsed,
    /// Its last process did not end cleanly: a process of its sandbox may be alive.
    Retired,
}

impl WorkerSlotState {
    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    pub(super) fn works(&self) -> bool {
        matches!(self, Self::Busy(_))
    }
}

impl WorkerSlot {
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck_checks >= STUCK_CHECKS
    }

    pub(super) fn pid(&self) -> Option<Pid> {
        match self.state {
            WorkerSlotState::Waiting(pid)
            | WorkerSlotState::Busy(pid)
            | WorkerSlotState::Ending(pid) => Some(pid),
            WorkerSlotState::Free | WorkerSlotState::NetworkUsed | WorkerSlotState::Retired => None,
        }
    }
}

/// A network namespace; its `lo` is down and was never up.
pub(super) struct SlotNetwork {
    pub(super) namespace: OwnedFd,
    /// The counters of the new namespace, if they could be read.
    counters: Option<NetworkCounters>,
}

/// The counters of a network namespace that a tool can read. Even failing calls are counted, so a
/// tool could leave a message in them for the next sandbox.
#[derive(PartialEq, Eq)]
struct NetworkCounters(Vec<Vec<u8>>);

impl SlotNetwork {
    /// Makes a network namespace. This process stays in it, but uses no network.
    pub(super) fn new() -> Result<Self, Failed> {
        let layer = Layer::Namespaces;
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
            .map_err(Failed::without(layer, "unshare the network namespace"))?;
        let namespace = File::open("/proc/self/ns/net")
            .map_err(Failed::without(layer, "open the network namespace"))?;
        Ok(Self { namespace: namespace.into(), counters: NetworkCounters::read().ok() })
    }

    /// Returns whether this process's network namespace, which is this one, has counted nothing.
    pub(super) fn is_new(&self) -> bool {
        let now = NetworkCounters::read().ok();
        now.is_some() && now == self.counters
    }
}

impl NetworkCounters {
    fn read() -> io::Result<Self> {
        const NAMES: [&str; 3] = ["snmp", "snmp6", "netstat"];
        // More than the longest of them, so that one read returns it all.
        const BYTES: usize = 16 * 1024;
        let read = |name: &str| {
            let mut text = Vec::with_capacity(BYTES);
            match File::open(format!("/proc/self/net/{name}")) {
                Ok(mut file) => file.read_to_end(&mut text).map(|_| text),
                // A kernel without IPv6.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(text),
                Err(error) => Err(error),
            }
        };
        NAMES.into_iter().map(read).collect::<io::Result<_>>().map(Self)
    }
}
