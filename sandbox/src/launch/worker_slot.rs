//! A worker slot: the identity and network of one sandbox at a time, and the state of its process.
//! Only the long-lived launcher changes the state.

use std::fs::File;
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
    /// A network namespace of the slot; its `lo` is down and was never up.
    pub(super) network: OwnedFd,
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

/// Makes a network namespace with only `lo`, down. This process stays in it, but uses no network.
pub(super) fn new_network() -> Result<OwnedFd, Failed> {
    let layer = Layer::Namespaces;
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "unshare the network namespace"))?;
    let opened = File::open("/proc/self/ns/net");
    opened.map(OwnedFd::from).map_err(Failed::without(layer, "open the network namespace"))
}
