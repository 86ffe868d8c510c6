//! One sandbox as its launcher sees it, and the errors of a session before a tool runs.

use std::os::fd::OwnedFd;
use std::time::Instant;

use super::super::Failed;
use super::super::base_root::BaseRoot;
use super::super::cgroup::Alarm;
use super::super::denials::Denials;
use super::super::sandbox_process::SandboxProcess;
use crate::messages::ToInit;
use crate::plan::{Limits, WorkFolder};
use crate::wire;

/// A tool that runs, or may have run.
pub(super) struct StartedTool {
    pub(super) limits: Limits,
    /// The folder of which the tool has a copy, if any.
    pub(super) work: Option<WorkFolder>,
    pub(super) at: Instant,
}

/// The launcher's side of one sandbox.
pub(super) struct SandboxSupervisor<'a> {
    pub(super) base_root: &'a BaseRoot,
    pub(super) process: &'a mut SandboxProcess,
    pub(super) control: &'a OwnedFd,
    pub(super) evidence: OwnedFd,
    /// Present after the sandbox's filter is loaded.
    pub(super) denials: Option<Denials<'a>>,
    /// The kernel's notification that memory is exhausted.
    pub(super) alarm: Option<&'a Alarm>,
}

/// The reason why a session ended before the tool was started.
pub(super) enum SessionStop {
    /// The daemon cancelled or is gone; there is nothing to report.
    Abandoned,
    Failed(Failed),
}

impl From<Failed> for SessionStop {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl SandboxSupervisor<'_> {
    /// Sends to init without blocking: an init that does not read must not block this process.
    pub(super) fn send_to_init(&self, verb: &ToInit) -> Result<(), Failed> {
        wire::send_at_once(&self.process.channel, &verb.encode(), &[])
            .map_err(Failed::at("send to the sandbox's init"))
    }
}
