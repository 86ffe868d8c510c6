//! The state of the event loop, and the changes to it that several files make.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use ::model::UtcTime;
use notify::RecommendedWatcher;
use spool::{DaemonState, Dropbox, Order};

use super::event::LoopEvent;
use super::fitness::Fitness;
use super::model::{Empty, FileIdentity, Orders, Pace, WorkerControl};
use super::publisher::{LoopSnapshot, StatusPublisher};
use super::window::Window;
use crate::held::{DecisionDigest, DroppedFile, HeldRequests};
use crate::host::Host;
use crate::metrics::StoppedBy;
use crate::model::Halt;
use crate::transition::{self, Fields, Transition};

/// The event loop and its state.
pub(super) struct AtWork<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) host: &'env Host,
    pub(super) orders: &'env Orders,
    pub(super) dropbox: Arc<Dropbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    /// Set while an inotify event is queued.
    pub(super) hinted: Arc<AtomicBool>,
    pub(super) send: Sender<LoopEvent>,
    pub(super) pace: Pace,
    pub(super) config: PathBuf,
    pub(super) window: Window,
    /// The sidecar files of the requests in the window, from the last look.
    pub(super) companions: BTreeMap<String, BTreeSet<OsString>>,
    pub(super) in_flight: BTreeMap<String, AssignedRequest>,
    pub(super) held: HeldRequests,
    /// Answered files that could not be removed, by name; ignored until they change.
    pub(super) left_alone: BTreeMap<String, FileIdentity>,
    /// While it is unchanged, a rescan need not list the directory.
    pub(super) empty: Option<Empty>,
    pub(super) look_wanted: bool,
    /// The earliest time of the next look, so that listing a large directory leaves time for other
    /// work.
    pub(super) next_look: Instant,
    pub(super) next_rescan: Instant,
    pub(super) next_tidying: Instant,
    pub(super) tidying: Option<ScopedJoinHandle<'scope, ()>>,
    /// The earliest time of the next check for free space.
    pub(super) next_room_look: Instant,
    pub(super) halted: Option<Halt>,
    pub(super) fitness: Fitness,
    pub(super) publisher: StatusPublisher,
}

/// The state of a request that a worker has.
pub(super) struct AssignedRequest {
    pub(super) identity: FileIdentity,
    pub(super) standing: DecisionDigest,
    pub(super) dropped: DroppedFile,
    pub(super) until: UtcTime,
    pub(super) word: Arc<WorkerControl>,
}

impl AtWork<'_, '_> {
    /// Returns whether the daemon is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.orders.stopped.get().is_some()
    }

    /// Begins to drain: nothing more is started, and running requests finish.
    pub(super) fn stop(&mut self) {
        self.host.room_wanted.stop();
        if self.orders.stopped.set(Instant::now()).is_ok() {
            transition::log(Transition::Draining, &Fields::default());
            self.host.telling.metrics.admission(Some(StoppedBy::Drain));
            self.publisher.stopping();
        }
    }

    /// Begins to drain after a fatal error. The first error is the result of the daemon.
    pub(super) fn halt(&mut self, halt: Halt) {
        tracing::error!("nothing more is admitted: {halt}");
        if self.halted.is_none() {
            self.halted = Some(halt);
        }
        self.stop();
    }

    /// Passes an operator's order to the worker of a request.
    pub(super) fn pass_on(&self, name: &str, ordered: Order) {
        let Some(AssignedRequest { word, .. }) = self.in_flight.get(name) else { return };
        let told = match ordered {
            Order::Cancel => &word.end,
            Order::Hold => &word.leave,
            Order::Release => return,
        };
        if !told.swap(true, Ordering::Relaxed) && ordered == Order::Cancel {
            let fields = Fields { request: spool::stem_of(name), ..Fields::default() };
            transition::log(Transition::Cancelled, &fields);
        }
    }

    /// Publishes what has changed. Returns the time of the next call.
    pub(super) fn tell(&mut self, state: DaemonState, why: Option<&str>) -> Option<Instant> {
        let snapshot = LoopSnapshot {
            state,
            why,
            held: self.held.len(),
            in_flight: self.in_flight.len(),
            window: &self.window,
        };
        self.publisher.tell(self.host, &snapshot)
    }

    /// Admits nothing until the cause is removed. The cause is logged once.
    pub(super) fn stop_admission(&mut self, by: StoppedBy, why: String) {
        self.publisher.stop_admission(&self.host.telling.metrics, by, why);
    }

    /// Admits requests again.
    pub(super) fn resume_admission(&mut self) {
        self.publisher.resume_admission(&self.host.telling.metrics);
    }
}
