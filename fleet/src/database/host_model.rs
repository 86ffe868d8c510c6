//! The answers about hosts, their logs and the fleet that the calls of a database share.

use std::collections::BTreeMap;

use fleet::model::HostName;

model::closed_set! {
    /// The wake-up channel to listen to.
    pub(crate) enum Channel {
        /// A document was submitted, or a claim became free.
        Requests = "toolexec_request",
        /// A result was reported.
        Results = "toolexec_result",
    }
}

/// The outcome of `init`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Initialised {
    /// The fleet's id, which the database made.
    pub(crate) fleet_id: String,
    /// The version of the tables.
    pub(crate) schema_version: i32,
    /// The version that they had before; `None` if there were none.
    pub(crate) former_version: Option<i32>,
}

/// The fleet to which a database belongs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FleetIdentity {
    /// Its name.
    pub(crate) fleet: HostName,
    /// Its id.
    pub(crate) fleet_id: String,
}

/// A signed order: the host is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LostRow {
    /// The host.
    pub(crate) host: HostName,
    /// The signed text.
    pub(crate) order: String,
    /// Its SSH signature.
    pub(crate) signature: String,
}

/// The outcome of an order about a lost host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LostAnswer {
    /// The requests that are indeterminate now.
    pub(crate) indeterminate: Vec<String>,
    /// The number of requests that wait for another host again.
    pub(crate) released: u64,
}

/// The answer to a beat.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct BeatAnswer {
    /// The number of this beat. A smaller one than before means an older copy of the database.
    pub(crate) beats: u64,
    /// An operator declared the host lost. It claims nothing until it has reported everything and
    /// called `returned`.
    pub(crate) is_lost: bool,
    /// The first order about a lost host that does not count, with help. Then the host admits
    /// nothing: a person who is not an operator may have freed the claims of the other host.
    pub(crate) lost_order_defect: Option<String>,
    /// The witnesses that dispute the log of this host, with their reasons.
    pub(crate) disputed_by: Vec<(HostName, String)>,
    /// Requests that wait for a host.
    pub(crate) queued: u64,
    /// Seconds since the last beat of each host, by the clock of the database.
    pub(crate) beat_age_sec: BTreeMap<String, f64>,
    /// Witnesses whose newest cosignature covers this host's last checkpoint.
    pub(crate) witnesses: u64,
    /// Every host with a dispute.
    pub(crate) disputed: Vec<String>,
}

/// The newest checkpoint of another host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CheckpointRow {
    /// The host.
    pub(crate) host: HostName,
    /// The size of its log.
    pub(crate) size: u64,
    /// The signed note.
    pub(crate) note: String,
    /// The body of add-checkpoint for this witness, if it is of this size.
    pub(crate) body: Option<String>,
    /// The time of the post by the clock of the database, in microseconds of POSIX. Each post has
    /// another.
    pub(crate) posted_us: u64,
}

/// The newest cosignature of one witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CosignatureRow {
    /// The witness.
    pub(crate) witness: HostName,
    /// The size of the cosigned checkpoint.
    pub(crate) size: u64,
    /// The signature lines.
    pub(crate) lines: String,
}
