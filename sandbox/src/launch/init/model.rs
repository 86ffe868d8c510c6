//! Types that the steps of init share.

use std::os::fd::OwnedFd;

use model::Mode;

use super::super::filter::MemoryWatch;
use super::super::house::House;
use super::super::identity::Identity;
use crate::messages::Furnishing;
use crate::plan::CellPlan;

/// The inputs of init, before the plan is known.
pub(in crate::launch) struct Birth<'a> {
    pub(in crate::launch) mode: Mode,
    pub(in crate::launch) identity: Identity,
    pub(in crate::launch) house: &'a House,
    /// The socket to the launcher.
    pub(in crate::launch) channel: OwnedFd,
    /// Sampled if groups are unavailable.
    pub(in crate::launch) memory: MemoryWatch,
}

/// Write ends of the tool's stdout and stderr.
pub(super) struct Streams {
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A plan with its descriptors.
pub(super) struct Told {
    pub(super) plan: Box<CellPlan>,
    pub(super) furnishings: Vec<Furnishing>,
    /// The socket to the daemon.
    pub(super) evidence: OwnedFd,
    pub(super) inputs: OwnedFd,
    /// The network namespace to enter, if not the slot's; taken when it is entered.
    pub(super) network: Option<OwnedFd>,
    pub(super) trees: Vec<OwnedFd>,
}
