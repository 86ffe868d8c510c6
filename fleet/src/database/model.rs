//! The rows of requests, and the answers about them, that the calls of a database share.

use std::fmt;

use fleet::gate::StandingUseQuery;
use fleet::model::{FleetState, HostName};

model::closed_set! {
    /// The kind of a document.
    pub(crate) enum RequestKind {
        /// One host claims and runs it.
        Request = "request",
        /// Every host of its audience gets it.
        Standing = "standing",
        /// It was placed on its host, which decided the start here. It has no manifest.
        Local = "local",
    }
}

/// A document as it was submitted. All digests are 64 lower-case hex digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RequestRow {
    /// The id of the request or standing approval.
    pub(crate) id: String,
    /// The SHA-256 of the document.
    pub(crate) document_sha256: String,
    /// The SHA-256 of the manifest. Only a local request has none.
    pub(crate) manifest_sha256: Option<String>,
    /// The kind of the document.
    pub(crate) kind: RequestKind,
    /// `x-audience`.
    pub(crate) audience: Option<String>,
    /// The size of all files.
    pub(crate) bytes: u64,
    /// The SHA-256 of each signature file, sorted.
    pub(crate) signatures: Vec<String>,
    /// The role that submitted it. The database sets it, so a new row may have any text.
    pub(crate) submitted_by: String,
}

/// The outcome of a submission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SubmitRowAnswer {
    /// The document is in the database now.
    New,
    /// The same document was submitted before.
    Known {
        /// The signature files that were not there before.
        signatures_added: u32,
    },
    /// Another document has this id.
    OtherDocument,
}

/// A claim with its document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClaimRow {
    /// The document.
    pub(crate) request: RequestRow,
    /// Distinguishes this claim from earlier ones of the same request.
    pub(crate) epoch: i64,
    /// `Claimed`; of `my_claims` also `Started` and `Indeterminate`.
    pub(crate) state: FleetState,
}

/// A host that asks for work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClaimAsk {
    /// The host.
    pub(crate) host: HostName,
    /// Its labels.
    pub(crate) labels: Vec<HostName>,
    /// True if it takes requests without an audience.
    pub(crate) without_audience: bool,
    /// The most rows.
    pub(crate) count: u32,
    /// The host takes no rows of a submitter that has this many unstarted claims on it.
    pub(crate) submitter_max: u32,
}

/// One start, as a daemon asks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StartRow {
    /// The request's id.
    pub(crate) request: String,
    /// The SHA-256 of the request's document.
    pub(crate) document_sha256: String,
    /// The host.
    pub(crate) host: HostName,
    /// The epoch of the claim; `None` for a local request.
    pub(crate) epoch: Option<i64>,
    /// Made for this query, as 32 hex digits.
    pub(crate) nonce: String,
    /// The standing approval that the request uses.
    pub(crate) standing: Option<StandingUseQuery>,
}

/// The decision about one start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StartDecision {
    /// Committed for this host and this nonce.
    Started,
    /// Never, by this query.
    Refused(StartRefusal),
}

/// The reason of a refused start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StartRefusal {
    /// The database does not have the request.
    Unknown,
    /// Another document has this id.
    OtherDocument,
    /// The request waits for a host, or another one has it.
    NotClaimed {
        /// The host that has it.
        host: Option<String>,
    },
    /// It was started before.
    AlreadyStarted {
        /// The host that started it.
        host: String,
    },
    /// Its record is in the database.
    Ended {
        /// The host whose record it is.
        host: String,
    },
    /// Every use of the standing approval is spent.
    UsedUp {
        /// The uses, over all hosts.
        uses: u64,
    },
    /// Every use of this hour is spent.
    HourUsedUp {
        /// The uses of the last hour, over all hosts.
        uses: u64,
    },
    /// A witness saw a log that the log of this host does not extend.
    Disputed,
    /// An operator declared this host lost.
    Lost,
    /// A row was changed by hand.
    Defect(RowDefect),
}

/// The record of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ResultRow {
    /// The request's id.
    pub(crate) request: String,
    /// The SHA-256 of the request's document.
    pub(crate) document_sha256: String,
    /// The host whose record it is.
    pub(crate) host: HostName,
    /// The epoch of the claim; `None` for a local request.
    pub(crate) epoch: Option<i64>,
    /// The id of the result.
    pub(crate) result_id: String,
    /// The outcome in the record.
    pub(crate) outcome: String,
    /// The exit code in the record.
    pub(crate) exit_code: i32,
    /// The SHA-256 of the manifest of the result's files.
    pub(crate) manifest_sha256: String,
    /// The SHA-256 of the record.
    pub(crate) record_sha256: String,
}

/// The outcome of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReportAnswer {
    /// The result is in the database now.
    Recorded,
    /// It was there before.
    AlreadyRecorded,
    /// The request is not this host's, so the record stays on the host.
    NotMine,
}

/// A row that was changed by hand. Nothing relies on it, and nothing deletes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RowDefect {
    /// The table.
    pub(crate) table: &'static str,
    /// The id of its request.
    pub(crate) request: String,
    /// The defect, as a clause.
    pub(crate) fault: &'static str,
}

impl fmt::Display for RowDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, request, fault } = self;
        let request = model::escape_line(request);
        write!(
            f,
            "row of {table} for {request}: {fault}; help: the row was changed outside of the \
             fleet's programs, so find out by whom, and submit the request again under another id"
        )
    }
}
