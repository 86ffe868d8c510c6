//! Publishes the state of the event loop: files in `public/`, metrics, and messages to the service
//! manager. It publishes after the fact and waits for no reader.

use std::path::Path;
use std::time::Instant;

use model::UtcTime;
use spool::{Counts, DaemonState, WAITING_TOLD_MAX, WaitsSince};

use super::window::Window;
use crate::host::Host;
use crate::metrics::{Metrics, MetricsFile, MetricsSettings, MetricsSocket, StoppedBy};
use crate::model::Halt;
use crate::status::notify_host::HostManager;
use crate::status::{How, StatusTeller};
use crate::system;
use crate::transition::{self, Fields, Transition};

/// The outputs, with the values that were published last.
pub(super) struct StatusPublisher {
    status: StatusTeller,
    file: Option<MetricsFile>,
    /// Owned, so that the socket exists as long as the daemon.
    _socket: Option<MetricsSocket>,
    manager: HostManager,
    alive_at: Option<Instant>,
    /// Submissions of the last look that have not got a worker.
    pub(super) waiting: u64,
    /// The last logged number of names that a record cannot contain.
    nameless: u64,
    stopped: Option<(StoppedBy, String)>,
}

/// The published state of the event loop.
pub(super) struct LoopSnapshot<'a> {
    pub(super) state: DaemonState,
    /// The reason of a fatal error.
    pub(super) why: Option<&'a str>,
    /// The number of held requests.
    pub(super) held: usize,
    /// The number of requests that workers have.
    pub(super) in_flight: usize,
    pub(super) window: &'a Window,
}

impl StatusPublisher {
    pub(super) fn new(host: &Host, settings: MetricsSettings) -> Result<Self, Halt> {
        let MetricsSettings { file, socket, interval } = settings;
        let metrics = &host.telling.metrics;
        let listen = |path: std::path::PathBuf| MetricsSocket::listen(&path, metrics.clone());
        let socket = match socket.map(listen).transpose() {
            Err(error) if error.want().is_some() => {
                tracing::error!("metrics are not served until a restart: {error}");
                None
            }
            socket => socket.map_err(Halt::Metrics)?,
        };
        metrics.policy(&host.policy());
        metrics.memory_budget(host.room.max().memory_bytes);
        let manager = HostManager::of_environment();
        let alive_at = manager.alive_interval().map(|_| Instant::now());
        Ok(Self {
            status: StatusTeller::new(system::now()),
            file: file.map(|path| MetricsFile::new(path, interval)),
            _socket: socket,
            manager,
            alive_at,
            waiting: 0,
            nameless: 0,
            stopped: None,
        })
    }

    /// Reports that the daemon takes submissions.
    pub(super) fn ready(&self) {
        self.manager.ready();
    }

    /// Logs the number of files whose names a record cannot contain, once per number.
    pub(super) fn nameless(&mut self, approved: &Path, nameless: u64) {
        if nameless > 0 && nameless != self.nameless {
            let path = approved.display().to_string();
            let why = format!("file names that are not valid UTF-8: {nameless}; help: rename them");
            let (path, reason) = (Some(path.as_str()), Some(why.as_str()));
            transition::log(Transition::LeftAlone, &Fields { path, reason, ..Fields::default() });
        }
        self.nameless = nameless;
    }

    pub(super) fn reloading(&self) {
        self.manager.reloading();
    }

    pub(super) fn stopping(&self) {
        self.manager.stopping();
    }

    /// Writes the metrics file at the end, regardless of its interval.
    pub(super) fn last_numbers(&mut self, host: &Host) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(&host.telling.metrics)
        {
            tracing::warn!("the metrics file lacks the last changes: {error}");
        }
    }

    /// Publishes what has changed. Returns the time of the next call.
    pub(super) fn tell(&mut self, host: &Host, snapshot: &LoopSnapshot<'_>) -> Option<Instant> {
        let window = snapshot.window;
        let waiting = self.waiting.max(as_u64(window.len()));
        let counts = Counts { waiting, held: as_u64(snapshot.held), ..host.telling.counts() };
        let now = Instant::now();
        let taken = host.room.taken();
        let told = self.tell_status(host, snapshot, counts, (taken.1, now));
        let in_flight =
            self.status.tell_in_flight(&host.spool, host.telling.in_flight().into_iter(), now);
        // Between two looks, the requests behind the window are unknown.
        let is_known = self.waiting == 0 || window.len() > 0;
        let in_line = is_known.then(|| {
            self.status.tell_waiting(&host.spool, || who_waits(window), system::now(), now)
        });
        let numbers = self.tell_numbers(host, &counts, taken);
        // The writes above may have been slow, so that the watchdog deadline is compared with the
        // time after them.
        let now = Instant::now();
        if self.alive_at.is_some_and(|at| at <= now) {
            self.manager.alive();
            self.alive_at = self.manager.alive_interval().map(|interval| now + interval);
        }
        let again = StatusTeller::look_again(snapshot.in_flight);
        [told, in_flight, in_line.flatten(), again, numbers, self.alive_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn tell_status(
        &mut self,
        host: &Host,
        snapshot: &LoopSnapshot<'_>,
        counts: Counts,
        (memory_bytes, now): (u64, Instant),
    ) -> Option<Instant> {
        let max = host.room.max();
        let policy = host.policy();
        let how = How {
            state: snapshot.state,
            why: snapshot.why,
            admission_stopped: self.stopped.as_ref().map(|(_, why)| why.as_str()),
            counts,
            runs_max: as_u64(max.cells),
            memory_bytes_promised: memory_bytes,
            memory_bytes_max: Some(max.memory_bytes),
            policy: &policy,
        };
        self.status.tell(&host.spool, &how, system::now(), now)
    }

    fn tell_numbers(
        &mut self,
        host: &Host,
        counts: &Counts,
        (cells, memory_bytes): (usize, u64),
    ) -> Option<Instant> {
        let metrics = &host.telling.metrics;
        metrics.requests(counts);
        metrics.running(as_u64(cells), memory_bytes);
        metrics.ready_cells(as_u64(host.ready_cells().len()));
        if let Ok(free) = host.spool.free_bytes() {
            metrics.spool_free(free / FREE_STEP_BYTES * FREE_STEP_BYTES);
        }
        metrics.log_entries(host.log.entries());
        self.file.as_mut().and_then(|file| {
            if let Err(error) = file.keep(metrics) {
                tracing::warn!("the metrics file is out of date: {error}");
            }
            file.due(metrics)
        })
    }

    /// Publishes and logs once why nothing is admitted.
    pub(super) fn stop_admission(&mut self, metrics: &Metrics, by: StoppedBy, why: String) {
        let for_room = |by: StoppedBy| {
            matches!(by, StoppedBy::Disk | StoppedBy::NoRoom | StoppedBy::Descriptors)
        };
        let is_known = |known: StoppedBy| known == by || (for_room(known) && for_room(by));
        if self.stopped.as_ref().is_some_and(|(known, _)| is_known(*known)) {
            return;
        }
        let fields = Fields { reason: Some(&why), ..Fields::default() };
        transition::log(Transition::AdmissionStopped, &fields);
        metrics.admission(Some(by));
        self.stopped = Some((by, why));
    }

    /// Publishes that requests are admitted again.
    pub(super) fn resume_admission(&mut self, metrics: &Metrics) {
        if self.stopped.take().is_some() {
            transition::log(Transition::AdmissionResumed, &Fields::default());
            metrics.admission(None);
        }
    }
}

fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns the oldest submissions of each submitter by name, and whether the list is complete.
fn who_waits(window: &Window) -> (Vec<WaitsSince>, bool) {
    let since = |(name, sec): (&str, i64)| WaitsSince {
        file: name.to_owned(),
        since_utc: UtcTime::from_unix(sec).to_string(),
    };
    let oldest = window.oldest(WAITING_TOLD_MAX);
    let whole = oldest.len() == window.len() && !window.is_cut();
    (oldest.into_iter().map(since).collect(), whole)
}

/// Smaller changes of the free space are not worth another write of the metrics file.
const FREE_STEP_BYTES: u64 = 16 * 1024 * 1024;
