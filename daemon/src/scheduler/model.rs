//! The types that the loop and its workers share.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use spool::retention::Keep;

/// How a daemon goes about its work.
pub struct Pace {
    /// At least so often the directory itself is looked at.
    pub rescan: Duration,
    /// How long runs may go on after the word to stop.
    pub drain: Duration,
    /// Requests on their way at once, from claim to published record.
    pub in_flight_max: usize,
    /// How much of what was run and refused is kept.
    pub keep: Keep,
}

/// Which object a name meant when it was looked at.
pub(super) type FileIdentity = (u64, i64, i64);

/// What all workers are told at once.
pub(super) struct Orders {
    /// When it was said that no more is begun.
    pub(super) stopped: OnceLock<Instant>,
    /// How long runs may go on after that.
    pub(super) drain: Duration,
    /// They may not go on at all.
    pub(super) now: AtomicBool,
}

/// What its operators want of a request that is on its way.
#[derive(Default)]
pub(super) struct WorkerControl {
    /// It is to be ended.
    pub(super) end: AtomicBool,
    /// It is to be left where it lies, unless it was begun.
    pub(super) leave: AtomicBool,
}

/// A directory in which nothing lay.
pub(super) struct Empty {
    pub(super) changed_at: (i64, i64),
    pub(super) listed: Instant,
}
