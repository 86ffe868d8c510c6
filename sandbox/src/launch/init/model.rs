//! Types that the steps of init share.

use std::os::fd::OwnedFd;

use model::LauncherMode;

use super::super::base_root::BaseRoot;
use super::super::filter::MemoryWatch;
use super::super::identity::ToolIdentity;
use crate::messages::RuntimeMount;
use crate::plan::SandboxSpec;

/// The inputs of init, before the plan is known.
pub(in crate::launch) struct InitContext<'a> {
    pub(in crate::launch) mode: LauncherMode,
    pub(in crate::launch) identity: ToolIdentity,
    pub(in crate::launch) base_root: &'a BaseRoot,
    /// The socket to the launcher.
    pub(in crate::launch) channel: OwnedFd,
    /// Sampled if groups are unavailable.
    pub(in crate::launch) memory: MemoryWatch,
}

/// Write ends of the tool's stdout and stderr.
pub(super) struct ToolStreams {
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// A plan with its descriptors.
pub(super) struct ReceivedPlan {
    pub(super) plan: Box<SandboxSpec>,
    pub(super) runtime_mounts: Vec<RuntimeMount>,
    /// The socket to the daemon.
    pub(super) evidence: OwnedFd,
    pub(super) inputs: OwnedFd,
    /// The network namespace to enter, if not the slot's; taken when it is entered.
    pub(super) network: Option<OwnedFd>,
    pub(super) trees: Vec<OwnedFd>,
}
