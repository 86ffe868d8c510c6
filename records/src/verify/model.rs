//! The problems of approvals, the conflicts between records, and the size limit of a record.

use std::fmt;

use model::UtcTime;
use policies::EntitlementError;

pub(crate) const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The reason why an approval that a record states does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalProblem {
    /// The approved request cannot be parsed.
    Request(String),
    /// No file has an approving signature by this key.
    NoSignature,
    /// Such a signature exists but does not verify.
    Signature(String),
    /// The record states another domain, origin or touch of a passkey than its signature.
    Passkey,
    /// The key is not entitled to approve, at this time.
    NotEntitled(EntitlementError, UtcTime),
    /// The request has a valid rejection.
    Rejected,
}

impl fmt::Display for ApprovalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(problem) => write!(f, "cannot read the request: {problem}"),
            Self::NoSignature => f.write_str("no file in request/ has this signature"),
            Self::Signature(problem) => f.write_str(problem),
            Self::Passkey => f.write_str("`touch` is not that of the passkey's signature"),
            Self::NotEntitled(why, at) => match why {
                EntitlementError::Revoked => f.write_str("the key is revoked"),
                EntitlementError::Unknown => f.write_str("no approver has this name and key"),
                EntitlementError::Namespace => f.write_str("the key is not allowed to approve"),
                EntitlementError::Time => write!(f, "the key was not valid at approved_utc {at}"),
            },
            Self::Rejected => f.write_str("the request was rejected but ran"),
        }
    }
}

/// A conflict between two records that cannot both be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Two records with one result id.
    ResultId,
    /// Two runs of one request.
    Request,
    /// Two entries with one index.
    LogIndex(u64),
    /// One entry with two indexes, or used twice.
    LogLeaf,
    /// Two roots for one size of the log.
    LogFork(u64),
    /// A replay that differs from the record that it names.
    Replay,
    /// Two runs with this number of a use of one standing approval.
    Use(u64),
}

impl fmt::Display for Conflict {
    /// Ends with a word before the path of the other record, which the caller appends.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ResultId => f.write_str("its result id is also that of"),
            Self::Request => f.write_str("its request also ran in"),
            Self::LogIndex(index) => write!(f, "log entry {index} is also that of"),
            Self::LogLeaf => f.write_str("its log entry is also that of"),
            Self::Replay => f.write_str("it differs from the record that it replays:"),
            Self::Use(number) => write!(f, "use {number} of its standing approval is also that of"),
            Self::LogFork(size) => write!(f, "the log has another root at {size} entries than in"),
        }
    }
}
