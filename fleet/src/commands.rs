//! The commands of `toolexec` that need the database. `toolexec` starts `toolexec-fleet command`
//! and writes one [`FleetCommand`] to its standard input. It reads [`FleetAnswer`]s from its
//! standard output. Each of them is one line of JSON. So `toolexec` links no database. The program
//! ends when its standard input does, so that it never outlives its caller.

mod runner;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::{FleetState, HostName};

pub use runner::{CommandError, FleetProgram};

/// The longest line of a command in bytes, with its line feed.
pub const FLEET_COMMAND_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest line of an answer in bytes, with its line feed.
pub const FLEET_ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A command with the address of its database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetCommand {
    /// The address, such as `postgres://submitter@db.example/toolexec`. It has no password.
    pub database: String,
    /// The file with the password of the role.
    pub password_file: Option<PathBuf>,
    /// The authorities of the server's certificate as PEM; those of this host if absent.
    pub ca_file: Option<PathBuf>,
    /// The store of bytes, such as `s3://bucket/prefix` or `file:///srv/store`; the database itself
    /// if absent.
    pub store: Option<String>,
    /// The act.
    pub act: FleetAct,
}

/// The act of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum FleetAct {
    /// Makes the tables and the two group roles. Answered by [`FleetAnswer::Initialised`].
    Init {
        /// The name of the fleet.
        fleet: HostName,
    },
    /// Answered by [`FleetAnswer::Status`].
    Status,
    /// Submits what a directory contains: a document with its signatures and inputs, as in
    /// `approved/`. Answered by [`FleetAnswer::Submitted`].
    Submit {
        /// The directory. It has one document and nothing else besides its files.
        directory: PathBuf,
        /// The name of the document in it.
        document: String,
        /// `x-audience` of the document.
        audience: Option<String>,
    },
    /// Answered by one [`FleetAnswer::Request`] each, newest first.
    List {
        /// Requests in this state only.
        state: Option<FleetState>,
        /// The most answers.
        count_max: u32,
    },
    /// Waits until every request has ended or is indeterminate. Answered by one
    /// [`FleetAnswer::Request`] each, in the order of their ends. A request that the database does
    /// not have is not waited for and has no answer. After the longest wait, the requests that have
    /// not ended are answered as they are, followed by [`FleetAnswer::TimedOut`].
    Wait {
        /// The ids of the requests.
        requests: Vec<String>,
        /// The longest wait in seconds; without one it has no end.
        timeout_sec: Option<u64>,
    },
    /// Answered by [`FleetAnswer::Request`], or by nothing if the database does not have it.
    Show {
        /// The id of the request.
        request: String,
    },
    /// Writes the result directory of an ended request below `into`. Answered by
    /// [`FleetAnswer::Fetched`].
    Fetch {
        /// The id of the request.
        request: String,
        /// An existing directory.
        into: PathBuf,
    },
    /// Declares a host lost: its started requests become indeterminate. Answered by
    /// [`FleetAnswer::Lost`].
    Lost {
        /// The host.
        host: HostName,
        /// The signed text (`policies::FleetLostOrder`).
        order: String,
        /// Its SSH signature.
        signature: String,
    },
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum FleetAnswer {
    /// The tables exist.
    Initialised {
        /// The fleet's id, which the database made.
        fleet_id: String,
        /// The version of the tables.
        schema_version: i32,
        /// The version that they had before; `None` if there were none.
        former_version: Option<i32>,
    },
    /// The state of the fleet.
    Status(FleetStatus),
    /// The document is in the database.
    Submitted {
        /// The id of the request or standing approval.
        id: String,
        /// False if the same bytes were there before.
        is_new: bool,
        /// New signature files of a document that was there before.
        signatures_added: u32,
    },
    /// One request.
    Request(FleetRequest),
    /// A result was written.
    Fetched {
        /// Its directory.
        directory: PathBuf,
        /// The files that stayed on that host, because they are too large.
        left_out: Vec<String>,
    },
    /// A host was declared lost.
    Lost {
        /// The requests that are indeterminate now.
        requests: Vec<String>,
        /// The requests that wait for another host again.
        released: u64,
    },
    /// The wait ended before all requests had.
    TimedOut,
    /// The command failed.
    Failed {
        /// The object, the event, and `help:` with an action.
        message: String,
    },
}

/// The fleet as its database has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetStatus {
    /// The name of the fleet.
    pub fleet: HostName,
    /// Its id.
    pub fleet_id: String,
    /// Requests per state; states without requests are absent.
    pub requests: Vec<(FleetState, u64)>,
    /// The hosts that have ever connected.
    pub hosts: Vec<FleetHostStatus>,
    /// Rows that were changed by hand, each with its defect.
    pub defects: Vec<String>,
}

/// One host as the database has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetHostStatus {
    /// Its name.
    pub host: HostName,
    /// Its labels, as it states them.
    pub labels: Vec<HostName>,
    /// Seconds since its last beat, by the clock of the database.
    pub beat_age_sec: f64,
    /// Its requests that are claimed and not started.
    pub claimed: u64,
    /// Its requests that are started and not ended.
    pub started: u64,
    /// The newest order that declares it lost, unless it has returned since.
    pub lost: Option<FleetLostStatus>,
    /// The size of its log at its last checkpoint.
    pub log_size: Option<u64>,
    /// The witnesses that cosigned that checkpoint, or a later one.
    pub witnesses: Vec<HostName>,
    /// The witnesses that saw a log which this one does not extend, with their reasons.
    pub disputes: Vec<(HostName, String)>,
}

/// An order that declares a host lost, as the database has it. Its signature is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetLostStatus {
    /// The signed text (`policies::FleetLostOrder`).
    pub order: String,
    /// Its SSH signature.
    pub signature: String,
}

/// One request as the database has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetRequest {
    /// Its id.
    pub request: String,
    /// The SHA-256 of its document, 64 hex digits.
    pub document_sha256: String,
    /// `x-audience`.
    pub audience: Option<String>,
    /// Its state.
    pub state: FleetState,
    /// The role that submitted it.
    pub submitted_by: String,
    /// The time of its submission by the clock of the database, `YYYY-MM-DDTHH:MM:SSZ`.
    pub submitted_utc: String,
    /// The host that has or had it.
    pub host: Option<HostName>,
    /// The id of its result.
    pub result: Option<String>,
    /// The outcome in its record.
    pub outcome: Option<String>,
    /// The exit code of the tool.
    pub exit_code: Option<i32>,
}
