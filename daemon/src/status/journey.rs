//! The progress of each request: log lines, metrics, and a row in the table of requests in flight.
//! No decision depends on it, and it needs no reader.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::{RequestId, ResultId};
use policies::{Grant, Submission};
use sandbox::report::Usage;
use spool::{Counts, Hashed, Running, Step};
use validator::Request;

use crate::metrics::{Metrics, Timed};
use crate::system;
use crate::transition::{self, Fields, Transition};

/// The registry of requests in flight, and the metrics.
#[derive(Clone)]
pub(crate) struct Telling {
    pub(crate) metrics: Arc<Metrics>,
    in_flight: Arc<Mutex<ProgressTable>>,
}

#[derive(Default)]
struct ProgressTable {
    next: u64,
    rows: BTreeMap<u64, ProgressRow>,
}

/// The progress of one request.
struct ProgressRow {
    id: RequestId,
    claimed: Instant,
    running: Running,
    hashed: Option<Arc<Hashed>>,
}

impl ProgressRow {
    fn now(&self) -> Running {
        let bytes = self.hashed.as_ref().and_then(|hashed| hashed.bytes());
        let (hashed_bytes, input_bytes) = bytes.unzip();
        Running { hashed_bytes, input_bytes, ..self.running.clone() }
    }
}

/// A handle that observes the requests in flight of one host.
#[derive(Clone)]
pub struct Watching(Telling);

impl Watching {
    pub(crate) fn of(telling: &Telling) -> Self {
        Self(telling.clone())
    }

    /// Returns the present progress of each request.
    #[must_use]
    pub fn in_flight(&self) -> Vec<Running> {
        self.0.in_flight().into_iter().map(|(_, _, running)| running).collect()
    }
}

/// The progress of one request, reported to the registry.
pub(crate) struct Journey {
    telling: Telling,
    begun: Instant,
    last: Cell<Instant>,
    number: Cell<Option<u64>>,
}

impl Telling {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics: Arc::new(metrics), in_flight: Arc::default() }
    }

    pub(crate) fn journey(&self) -> Journey {
        let now = Instant::now();
        let (last, number) = (Cell::new(now), Cell::new(None));
        Journey { telling: self.clone(), begun: now, last, number }
    }

    /// Returns all requests in flight, each with the time of its claim.
    pub(crate) fn in_flight(&self) -> Vec<(RequestId, Instant, Running)> {
        let rows = self.rows();
        rows.rows.values().map(|row| (row.id.clone(), row.claimed, row.now())).collect()
    }

    /// Counts the requests in each step.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for row in self.rows().rows.values() {
            match row.running.step {
                Step::Claimed => counts.claimed += 1,
                Step::Staging => counts.staging += 1,
                Step::Running => counts.running += 1,
                Step::Publishing => counts.publishing += 1,
            }
        }
        counts
    }

    fn rows(&self) -> MutexGuard<'_, ProgressTable> {
        // A row is complete or absent.
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journey {
    /// Reports a well-formed request and its submitter.
    pub(crate) fn claimed(&self, request: &Request, submission: &Submission) {
        let submitter = match submission {
            Submission::Dropped { owner, owner_name } => {
                Some(owner_name.clone().unwrap_or_else(|| owner.get().to_string()))
            }
            Submission::Invoked { name, .. } => name.clone(),
        };
        let now = system::now().to_string();
        let running = Running {
            request_id: request.id().to_string(),
            since_utc: now.clone(),
            step: Step::Claimed,
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
        let mut in_flight = self.telling.rows();
        let number = in_flight.next;
        in_flight.next += 1;
        let (id, claimed) = (request.id().clone(), self.begun);
        in_flight.rows.insert(number, ProgressRow { id, claimed, running, hashed: None });
        drop(in_flight);
        self.number.set(Some(number));
        self.line(Transition::Claimed, request.id());
    }

    /// Reports that the request was granted.
    pub(crate) fn granted(&self, id: &RequestId, grant: &Grant) {
        self.change(|row| {
            row.time_sec_max = Some(grant.limits().time_sec);
            row.memory_bytes_max = Some(grant.limits().memory_bytes);
            row.cpu_ms_max = Some(grant.limits().cpu_time_ms);
        });
        self.line(Transition::Granted, id);
    }

    /// Reports that staging of the inputs has begun.
    pub(crate) fn staging(&self, hashed: Arc<Hashed>) {
        self.came_to(Step::Staging);
        let Some(number) = self.number.get() else { return };
        if let Some(row) = self.telling.rows().rows.get_mut(&number) {
            row.hashed = Some(hashed);
        }
    }

    /// Updates the resource use of the tool, as reported by the launcher.
    pub(crate) fn used(&self, usage: Usage) {
        self.change(|row| {
            row.memory_bytes = usage.memory_bytes;
            row.cpu_ms = usage.cpu_us.map(|us| us / 1000);
        });
    }

    /// Updates the current step.
    pub(crate) fn came_to(&self, step: Step) {
        self.change(|row| {
            row.step = step;
            row.step_since_utc = system::now().to_string();
        });
    }

    /// Logs an event of this request.
    pub(crate) fn line(&self, transition: Transition, id: &RequestId) {
        transition::log(transition, &Fields { request: Some(id.as_str()), ..Fields::default() });
    }

    /// Reports that the tool has ended, or that its end is unknown.
    pub(crate) fn ended(&self, id: &RequestId, result: &ResultId) {
        let fields = Fields {
            request: Some(id.as_str()),
            result: Some(result.as_str()),
            time: Some(self.last.get().elapsed()),
            ..Fields::default()
        };
        transition::log(Transition::Ended, &fields);
        self.took(Timed::Run);
        self.came_to(Step::Publishing);
    }

    /// Records the duration of a step since the previous one.
    pub(crate) fn took(&self, timed: Timed) {
        let now = Instant::now();
        self.telling.metrics.took(timed, now.duration_since(self.last.replace(now)));
    }

    /// Returns the time of the claim.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.telling.metrics
    }

    fn change(&self, change: impl FnOnce(&mut Running)) {
        let Some(number) = self.number.get() else { return };
        if let Some(row) = self.telling.rows().rows.get_mut(&number) {
            change(&mut row.running);
        }
    }
}

impl Drop for Journey {
    fn drop(&mut self) {
        if let Some(number) = self.number.get() {
            self.telling.rows().rows.remove(&number);
        }
    }
}
