//! The events that wake the event loop, among them the result of a worker.

use spool::Originals;
use validator::Violation;

use crate::model::{Halt, PermissionFiled};
use crate::pipeline::ReleaseReason;
use crate::probe::Probed;

/// An event for the event loop.
pub(super) enum LoopEvent {
    /// A file in `approved/` was added or changed.
    Dropped,
    /// The configuration is to be read again.
    Reload,
    /// Stop: nothing more is admitted, and running requests finish.
    Stop,
    /// A second stop signal: running requests are ended.
    StopNow,
    /// A worker has ended.
    Ended(WorkerEnd),
    /// A probe has ended.
    Probed(Probed),
}

/// The present result for one file in `approved/`.
pub(super) enum Pickup {
    Answered(Originals),
    Held(Vec<Violation>, PermissionFiled),
    /// The request was not started; its file is still in place.
    Left(ReleaseReason),
}

/// The result of a worker.
pub(super) struct WorkerEnd {
    pub(super) name: String,
    /// None if the worker panicked.
    pub(super) taken: Option<Result<Pickup, Halt>>,
}
