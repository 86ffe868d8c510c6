//! The events that wake the event loop, among them the result of a worker.

use spool::SubmissionState;
use validator::Violation;

use crate::model::{DaemonError, PermissionFiled};
use crate::pipeline::ReleaseReason;
use crate::probe::ProbeResult;

pub(super) enum LoopEvent {
    /// A file in `approved/` was added or changed.
    Submitted,
    /// The configuration is to be read again.
    Reload,
    /// Stop: nothing more is admitted, and running requests finish.
    Stop,
    /// A second stop signal: running requests are ended.
    StopNow,
    WorkerEnded(WorkerEnd),
    Probed(ProbeResult),
    /// The gate of the fleet permits admission, or does not any more.
    GateChanged,
    /// The thread that tries accelerators has ended; true if it tried one.
    AcceleratorsTried(bool),
    /// The thread of drafts has placed files in `approved/`.
    DraftsTaken,
    /// The thread of drafts goes on after a step that was late.
    DraftsAnswered,
    /// The thread of drafts has found other keys. Only the event loop replaces the rules.
    TrustChanged,
    /// The thread of drafts has panicked.
    DraftThreadDied,
}

/// The present result for one file in `approved/`.
pub(super) enum PickupOutcome {
    Recorded(SubmissionState),
    Held(Vec<Violation>, PermissionFiled),
    /// The request was not started; its file is still in place.
    Released(ReleaseReason),
}

pub(super) struct WorkerEnd {
    pub(super) name: String,
    /// None if the worker panicked.
    pub(super) result: Option<Result<PickupOutcome, DaemonError>>,
}
