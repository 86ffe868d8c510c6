//! A worker slot: the identity and the network of one sandbox at a time, and the state of its process.
//! Only the long-lived launcher changes the state.

use std::fs::File;
use std::os::fd::OwnedFd;

use model::Layer;
use nix::unistd::Pid;

use super::Failed;
use super::identity::Identity;

/// Looks in a row that must find a process stuck before it counts as stuck.
pub(super) const STUCK_LOOKS: u32 = 2;

/// The host's part for one sandbox at a time.
pub(super) struct Seat {
    pub(super) identity: Identity,
    /// Keeps the uid ours for as long as any process of ours holds it.
    pub(super) _uid_lock: Option<File>,
    /// A network namespace of the slot's own; `lo` in it is down and was never up.
    pub(super) network: OwnedFd,
    pub(super) state: SeatState,
    /// Looks in a row that found its process stuck.
    pub(super) stuck_looks: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SeatState {
    Free,
    /// Its process waits at the control socket.
    Waiting(Pid),
    /// Its process has a conversation.
    Busy(Pid),
    /// Its process was killed because the launcher ends.
    Ending(Pid),
    /// Its network has counted something; it wants another one.
    Traced,
    /// Its last process did not end cleanly: something of its sandbox may live.
    Retired,
}

impl SeatState {
    pub(super) fn waits(&self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    pub(super) fn works(&self) -> bool {
        matches!(self, Self::Busy(_))
    }
}

impl Seat {
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck_looks >= STUCK_LOOKS
    }

    pub(super) fn pid(&self) -> Option<Pid> {
        match self.state {
            SeatState::Waiting(pid) | SeatState::Busy(pid) | SeatState::Ending(pid) => Some(pid),
            SeatState::Free | SeatState::Traced | SeatState::Retired => None,
        }
    }
}

/// A network namespace with nothing in it but `lo`, which is down. This process moves into it and, with
/// the next one, out of it again; it has no use for a network itself.
pub(super) fn new_network() -> Result<OwnedFd, Failed> {
    let layer = Layer::Namespaces;
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)
        .map_err(Failed::without(layer, "unshare the network namespace"))?;
    let opened = File::open("/proc/self/ns/net");
    opened.map(OwnedFd::from).map_err(Failed::without(layer, "open the network namespace"))
}
