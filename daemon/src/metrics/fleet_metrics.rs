//! The metrics of a fleet. A host without the key `fleet` has none of them. The only names of hosts
//! are those of the signed list, so that a gate cannot add a time series.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use fleet::gate::FleetGauges;
use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

type HostLabel = [(&'static str, String); 1];
type SecondsGauge = Gauge<f64, AtomicU64>;

/// The metrics, and the hosts of the list.
pub(super) struct FleetMetrics {
    registry: Registry,
    hosts: Vec<String>,
    ready: Gauge,
    queued: Gauge,
    claimed: Gauge,
    unreported: Gauge,
    witnesses: Gauge,
    disputed: Family<HostLabel, Gauge>,
    beat_age: Family<HostLabel, SecondsGauge>,
    database: SecondsGauge,
    starts: Histogram,
}

impl FleetMetrics {
    /// Returns zeroed metrics of a fleet with these hosts. The age of a beat is absent until it is
    /// known.
    pub(super) fn new(hosts: Vec<String>) -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("toolexec_fleet"),
            hosts,
            ready: Gauge::default(),
            queued: Gauge::default(),
            claimed: Gauge::default(),
            unreported: Gauge::default(),
            witnesses: Gauge::default(),
            disputed: Family::default(),
            beat_age: Family::default(),
            database: SecondsGauge::default(),
            starts: Histogram::new([
                0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0,
                15.0, 60.0, 300.0,
            ]),
        };
        for host in &metrics.hosts {
            metrics.disputed.get_or_create(&label(host)).set(0);
        }
        metrics.register()
    }

    fn register(mut self) -> Self {
        let it = &mut self.registry;
        it.register("ready", "1 while the gate permits admission", self.ready.clone());
        it.register("queued", "Requests that wait for a host", self.queued.clone());
        let help = "Requests that this host has claimed and not started";
        it.register("claimed", help, self.claimed.clone());
        let help = "Records of this host that the database does not have yet";
        it.register("unreported", help, self.unreported.clone());
        let help = "Witnesses that have cosigned the last checkpoint of this host";
        it.register("witnesses", help, self.witnesses.clone());
        let help = "1 if a witness saw another log of the host";
        it.register("disputed", help, self.disputed.clone());
        let help = "Time since the last beat of each host, by the clock of the database";
        it.register_with_unit("beat_age", help, Unit::Seconds, self.beat_age.clone());
        let help = "Time of the last answered query of the database";
        it.register_with_unit("database", help, Unit::Seconds, self.database.clone());
        let help = "Time from the query for a start to its answer";
        it.register_with_unit("start", help, Unit::Seconds, self.starts.clone());
        self
    }

    /// Sets the last answer of the gate. Without figures, those of the last answer stay.
    pub(super) fn status(&self, is_ready: bool, gauges: Option<&FleetGauges>) {
        self.ready.set(i64::from(is_ready));
        let Some(gauges) = gauges else { return };
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.queued.set(whole(gauges.queued));
        self.claimed.set(whole(gauges.claimed));
        self.unreported.set(whole(gauges.unreported));
        self.witnesses.set(whole(gauges.witnesses));
        self.database.set(gauges.database_sec);
        for host in &self.hosts {
            let is_disputed = gauges.disputed.contains(host);
            self.disputed.get_or_create(&label(host)).set(i64::from(is_disputed));
            if let Some(age) = gauges.beat_age_sec.get(host) {
                self.beat_age.get_or_create(&label(host)).set(*age);
            }
        }
    }

    /// Records the time of one query for a start.
    pub(super) fn start_took(&self, time: Duration) {
        self.starts.observe(time.as_secs_f64());
    }

    /// Appends the metrics as OpenMetrics text, without an end mark.
    pub(super) fn encode(&self, rendered: &mut String) -> fmt::Result {
        text::encode_registry(rendered, &self.registry)
    }
}

fn label(host: &str) -> HostLabel {
    [("host", host.to_owned())]
}
