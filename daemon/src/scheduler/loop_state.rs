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
use spool::{DaemonState, Inbox, OperatorOrder};

use super::draft_delay::{DraftDelay, DraftNotice};
use super::draft_signals::DraftSignals;
use super::event::LoopEvent;
use super::fitness::HostFitness;
use super::model::{EmptyListing, FileIdentity, LoopConfig, StopState, WorkerControl};
use super::publisher::{LoopSnapshot, StatusPublisher};
use super::window::SubmissionWindow;
use crate::held_requests::{DecisionDigest, HeldRequests, SubmissionStamp};
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::metrics::AdmissionStopReason;
use crate::model::DaemonError;
use crate::state::Daemon;

pub(super) struct EventLoop<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) host: &'env Daemon,
    pub(super) stop_state: &'env StopState,
    pub(super) dropbox: Arc<Inbox>,
    pub(super) watcher: Option<RecommendedWatcher>,
    /// Set while an inotify event is queued.
    pub(super) has_queued_event: Arc<AtomicBool>,
    pub(super) send: Sender<LoopEvent>,
    pub(super) loop_config: LoopConfig,
    pub(super) config_path: PathBuf,
    pub(super) window: SubmissionWindow,
    /// From the last look, for the requests in the window.
    pub(super) sidecars: BTreeMap<String, BTreeSet<OsString>>,
    pub(super) in_flight: BTreeMap<String, AssignedRequest>,
    pub(super) held: HeldRequests,
    /// Answered files that could not be removed, by name; ignored until they change.
    pub(super) ignored: BTreeMap<String, FileIdentity>,
    /// While it is unchanged, a rescan need not list the directory.
    pub(super) empty_listing: Option<EmptyListing>,
    /// Of the thread that alone uses `signed/` and `drafts/`.
    pub(super) draft_signals: Arc<DraftSignals>,
    pub(super) draft_delay: DraftDelay,
    pub(super) scan_wanted: bool,
    /// Listing a large directory must leave time for other work.
    pub(super) next_scan: Instant,
    pub(super) next_rescan: Instant,
    pub(super) next_cleanup: Instant,
    pub(super) cleanup: Option<ScopedJoinHandle<'scope, ()>>,
    pub(super) next_space_check: Instant,
    pub(super) error: Option<DaemonError>,
    pub(super) fitness: HostFitness,
    pub(super) is_trying_accelerators: bool,
    pub(super) must_try_accelerators_again: bool,
    pub(super) publisher: StatusPublisher,
}

pub(super) struct AssignedRequest {
    pub(super) identity: FileIdentity,
    pub(super) decision_digest: DecisionDigest,
    pub(super) stamp: SubmissionStamp,
    pub(super) until: UtcTime,
    pub(super) control: Arc<WorkerControl>,
}

impl EventLoop<'_, '_> {
    pub(super) fn is_stopping(&self) -> bool {
        self.stop_state.stopped_at.get().is_some()
    }

    /// Begins to drain: nothing more is started, and running requests finish.
    pub(super) fn stop(&mut self) {
        self.host.shortage.forbid_waiting();
        self.draft_signals.stop();
        if self.stop_state.stopped_at.set(Instant::now()).is_ok() {
            log_event::log(LogEvent::Draining, &LogEventFields::default());
            self.host.progress.metrics.admission(Some(AdmissionStopReason::Drain));
            self.publisher.stopping(self.stop_state.shutdown_grace);
        }
    }

    /// Begins to drain after a fatal error. The first error is the result of the daemon.
    pub(super) fn fail(&mut self, error: DaemonError) {
        tracing::error!("nothing more is admitted: {error}");
        if self.error.is_none() {
            self.error = Some(error);
        }
        self.stop();
    }

    /// Passes an operator's order to the worker of a request.
    pub(super) fn apply_order(&self, name: &str, ordered: OperatorOrder) {
        let Some(AssignedRequest { control: word, .. }) = self.in_flight.get(name) else { return };
        let flag = match ordered {
            OperatorOrder::Cancel => &word.end,
            OperatorOrder::Hold => &word.release,
            OperatorOrder::Release => return,
        };
        if !flag.swap(true, Ordering::Relaxed) && ordered == OperatorOrder::Cancel {
            let fields =
                LogEventFields { request: spool::stem_of(name), ..LogEventFields::default() };
            log_event::log(LogEvent::Cancelled, &fields);
        }
    }

    /// Logs once that the thread of drafts is late, and once that it goes on.
    pub(super) fn report_draft_delay(&mut self, now: Instant) {
        let step = self.draft_signals.step();
        match self.draft_delay.notice(step.as_ref(), now) {
            Some(DraftNotice::Late(text)) => tracing::warn!("{text}"),
            Some(DraftNotice::Over(text)) => tracing::info!("{text}"),
            None => {}
        }
    }

    /// Returns the time of the next call.
    pub(super) fn publish(&mut self, state: DaemonState, why: Option<&str>) -> Option<Instant> {
        let snapshot = LoopSnapshot {
            state,
            why,
            held: self.held.len(),
            in_flight: self.in_flight.len(),
            window: &self.window,
        };
        self.publisher.publish(self.host, &snapshot)
    }

    /// The cause is logged once.
    pub(super) fn stop_admission(&mut self, by: AdmissionStopReason, why: String) {
        self.publisher.stop_admission(&self.host.progress.metrics, by, why);
    }

    pub(super) fn resume_admission(&mut self) {
        self.publisher.resume_admission(&self.host.progress.metrics);
    }
}
