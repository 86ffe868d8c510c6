//! The progress of each request: log lines, metrics, and a row in the table of requests in flight.
//! No decision depends on it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::{RequestId, ResultId};
use policies::{RunGrant, SubmissionOrigin};
use sandbox::report::Usage;
use spool::{HashProgress, RequestCounts, RunningRequest, RunningStep};
use validator::Request;

use crate::log_event::{self, LogEvent, LogEventFields};
use crate::metrics::{Metrics, TimedStep};
use crate::system;

#[derive(Clone)]
pub(crate) struct ProgressRegistry {
    pub(crate) metrics: Arc<Metrics>,
    in_flight: Arc<Mutex<ProgressTable>>,
}

#[derive(Default)]
struct ProgressTable {
    next: u64,
    rows: BTreeMap<u64, ProgressRow>,
}

struct ProgressRow {
    id: RequestId,
    claimed: Instant,
    running: RunningRequest,
    hashed: Option<Arc<HashProgress>>,
}

impl ProgressRow {
    fn now(&self) -> RunningRequest {
        let bytes = self.hashed.as_ref().and_then(|hashed| hashed.bytes());
        let (hashed_bytes, input_bytes) = bytes.unzip();
        RunningRequest { hashed_bytes, input_bytes, ..self.running.clone() }
    }
}

/// A handle that observes the requests in flight of one host.
#[derive(Clone)]
pub struct ProgressObserver(ProgressRegistry);

impl ProgressObserver {
    pub(crate) fn of(registry: &ProgressRegistry) -> Self {
        Self(registry.clone())
    }

    /// Returns the present progress of each request.
    #[must_use]
    pub fn in_flight(&self) -> Vec<RunningRequest> {
        self.0.in_flight().into_iter().map(|(_, _, running)| running).collect()
    }
}

pub(crate) struct RequestProgress {
    registry: ProgressRegistry,
    claimed: Instant,
    last: Cell<Instant>,
    number: Cell<Option<u64>>,
}

impl ProgressRegistry {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics: Arc::new(metrics), in_flight: Arc::default() }
    }

    pub(crate) fn start(&self) -> RequestProgress {
        let now = Instant::now();
        let (last, number) = (Cell::new(now), Cell::new(None));
        RequestProgress { registry: self.clone(), claimed: now, last, number }
    }

    /// Each request has the time of its claim.
    pub(crate) fn in_flight(&self) -> Vec<(RequestId, Instant, RunningRequest)> {
        let rows = self.rows();
        rows.rows.values().map(|row| (row.id.clone(), row.claimed, row.now())).collect()
    }

    pub(crate) fn counts(&self) -> RequestCounts {
        let mut counts = RequestCounts::default();
        for row in self.rows().rows.values() {
            match row.running.step {
                RunningStep::Claimed => counts.claimed += 1,
                RunningStep::Staging => counts.staging += 1,
                RunningStep::Running => counts.running += 1,
                RunningStep::Publishing => counts.publishing += 1,
            }
        }
        counts
    }

    fn rows(&self) -> MutexGuard<'_, ProgressTable> {
        // A row is complete or absent.
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestProgress {
    /// Reports a well-formed request and its submitter.
    pub(crate) fn claimed(&self, request: &Request, submission: &SubmissionOrigin) {
        let submitter = match submission {
            SubmissionOrigin::Submitted { owner, owner_name } => {
                Some(owner_name.clone().unwrap_or_else(|| owner.get().to_string()))
            }
            SubmissionOrigin::Invoked { name, .. } => name.clone(),
        };
        let now = system::now().to_string();
        let running = RunningRequest {
            request_id: request.id().to_string(),
            since_utc: now.clone(),
            step: RunningStep::Claimed,
            step_since_utc: now,
            time_sec_max: None,
            memory_bytes_max: None,
            submitter,
            hashed_bytes: None,
            input_bytes: None,
            memory_bytes: None,
            cpu_ms: None,
            cpu_ms_max: None,
        };
        let mut in_flight = self.registry.rows();
        let number = in_flight.next;
        in_flight.next += 1;
        let (id, claimed) = (request.id().clone(), self.claimed);
        in_flight.rows.insert(number, ProgressRow { id, claimed, running, hashed: None });
        drop(in_flight);
        self.number.set(Some(number));
        self.log_event(LogEvent::Claimed, request.id());
    }

    pub(crate) fn granted(&self, id: &RequestId, grant: &RunGrant) {
        self.change(|row| {
            row.time_sec_max = Some(grant.limits().time_sec);
            row.memory_bytes_max = Some(grant.limits().memory_bytes);
            row.cpu_ms_max = Some(grant.limits().cpu_time_ms);
        });
        self.log_event(LogEvent::Granted, id);
    }

    pub(crate) fn staging(&self, hashed: Arc<HashProgress>) {
        self.enter_step(RunningStep::Staging);
        let Some(number) = self.number.get() else { return };
        if let Some(row) = self.registry.rows().rows.get_mut(&number) {
            row.hashed = Some(hashed);
        }
    }

    /// As reported by the launcher.
    pub(crate) fn used(&self, usage: Usage) {
        self.change(|row| {
            row.memory_bytes = usage.memory_bytes;
            row.cpu_ms = usage.cpu_us.map(|us| us / 1000);
        });
    }

    pub(crate) fn enter_step(&self, step: RunningStep) {
        self.change(|row| {
            row.step = step;
            row.step_since_utc = system::now().to_string();
        });
    }

    pub(crate) fn log_event(&self, event: LogEvent, id: &RequestId) {
        log_event::log(
            event,
            &LogEventFields { request: Some(id.as_str()), ..LogEventFields::default() },
        );
    }

    /// The end may be unknown.
    pub(crate) fn ended(&self, id: &RequestId, result: &ResultId) {
        let fields = LogEventFields {
            request: Some(id.as_str()),
            result: Some(result.as_str()),
            time: Some(self.last.get().elapsed()),
            ..LogEventFields::default()
        };
        log_event::log(LogEvent::Ended, &fields);
        self.step_took(TimedStep::Run);
        self.enter_step(RunningStep::Publishing);
    }

    /// Records the time since the previous step.
    pub(crate) fn step_took(&self, timed: TimedStep) {
        let now = Instant::now();
        self.registry.metrics.step_took(timed, now.duration_since(self.last.replace(now)));
    }

    pub(crate) fn begun(&self) -> Instant {
        self.claimed
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.registry.metrics
    }

    fn change(&self, change: impl FnOnce(&mut RunningRequest)) {
        let Some(number) = self.number.get() else { return };
        if let Some(row) = self.registry.rows().rows.get_mut(&number) {
            change(&mut row.running);
        }
    }
}

impl Drop for RequestProgress {
    fn drop(&mut self) {
        if let Some(number) = self.number.get() {
            self.registry.rows().rows.remove(&number);
        }
    }
}
