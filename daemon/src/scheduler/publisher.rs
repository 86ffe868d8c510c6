//! Publishes the state of the event loop: files in `public/`, metrics, and messages to the service
//! manager. It publishes after the fact and waits for no reader.

use std::path::Path;
use std::time::{Duration, Instant};

use model::UtcTime;
use spool::{DaemonState, RequestCounts, ServiceManager, WAITING_LISTED_MAX, WaitingRequest};

use super::window::SubmissionWindow;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::metrics::{AdmissionStopReason, Metrics, MetricsFile, MetricsSettings, MetricsSocket};
use crate::model::DaemonError;
use crate::state::Daemon;
use crate::status::{DaemonStatus, StatusWriter};
use crate::system;

/// The outputs, with the values that were published last.
pub(super) struct StatusPublisher {
    status: StatusWriter,
    file: Option<MetricsFile>,
    /// Owned, so that the socket exists as long as the daemon.
    _socket: Option<MetricsSocket>,
    manager: ServiceManager,
    alive_at: Option<Instant>,
    /// Submissions of the last look that have not got a worker.
    pub(super) waiting: u64,
    /// The last logged number of names that a record cannot contain.
    unnamable: u64,
    stopped: Option<(AdmissionStopReason, String)>,
}

pub(super) struct LoopSnapshot<'a> {
    pub(super) state: DaemonState,
    /// The reason of a fatal error.
    pub(super) why: Option<&'a str>,
    pub(super) held: usize,
    /// The requests that workers have.
    pub(super) in_flight: usize,
    pub(super) window: &'a SubmissionWindow,
}

impl StatusPublisher {
    pub(super) fn new(host: &Daemon, settings: MetricsSettings) -> Result<Self, DaemonError> {
        let MetricsSettings { file, socket, interval } = settings;
        let metrics = &host.progress.metrics;
        let listen = |path: std::path::PathBuf| MetricsSocket::listen(&path, metrics.clone());
        let socket = match socket.map(listen).transpose() {
            Err(error) if error.shortage().is_some() => {
                tracing::error!("metrics are not served until a restart: {error}");
                None
            }
            socket => socket.map_err(DaemonError::Metrics)?,
        };
        metrics.policy(&host.policy());
        metrics.memory_budget(host.capacity.limits().memory_bytes);
        let manager = ServiceManager::of_environment();
        let alive_at = manager.watchdog_interval().map(|_| Instant::now());
        Ok(Self {
            status: StatusWriter::new(system::now()),
            file: file.map(|path| MetricsFile::new(path, interval)),
            _socket: socket,
            manager,
            alive_at,
            waiting: 0,
            unnamable: 0,
            stopped: None,
        })
    }

    pub(super) fn ready(&self) {
        self.manager.ready();
    }

    /// Logs each new number of files whose names a record cannot contain.
    pub(super) fn log_unnamable(&mut self, approved: &Path, nameless: u64) {
        if nameless > 0 && nameless != self.unnamable {
            let path = approved.display().to_string();
            let why = format!("file names that are not valid UTF-8: {nameless}; help: rename them");
            let (path, reason) = (Some(path.as_str()), Some(why.as_str()));
            log_event::log(
                LogEvent::Ignored,
                &LogEventFields { path, reason, ..LogEventFields::default() },
            );
        }
        self.unnamable = nameless;
    }

    pub(super) fn reloading(&self) {
        self.manager.reloading();
    }

    pub(super) fn stopping(&self, grace: Duration) {
        self.manager.stopping();
        self.manager.extend_stop(grace);
    }

    pub(super) fn write_last_metrics(&mut self, host: &Daemon) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(&host.progress.metrics)
        {
            tracing::warn!("the metrics file lacks the last changes: {error}");
        }
    }

    /// Returns the time of the next call.
    pub(super) fn publish(
        &mut self,
        host: &Daemon,
        snapshot: &LoopSnapshot<'_>,
    ) -> Option<Instant> {
        let window = snapshot.window;
        let waiting = self.waiting.max(as_u64(window.len()));
        let counts =
            RequestCounts { waiting, held: as_u64(snapshot.held), ..host.progress.counts() };
        let now = Instant::now();
        let taken = host.capacity.in_use();
        let status = self.publish_status(host, snapshot, counts, (taken.1, now));
        let in_flight =
            self.status.write_in_flight(&host.spool, host.progress.in_flight().into_iter(), now);
        // Between two looks, the requests behind the window are unknown.
        let is_known = self.waiting == 0 || window.len() > 0;
        let in_line = is_known.then(|| {
            self.status.write_waiting(&host.spool, || waiting_requests(window), system::now(), now)
        });
        let numbers = self.publish_metrics(host, &counts, taken);
        // The writes above may have been slow, and the watchdog has a deadline.
        let now = Instant::now();
        if self.alive_at.is_some_and(|at| at <= now) {
            self.manager.ping_watchdog();
            self.alive_at = self.manager.watchdog_interval().map(|interval| now + interval);
        }
        let again = StatusWriter::next_write(snapshot.in_flight);
        [status, in_flight, in_line.flatten(), again, numbers, self.alive_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn publish_status(
        &mut self,
        host: &Daemon,
        snapshot: &LoopSnapshot<'_>,
        counts: RequestCounts,
        (memory_bytes, now): (u64, Instant),
    ) -> Option<Instant> {
        let max = host.capacity.limits();
        let policy = host.policy();
        let how = DaemonStatus {
            state: snapshot.state,
            reason: snapshot.why,
            admission_stopped: self.stopped.as_ref().map(|(_, why)| why.as_str()),
            counts,
            runs_max: as_u64(max.sandboxes),
            memory_bytes_reserved: memory_bytes,
            memory_bytes_max: Some(max.memory_bytes),
            policy: &policy,
        };
        self.status.write(&host.spool, &how, system::now(), now)
    }

    fn publish_metrics(
        &mut self,
        host: &Daemon,
        counts: &RequestCounts,
        (sandboxes, memory_bytes): (usize, u64),
    ) -> Option<Instant> {
        let metrics = &host.progress.metrics;
        metrics.requests(counts);
        metrics.running_sandboxes(as_u64(sandboxes), memory_bytes);
        metrics.prewarmed_sandboxes(as_u64(host.prewarmed().len()));
        if let Ok(free) = host.spool.free_bytes() {
            metrics.spool_free(free / FREE_STEP_BYTES * FREE_STEP_BYTES);
        }
        metrics.log_entries(host.log.entries());
        self.file.as_mut().and_then(|file| {
            if let Err(error) = file.write_if_due(metrics) {
                tracing::warn!("the metrics file is out of date: {error}");
            }
            file.due(metrics)
        })
    }

    /// Publishes and logs once why nothing is admitted.
    pub(super) fn stop_admission(
        &mut self,
        metrics: &Metrics,
        by: AdmissionStopReason,
        why: String,
    ) {
        let is_shortage = |by: AdmissionStopReason| {
            matches!(
                by,
                AdmissionStopReason::Disk
                    | AdmissionStopReason::NoSpace
                    | AdmissionStopReason::Descriptors
            )
        };
        let is_known =
            |known: AdmissionStopReason| known == by || (is_shortage(known) && is_shortage(by));
        if self.stopped.as_ref().is_some_and(|(known, _)| is_known(*known)) {
            if by == AdmissionStopReason::Fleet {
                // A gate may have another reason each second: the status has the present one.
                self.stopped = Some((by, why));
            }
            return;
        }
        let fields = LogEventFields { reason: Some(&why), ..LogEventFields::default() };
        log_event::log(LogEvent::AdmissionStopped, &fields);
        metrics.admission(Some(by));
        self.stopped = Some((by, why));
    }

    pub(super) fn resume_admission(&mut self, metrics: &Metrics) {
        if self.stopped.take().is_some() {
            log_event::log(LogEvent::AdmissionResumed, &LogEventFields::default());
            metrics.admission(None);
        }
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns the oldest submissions of each submitter, and whether the list is complete.
fn waiting_requests(window: &SubmissionWindow) -> (Vec<WaitingRequest>, bool) {
    let since = |(name, sec): (&str, i64)| WaitingRequest {
        file: name.to_owned(),
        since_utc: UtcTime::from_unix(sec).to_string(),
    };
    let oldest = window.oldest(WAITING_LISTED_MAX);
    let whole = oldest.len() == window.len() && !window.is_cut();
    (oldest.into_iter().map(since).collect(), whole)
}

/// Smaller changes of the free space are not worth another write of the metrics file.
const FREE_STEP_BYTES: u64 = 16 * 1024 * 1024;
