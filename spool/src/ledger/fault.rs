//! Faults of a whole ledger. No request is admitted then: one that is missing from it may have run.

use std::fmt;
use std::path::PathBuf;

/// A fault of the ledger as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// The ledger is missing, and this file shows that one existed.
    Missing {
        /// The head of the ledger, or an object that only exists with a ledger.
        shown_by: PathBuf,
    },
    /// The lines have checksums, and the head file is missing.
    NoHead,
    /// The head file cannot be parsed.
    HeadUnreadable,
    /// The ledger is shorter than its head says.
    Truncated {
        /// The length of the ledger or of its complete lines, in bytes.
        bytes: u64,
        /// The length in the head, or the length that was read before, in bytes.
        head_bytes: u64,
    },
    /// The bytes up to the head's length do not match the head's checksum.
    Different {
        /// The length in the head, in bytes.
        head_bytes: u64,
    },
    /// A line has a wrong checksum, or none below a line that has one.
    Checksum {
        /// The number of the line, from 1.
        line: usize,
    },
    /// Runs made here are missing from the ledger.
    Outdated {
        /// The result, the archived request or the intent file of one of these runs.
        run: PathBuf,
        /// The number of these runs, at least 1.
        runs: usize,
    },
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { shown_by } => {
                write!(f, "the ledger is missing, but {} exists", shown_by.display())
            }
            Self::NoHead => f.write_str("the head of the ledger (ledger.head) is missing"),
            Self::HeadUnreadable => f.write_str("not a valid ledger head"),
            Self::Truncated { bytes, head_bytes } => write!(
                f,
                "the ledger was cut, or is an older copy: it has {bytes} bytes, \
                 expected {head_bytes} bytes"
            ),
            Self::Different { head_bytes } => write!(
                f,
                "the ledger was changed within its first {head_bytes} bytes, or is a different one"
            ),
            Self::Checksum { line } => {
                write!(f, "line {line} of the ledger, or a line above it, was changed or removed")
            }
            Self::Outdated { run, runs: 1 } => {
                write!(f, "the ledger is older than the run {}", run.display())
            }
            Self::Outdated { run, runs } => {
                write!(f, "the ledger is older than {runs} runs, including {}", run.display())
            }
        }
    }
}
