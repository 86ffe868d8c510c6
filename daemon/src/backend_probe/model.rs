//! The command of a probe, which the probes of all kinds share.

use sandbox::plan::{Limits, ProcView};

/// The command of a probe, without its program.
pub(super) struct ProbeCommand {
    pub(super) words: Vec<String>,
    /// The name below `/out` of the file that says what happened.
    pub(super) result: &'static str,
    pub(super) proc_view: ProcView,
    pub(super) limits: Limits,
}
