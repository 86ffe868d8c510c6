//! The metrics and their meaning. Any thread may call any method.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use fleet::gate::FleetGauges;
use model::{Outcome, UtcTime};
use policies::Policy;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use spool::{RequestCounts, Shortage};
use validator::{Severity, Violation};

use super::fleet_metrics::FleetMetrics;

type MetricLabel = [(&'static str, Cow<'static, str>); 1];
type SecondsHistogram = Family<MetricLabel, Histogram, fn() -> Histogram>;

model::closed_set! {
    /// The timed steps of a request, in order.
    pub enum TimedStep {
        /// From the submission (the change time of its inode) to the claim.
        Queued = "queued",
        /// From the claim to the decision.
        Decide = "decide",
        /// Staging of the inputs.
        Stage = "stage",
        /// From the staged inputs to a ready sandbox; near zero if one was prewarmed.
        Sandbox = "sandbox",
        /// From the start of the tool to its end.
        Run = "run",
        /// Signing and logging the record.
        SignLog = "sign_log",
        /// From the logged record to the published result.
        Publish = "publish",
        /// From the claim to the published result.
        Whole = "whole",
    }
}

model::closed_set! {
    /// The reason why nothing is admitted.
    pub enum AdmissionStopReason {
        /// Too little disk space for the record of another request.
        NoSpace = "no_space",
        /// A write failed for lack of disk space.
        Disk = "disk",
        /// Too few file descriptors for another request.
        Descriptors = "descriptors",
        /// The trust store, keys or policy cannot be read.
        Trust = "trust",
        /// No sandbox can be started on this host.
        Host = "host",
        /// The wall clock is earlier than the last recorded time.
        Clock = "clock",
        /// The gate of the fleet does not permit admission, or does not answer.
        Fleet = "fleet",
        /// The daemon is stopping.
        Drain = "drain",
    }
}

impl AdmissionStopReason {
    /// Returns the reason for a shortage that a call has met.
    #[must_use]
    pub fn of_shortage(want: Shortage) -> Self {
        match want {
            Shortage::DiskSpace => Self::Disk,
            Shortage::Descriptors => Self::Descriptors,
        }
    }
}

/// The metrics of one daemon.
pub struct Metrics {
    registry: Registry,
    /// The number of changes, which the writer of the file compares with that of its last write.
    changes: AtomicU64,
    requests: Family<MetricLabel, Gauge>,
    outcomes: Family<MetricLabel, Counter>,
    refusals: Family<MetricLabel, Counter>,
    steps: SecondsHistogram,
    barriers: Histogram,
    fsyncs: Counter,
    running_sandboxes: Gauge,
    prewarmed_sandboxes: Gauge,
    memory_reserved: Gauge,
    memory_budget: Gauge,
    spool_free: Gauge,
    log_entries: Gauge,
    policy: Family<[(&'static str, String); 2], Gauge>,
    stopped: Family<MetricLabel, Gauge>,
    /// Those of the fleet, if this host belongs to one.
    fleet: OnceLock<FleetMetrics>,
}

impl Metrics {
    /// Returns zeroed metrics, with the start time of the daemon.
    #[must_use]
    pub fn new(started: UtcTime) -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("toolexec"),
            changes: AtomicU64::new(1),
            requests: Family::default(),
            outcomes: Family::default(),
            refusals: Family::default(),
            steps: Family::new_with_constructor(step_seconds),
            barriers: Histogram::new([
                0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
            ]),
            fsyncs: Counter::default(),
            running_sandboxes: Gauge::default(),
            prewarmed_sandboxes: Gauge::default(),
            memory_reserved: Gauge::default(),
            memory_budget: Gauge::default(),
            spool_free: Gauge::default(),
            log_entries: Gauge::default(),
            policy: Family::default(),
            stopped: Family::default(),
            fleet: OnceLock::new(),
        };
        metrics.create_series().register(started)
    }

    /// Creates every time series with the value zero: a rate needs a zero before the first event.
    fn create_series(self) -> Self {
        self.requests(&RequestCounts::default());
        for outcome in Outcome::TEXTS {
            self.outcomes.get_or_create(&label("outcome", outcome)).inc_by(0);
        }
        for timed in TimedStep::ALL {
            drop(self.steps.get_or_create(&label("step", timed.as_str())));
        }
        self.admission(None);
        self
    }

    fn register(mut self, started: UtcTime) -> Self {
        let start_time = Gauge::<i64, AtomicI64>::default();
        start_time.set(started.unix());
        let it = &mut self.registry;
        let seconds = || Unit::Seconds;
        it.register("requests", "Requests in each state", self.requests.clone());
        it.register("outcomes", "Published records, by outcome", self.outcomes.clone());
        let help = "Refusals with this code; a refusal may have several codes";
        it.register("refusals", help, self.refusals.clone());
        let help = "Time of requests in each step";
        it.register_with_unit("step", help, seconds(), self.steps.clone());
        let help = "Time of each barrier: one file system sync shared by all waiting threads";
        it.register_with_unit("barrier", help, seconds(), self.barriers.clone());
        it.register("fsyncs", "Files and directories synced one by one", self.fsyncs.clone());
        let help = "Sandboxes with a running tool";
        it.register("running_sandboxes", help, self.running_sandboxes.clone());
        it.register("prewarmed_sandboxes", "Prewarmed sandboxes", self.prewarmed_sandboxes.clone());
        let help = "Memory reserved for the runs in progress";
        it.register_with_unit("memory_reserved", help, Unit::Bytes, self.memory_reserved.clone());
        let help = "Memory that may be reserved at one time";
        it.register_with_unit("memory_budget", help, Unit::Bytes, self.memory_budget.clone());
        let help = "Free space of the spool's file system";
        it.register_with_unit("spool_free", help, Unit::Bytes, self.spool_free.clone());
        it.register("log_entries", "Entries of the transparency log", self.log_entries.clone());
        let help = "Start time of the daemon, in seconds since 1970";
        it.register_with_unit("start_time", help, seconds(), start_time);
        it.register("policy_loaded", "The active policy, always 1", self.policy.clone());
        let help = "1 while nothing is admitted for this reason";
        it.register("admission_stopped", help, self.stopped.clone());
        self
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, gauge: &Gauge, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        if gauge.set(value) != value {
            self.changed();
        }
    }

    /// Sets the number of requests in each state, as in the published status.
    pub fn requests(&self, counts: &RequestCounts) {
        for (state, count) in [
            ("waiting", counts.waiting),
            ("held", counts.held),
            ("claimed", counts.claimed),
            ("staging", counts.staging),
            ("running", counts.running),
            ("publishing", counts.publishing),
        ] {
            self.set(&self.requests.get_or_create(&label("state", state)), count);
        }
    }

    /// Counts a published record.
    pub fn record_published(&self, outcome: Outcome) {
        self.outcomes.get_or_create(&label("outcome", outcome.as_str())).inc();
        self.changed();
    }

    /// Counts a published refusal under each of its codes. Warnings do not count.
    pub fn refusal_published(&self, violations: &[Violation]) {
        let errors = violations.iter().filter(|one| one.severity == Severity::Error);
        let mut codes: Vec<Cow<'static, str>> = errors.map(|one| one.code.as_str()).collect();
        // Codes are a closed set, so that the number of time series is bounded.
        codes.sort();
        codes.dedup();
        for code in codes {
            self.refusals.get_or_create(&[("code", code)]).inc();
        }
        self.changed();
    }

    /// Records the duration of a step of a request.
    pub fn step_took(&self, timed: TimedStep, time: Duration) {
        self.steps.get_or_create(&label("step", timed.as_str())).observe(time.as_secs_f64());
        self.changed();
    }

    /// Records the duration of a barrier.
    pub fn barrier(&self, time: Duration) {
        self.barriers.observe(time.as_secs_f64());
        self.changed();
    }

    /// Counts files and directories that were synced one by one.
    pub fn fsyncs(&self, count: u64) {
        self.fsyncs.inc_by(count);
        self.changed();
    }

    /// Sets the number of running sandboxes, and the memory reserved to them in bytes.
    pub fn running_sandboxes(&self, count: u64, memory_bytes: u64) {
        self.set(&self.running_sandboxes, count);
        self.set(&self.memory_reserved, memory_bytes);
    }

    /// Sets the memory that may be reserved at one time, in bytes.
    pub fn memory_budget(&self, bytes: u64) {
        self.set(&self.memory_budget, bytes);
    }

    /// Sets the number of prewarmed sandboxes.
    pub fn prewarmed_sandboxes(&self, count: u64) {
        self.set(&self.prewarmed_sandboxes, count);
    }

    /// Sets the free space of the spool, in bytes.
    pub fn spool_free(&self, bytes: u64) {
        self.set(&self.spool_free, bytes);
    }

    /// Sets the number of log entries.
    pub fn log_entries(&self, entries: u64) {
        self.set(&self.log_entries, entries);
    }

    /// Sets the policy in use.
    pub fn policy(&self, policy: &Policy) {
        self.policy_named(policy.name(), &policy.sha256().to_string());
    }

    fn policy_named(&self, name: &str, sha256: &str) {
        self.policy.clear();
        let labels = [("name", name.to_owned()), ("sha256", sha256.to_owned())];
        self.policy.get_or_create(&labels).set(1);
        self.changed();
    }

    /// Sets the reason why nothing is admitted; none clears it.
    pub fn admission(&self, stopped: Option<AdmissionStopReason>) {
        for &reason in AdmissionStopReason::ALL {
            let gauge = self.stopped.get_or_create(&label("reason", reason.as_str()));
            self.set(&gauge, u64::from(stopped == Some(reason)));
        }
    }

    /// Adds the metrics of a fleet with these hosts.
    pub fn begin_fleet(&self, hosts: Vec<String>) {
        if self.fleet.set(FleetMetrics::new(hosts)).is_ok() {
            self.changed();
        }
    }

    /// Sets the last answer of the gate of the fleet, and the figures in it.
    pub fn fleet_status(&self, is_ready: bool, gauges: Option<&FleetGauges>) {
        if let Some(fleet) = self.fleet.get() {
            fleet.status(is_ready, gauges);
            self.changed();
        }
    }

    /// Records the time of one query for a start in the fleet.
    pub fn fleet_start_took(&self, time: Duration) {
        if let Some(fleet) = self.fleet.get() {
            fleet.start_took(time);
            self.changed();
        }
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Renders the metrics as OpenMetrics text, version 1.0.0.
    #[must_use]
    pub fn render(&self) -> String {
        let mut rendered = String::new();
        if self.encode(&mut rendered).is_err() {
            // Writing to a string does not fail. A text without its end mark would be refused.
            rendered.clear();
            writeln!(rendered, "# EOF").unwrap_or_default();
        }
        rendered
    }

    fn encode(&self, rendered: &mut String) -> fmt::Result {
        text::encode_registry(rendered, &self.registry)?;
        if let Some(fleet) = self.fleet.get() {
            fleet.encode(rendered)?;
        }
        text::encode_eof(rendered)
    }
}

fn label(name: &'static str, value: &'static str) -> MetricLabel {
    [(name, Cow::Borrowed(value))]
}

/// Buckets from the time of a prewarmed sandbox to the longest run that policies allow.
fn step_seconds() -> Histogram {
    Histogram::new([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
        60.0, 300.0, 1800.0,
    ])
}
