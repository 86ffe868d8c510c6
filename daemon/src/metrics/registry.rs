//! Which numbers there are and what each means. All of it may be called by every thread at once.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use model::{Outcome, UtcTime};
use policies::Policy;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use spool::{Counts, Want};
use validator::{Severity, Violation};

/// One label with its value.
type Label = [(&'static str, Cow<'static, str>); 1];
type Seconds = Family<Label, Histogram, fn() -> Histogram>;

model::closed_set! {
    /// What takes time between the drop of a request and its published record, in order.
    pub enum Timed {
        /// From the drop (the change time of its inode) to the claim.
        Queued = "queued",
        /// From the claim to the decision.
        Decide = "decide",
        /// The inputs, into their slot.
        Stage = "stage",
        /// The cell, until it was ready; next to nothing where one was kept ready.
        Cell = "cell",
        /// The tool, from its start to its end.
        Run = "run",
        /// The record signed and in the log.
        SignLog = "sign_log",
        /// From there to the published result.
        Publish = "publish",
        /// From the claim to the published result.
        Whole = "whole",
    }
}

model::closed_set! {
    /// Why nothing is admitted.
    pub enum StoppedBy {
        /// There is no room for the record of one more request.
        NoRoom = "no_room",
        /// A write found no room.
        Disk = "disk",
        /// There are too few file descriptors for one more request.
        Descriptors = "descriptors",
        /// Trust store, keys or policy cannot be read.
        Trust = "trust",
        /// No sandbox can be started on this host.
        Host = "host",
        /// The wall clock is behind what was begun or told.
        Clock = "clock",
        /// The daemon was told to stop.
        Drain = "drain",
    }
}

impl StoppedBy {
    /// A write or another call found a shortage.
    #[must_use]
    pub fn lacking(want: Want) -> Self {
        match want {
            Want::Room => Self::Disk,
            Want::Descriptors => Self::Descriptors,
        }
    }
}

/// The numbers of one daemon.
pub struct Metrics {
    registry: Registry,
    /// How often anything became another: who renders asks it whether there is something new.
    changes: AtomicU64,
    requests: Family<Label, Gauge>,
    outcomes: Family<Label, Counter>,
    refusals: Family<Label, Counter>,
    steps: Seconds,
    barriers: Histogram,
    fsyncs: Counter,
    running_cells: Gauge,
    ready_cells: Gauge,
    memory_promised: Gauge,
    memory_budget: Gauge,
    spool_free: Gauge,
    log_entries: Gauge,
    policy: Family<[(&'static str, String); 2], Gauge>,
    stopped: Family<Label, Gauge>,
}

impl Metrics {
    /// Everything at nothing, and when this daemon started.
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
            running_cells: Gauge::default(),
            ready_cells: Gauge::default(),
            memory_promised: Gauge::default(),
            memory_budget: Gauge::default(),
            spool_free: Gauge::default(),
            log_entries: Gauge::default(),
            policy: Family::default(),
            stopped: Family::default(),
        };
        metrics.begin().register(started)
    }

    /// What may be is there from the beginning: a rate needs the zero before the first.
    fn begin(self) -> Self {
        self.requests(&Counts::default());
        for outcome in Outcome::TEXTS {
            self.outcomes.get_or_create(&label("outcome", outcome)).inc_by(0);
        }
        for timed in Timed::ALL {
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
        it.register("outcomes", "Records published, by outcome", self.outcomes.clone());
        let help = "Refusals that name this code; one refusal may name several";
        it.register("refusals", help, self.refusals.clone());
        let help = "Time that requests spent in each step";
        it.register_with_unit("step", help, seconds(), self.steps.clone());
        let help = "Time of each barrier, one sync of the file system for everybody who waits";
        it.register_with_unit("barrier", help, seconds(), self.barriers.clone());
        it.register("fsyncs", "Single files and directories made durable", self.fsyncs.clone());
        it.register("running_cells", "Cells with a tool in them", self.running_cells.clone());
        it.register("ready_cells", "Cells kept ready for runs to come", self.ready_cells.clone());
        let help = "Memory that was promised to the runs in flight";
        it.register_with_unit("memory_promised", help, Unit::Bytes, self.memory_promised.clone());
        let help = "Memory that may be promised at once";
        it.register_with_unit("memory_budget", help, Unit::Bytes, self.memory_budget.clone());
        let help = "Free bytes of the file system that the spool is on";
        it.register_with_unit("spool_free", help, Unit::Bytes, self.spool_free.clone());
        it.register("log_entries", "Entries of the transparency log", self.log_entries.clone());
        let help = "When the daemon started, in seconds since 1970";
        it.register_with_unit("start_time", help, seconds(), start_time);
        it.register("policy_loaded", "The policy in force, always 1", self.policy.clone());
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

    /// How many requests are in each state: the same counts that the status tells.
    pub fn requests(&self, counts: &Counts) {
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

    /// A record was published.
    pub fn ended(&self, outcome: Outcome) {
        self.outcomes.get_or_create(&label("outcome", outcome.as_str())).inc();
        self.changed();
    }

    /// A refusal was published for these reasons. Warnings refuse nothing.
    pub fn refused(&self, violations: &[Violation]) {
        let errors = violations.iter().filter(|one| one.severity == Severity::Error);
        let mut codes: Vec<Cow<'static, str>> = errors.map(|one| one.code.as_str()).collect();
        // Codes are a closed list, so this makes no series without end.
        codes.sort();
        codes.dedup();
        for code in codes {
            self.refusals.get_or_create(&[("code", code)]).inc();
        }
        self.changed();
    }

    /// A request has a step behind it.
    pub fn took(&self, timed: Timed, time: Duration) {
        self.steps.get_or_create(&label("step", timed.as_str())).observe(time.as_secs_f64());
        self.changed();
    }

    /// A barrier was passed.
    pub fn barrier(&self, time: Duration) {
        self.barriers.observe(time.as_secs_f64());
        self.changed();
    }

    /// So many files or directories were made durable one by one.
    pub fn fsyncs(&self, count: u64) {
        self.fsyncs.inc_by(count);
        self.changed();
    }

    /// What runs, and what was promised to it in memory.
    pub fn running(&self, cells: u64, memory_bytes: u64) {
        self.set(&self.running_cells, cells);
        self.set(&self.memory_promised, memory_bytes);
    }

    /// How much memory may be promised at once.
    pub fn memory_budget(&self, bytes: u64) {
        self.set(&self.memory_budget, bytes);
    }

    /// How many cells are kept ready.
    pub fn ready_cells(&self, cells: u64) {
        self.set(&self.ready_cells, cells);
    }

    /// How much room the spool has.
    pub fn spool_free(&self, bytes: u64) {
        self.set(&self.spool_free, bytes);
    }

    /// How long the log is.
    pub fn log_entries(&self, entries: u64) {
        self.set(&self.log_entries, entries);
    }

    /// Another policy is in force.
    pub fn policy(&self, policy: &Policy) {
        self.policy_named(policy.name(), &policy.sha256().to_string());
    }

    fn policy_named(&self, name: &str, sha256: &str) {
        self.policy.clear();
        let labels = [("name", name.to_owned()), ("sha256", sha256.to_owned())];
        self.policy.get_or_create(&labels).set(1);
        self.changed();
    }

    /// Why nothing is admitted, or that it is again.
    pub fn admission(&self, stopped: Option<StoppedBy>) {
        for &reason in StoppedBy::ALL {
            let gauge = self.stopped.get_or_create(&label("reason", reason.as_str()));
            self.set(&gauge, u64::from(stopped == Some(reason)));
        }
    }

    /// How often anything changed so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// All of it as OpenMetrics text, version 1.0.0.
    #[must_use]
    pub fn render(&self) -> String {
        let mut rendered = String::new();
        if text::encode(&mut rendered, &self.registry).is_err() {
            // A text takes every write. Half of one would end without its mark and be refused.
            rendered.clear();
            writeln!(rendered, "# EOF").unwrap_or_default();
        }
        rendered
    }
}

fn label(name: &'static str, value: &'static str) -> Label {
    [(name, Cow::Borrowed(value))]
}

/// From what a warm cell takes to the longest run that policies allow.
fn step_seconds() -> Histogram {
    Histogram::new([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
        60.0, 300.0, 1800.0,
    ])
}
