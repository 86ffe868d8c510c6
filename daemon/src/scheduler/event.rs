//! The events that wake the loop, and the last word of a worker among them.

use spool::Originals;
use validator::Violation;

use crate::model::{Halt, PermissionFiled};
use crate::pipeline::ReleaseReason;
use crate::probe::Probed;

/// Something to wake up for.
pub(super) enum LoopEvent {
    /// Something came or changed in `approved/`.
    Dropped,
    /// The rules are to be read again.
    Reload,
    /// No more is admitted, and what runs may run out.
    Stop,
    /// It was asked again: what runs is ended.
    StopNow,
    /// A worker has ended.
    Ended(WorkerEnd),
    /// A sandbox was tried.
    Probed(Probed),
}

/// What became of one object in `approved/`, for now.
pub(super) enum Pickup {
    Answered(Originals),
    Held(Vec<Violation>, PermissionFiled),
    /// It was not begun, and lies where it lay.
    Left(ReleaseReason),
}

/// A worker's last word.
pub(super) struct WorkerEnd {
    pub(super) name: String,
    /// None if it died.
    pub(super) taken: Option<Result<Pickup, Halt>>,
}
