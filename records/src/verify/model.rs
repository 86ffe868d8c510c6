//! The faults of approvals and of records beside each other, and the bound for a record.

use std::fmt;

use model::UtcTime;
use policies::NotEntitled;

pub(crate) const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Why an approval that a record states does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalProblem {
    /// The request that was approved cannot be read.
    Request(String),
    /// No file has a signature that approves by this key.
    NoSignature,
    /// A file has, and it does not verify.
    Signature(String),
    NotEntitled(NotEntitled, UtcTime),
    /// A valid rejection is beside the request.
    Rejected,
}

impl fmt::Display for ApprovalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(problem) => write!(f, "the request cannot be read: {problem}"),
            Self::NoSignature => f.write_str("no file under request/ is this signature"),
            Self::Signature(problem) => f.write_str(problem),
            Self::NotEntitled(why, at) => match why {
                NotEntitled::Revoked => f.write_str("the key is revoked"),
                NotEntitled::Unknown => f.write_str("no approver has this key by this name"),
                NotEntitled::Namespace => f.write_str("the key may not approve"),
                NotEntitled::Time => write!(f, "the key was not valid at approved_utc {at}"),
            },
            Self::Rejected => f.write_str("the request was rejected, and ran"),
        }
    }
}

/// Two records that cannot both be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    ResultId,
    /// One request used up by two runs.
    Request,
    /// Two entries with one number.
    LogIndex(u64),
    /// One entry with two numbers, or twice.
    LogLeaf,
    /// Two roots of one size.
    LogFork(u64),
    /// A replay of something else than the record that it names.
    Replay,
}

impl fmt::Display for Clash {
    /// Ends where the other record is to be named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ResultId => f.write_str("a second record with this result id; the other is"),
            Self::Request => f.write_str("its request had run already: see"),
            Self::LogIndex(index) => write!(f, "log entry {index} is also that of"),
            Self::LogLeaf => f.write_str("its log entry is also that of"),
            Self::Replay => f.write_str("it replays another record or request than"),
            Self::LogFork(size) => {
                write!(f, "the log has another root at {size} entries than it showed to")
            }
        }
    }
}
