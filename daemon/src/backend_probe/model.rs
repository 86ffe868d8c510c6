//! Types that the probes of all kinds share.

use std::path::Path;

use policies::{Policy, VmAccelerator};
use sandbox::client::Launcher;
use sandbox::plan::{Limits, ProcView};

/// The code that an interpreter runs.
pub(super) const CODE: &str = "sum(rows)";
/// The values of its variables.
pub(super) const INPUTS: &str = "{\"rows\": [1, 2, 3]}";

/// The launcher and the directories of probes.
#[derive(Clone, Copy)]
pub(crate) struct ProbeBench<'a> {
    pub(crate) launcher: &'a Launcher,
    /// The launcher's staging directory.
    pub(crate) staging: &'a Path,
    pub(crate) policy: &'a Policy,
    /// Returns whether the probe in progress must end.
    pub(crate) is_cancelled: &'a dyn Fn() -> bool,
}

/// The command of a probe, without its program.
pub(super) struct ProbeCommand {
    pub(super) words: Vec<String>,
    /// The name below `/out` of the file that says what happened.
    pub(super) result: &'static str,
    pub(super) proc_view: ProcView,
    /// The accelerator of the guest, whose device the sandbox needs.
    pub(super) accelerator: Option<VmAccelerator>,
    pub(super) limits: Limits,
}
