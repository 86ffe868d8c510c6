//! The gate between `toolexecd` and `toolexec-fleet`: the daemon asks before each start, and starts
//! only after the answer [`GateAnswer::Start`]. No other answer permits a start, and neither does
//! silence.
//!
//! One connection to a Unix stream socket carries queries and answers in turn, each one line of
//! JSON with at most [`GATE_LINE_BYTES_MAX`] bytes. Unknown keys are refused.

mod client;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use client::{GateClient, GateError, GateLimit};

/// The longest line in bytes, with its line feed.
pub const GATE_LINE_BYTES_MAX: usize = 64 * 1024;

/// A query of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum GateQuery {
    /// Asks whether requests may be admitted. Answered from memory, without the database.
    Status,
    /// Asks for one start. The ledger line of this host is durable. The daemon may repeat the query
    /// until it gets an answer: all repetitions have one effect.
    Start(StartQuery),
}

/// One start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartQuery {
    /// The request's id.
    pub request: String,
    /// The SHA-256 of the request's document, 64 hex digits.
    pub document_sha256: String,
    /// The standing approval that the request uses.
    pub standing: Option<StandingUseQuery>,
}

/// One use of a standing approval, counted over all hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandingUseQuery {
    /// The id of the standing approval.
    pub approval: String,
    /// The SHA-256 of its document, 64 hex digits.
    pub document_sha256: String,
    /// The most uses in all.
    pub uses_max: u64,
    /// The most uses in any hour.
    pub uses_per_hour_max: Option<u64>,
}

/// An answer to the daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum GateAnswer {
    /// Requests may be admitted.
    Ready(FleetGauges),
    /// Nothing may be admitted.
    Stopped {
        /// The object, the event, and `help:` with an action.
        reason: String,
        /// The same figures as of a ready host, as far as they are known.
        gauges: FleetGauges,
    },
    /// The database has committed the start for this host. The tool may be started once.
    Start,
    /// The database has decided against the start. The tool is never started by this query.
    Refused {
        /// The object, the event, and `help:` with an action.
        reason: String,
    },
    /// The database gave no answer yet; the query must be asked again.
    Undecided {
        /// The last error.
        reason: String,
    },
}

/// Figures for the metrics of the daemon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetGauges {
    /// Requests that wait for a host.
    pub queued: u64,
    /// Requests that this host has claimed and not started.
    pub claimed: u64,
    /// Records of this host that the database does not have yet.
    pub unreported: u64,
    /// Seconds since the last beat of each host of the fleet, by the clock of the database.
    pub beat_age_sec: BTreeMap<String, f64>,
    /// Witnesses whose newest cosignature covers the log of this host at its last checkpoint.
    pub witnesses: u64,
    /// Hosts whose log does not extend the one that a witness saw.
    pub disputed: Vec<String>,
    /// The time of the last answered query of the database, in seconds.
    pub database_sec: f64,
}
