//! Types that the event loop and its workers share.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use notify::RecommendedWatcher;
use spool::retention::RetentionPolicy;
use spool::{Inbox, SeenDrafts};

/// The settings of the event loop.
pub struct LoopConfig {
    /// The longest time between two looks at the directory.
    pub scan_interval: Duration,
    /// The time that runs may continue after a stop signal.
    pub shutdown_grace: Duration,
    /// The limit on requests in progress, from claim to published record.
    pub in_flight_max: usize,
    /// Retention of results and requests.
    pub retention: RetentionPolicy,
}

/// The file that a name referred to: inode and change time.
pub(super) type FileIdentity = (u64, i64, i64);

pub(super) struct StopState {
    pub(super) stopped_at: OnceLock<Instant>,
    /// The time that runs may continue after it.
    pub(super) shutdown_grace: Duration,
    /// Set by a second stop signal: running requests are ended.
    pub(super) is_immediate: AtomicBool,
}

#[derive(Default)]
pub(super) struct WorkerControl {
    /// The request is to be ended.
    pub(super) end: AtomicBool,
    /// The request is to be released unless it was started.
    pub(super) release: AtomicBool,
}

/// A directory that was empty when it was listed.
pub(super) struct EmptyListing {
    pub(super) changed_at: (i64, i64),
    pub(super) listed: Instant,
}

/// The open directory `drafts/`, while policy allows to take drafts from it.
#[derive(Default)]
pub(super) struct StandingDrafts {
    pub(super) directory: Option<Inbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    pub(super) seen: SeenDrafts,
    /// A file may have changed since the present pass over the directory began.
    pub(super) has_changed: bool,
    /// The last error, which is logged once.
    pub(super) reported: Option<String>,
}
