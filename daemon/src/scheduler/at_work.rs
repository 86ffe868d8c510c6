//! The state of the loop, and the changes of it that several of its files make.

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
use super::said::{LoopSnapshot, StatusPublisher};
use super::window::Window;
use crate::held::{DecisionDigest, DroppedFile, HeldRequests};
use crate::host::Host;
use crate::metrics::StoppedBy;
use crate::model::Halt;
use crate::transition::{self, Fields, Transition};

/// The loop, and what it remembers.
pub(super) struct AtWork<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) host: &'env Host,
    pub(super) orders: &'env Orders,
    pub(super) dropbox: Arc<Dropbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    /// A hint is on its way that nobody has heard yet.
    pub(super) hinted: Arc<AtomicBool>,
    pub(super) send: Sender<LoopEvent>,
    pub(super) pace: Pace,
    pub(super) config: PathBuf,
    pub(super) window: Window,
    /// What lay beside the requests of the window at the last look.
    pub(super) companions: BTreeMap<String, BTreeSet<OsString>>,
    pub(super) in_flight: BTreeMap<String, AssignedRequest>,
    pub(super) held: HeldRequests,
    /// Objects that were answered and could not be taken away, by name: left alone until they change.
    pub(super) left_alone: BTreeMap<String, FileIdentity>,
    /// As long as it is this, a rescan need not list it.
    pub(super) empty: Option<Empty>,
    pub(super) look_wanted: bool,
    /// Not before then: a look at thousands must not be all that is done.
    pub(super) next_look: Instant,
    pub(super) next_rescan: Instant,
    pub(super) next_tidying: Instant,
    pub(super) tidying: Option<ScopedJoinHandle<'scope, ()>>,
    /// Not before then it is tried whether there is room again.
    pub(super) next_room_look: Instant,
    pub(super) halted: Option<Halt>,
    pub(super) fitness: Fitness,
    pub(super) said: StatusPublisher,
}

/// What is known of a request while a worker has it.
pub(super) struct AssignedRequest {
    pub(super) identity: FileIdentity,
    pub(super) standing: DecisionDigest,
    pub(super) dropped: DroppedFile,
    pub(super) until: UtcTime,
    pub(super) word: Arc<WorkerControl>,
}

impl AtWork<'_, '_> {
    /// Returns whether nothing more may be begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.orders.stopped.get().is_some()
    }

    /// Nothing more is begun; what runs may run out.
    pub(super) fn stop(&mut self) {
        self.host.room_wanted.stop();
        if self.orders.stopped.set(Instant::now()).is_ok() {
            transition::log(Transition::Draining, &Fields::default());
            self.host.telling.metrics.admission(Some(StoppedBy::Drain));
            self.said.stopping();
        }
    }

    /// What can be finished is finished; the first reason is the one that is told last.
    pub(super) fn halt(&mut self, halt: Halt) {
        tracing::error!("{halt}; nothing more is admitted");
        if self.halted.is_none() {
            self.halted = Some(halt);
        }
        self.stop();
    }

    /// Tells the worker of a request what its operators want of it by now.
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

    /// Publishes what changed since the last time. Returns when there is more to publish, whatever happens.
    pub(super) fn tell(&mut self, state: DaemonState, why: Option<&str>) -> Option<Instant> {
        let snapshot = LoopSnapshot {
            state,
            why,
            held: self.held.len(),
            in_flight: self.in_flight.len(),
            window: &self.window,
        };
        self.said.tell(self.host, &snapshot)
    }

    /// Admits nothing until the cause is removed. The cause is logged once.
    pub(super) fn stop_admission(&mut self, by: StoppedBy, why: String) {
        self.said.stop_admission(&self.host.telling.metrics, by, why);
    }

    /// Admits requests again.
    pub(super) fn resume_admission(&mut self) {
        self.said.resume_admission(&self.host.telling.metrics);
    }
}
