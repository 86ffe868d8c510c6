//! Why a ledger cannot be relied on. Nothing is admitted then: a request that it does not know may have run.

use std::fmt;
use std::path::PathBuf;

/// What is wrong with a ledger as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// There is no ledger, and this shows that there was one.
    Missing {
        shown_by: PathBuf,
    },
    /// Its lines have checksums, and its head is not there.
    NoHead,
    HeadUnreadable,
    /// It ends before its head.
    Shorter {
        bytes: u64,
        head_bytes: u64,
    },
    /// Up to its head it is not the ledger of which that is the head.
    Another {
        head_bytes: u64,
    },
    /// A line, counted from 1, with a checksum that does not fit, or without one below a line that has one.
    Sum {
        line: usize,
    },
    /// It does not know runs that were made here; one of them, and how many there are.
    Older {
        run: PathBuf,
        runs: usize,
    },
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { shown_by } => {
                write!(f, "the ledger is missing, and {} is there", shown_by.display())
            }
            Self::NoHead => f.write_str("the head of this ledger (ledger.head) is missing"),
            Self::HeadUnreadable => f.write_str("this is not the head of a ledger"),
            Self::Shorter { bytes, head_bytes } => write!(
                f,
                "the ledger was cut, or is an older copy: it has {bytes} bytes, and had {head_bytes}"
            ),
            Self::Another { head_bytes } => write!(
                f,
                "the ledger was changed within its first {head_bytes} bytes, or is another one"
            ),
            Self::Sum { line } => {
                write!(f, "line {line} of the ledger, or a line above it, was changed or removed")
            }
            Self::Older { run, runs: 1 } => {
                write!(f, "the ledger is older than the run {}", run.display())
            }
            Self::Older { run, runs } => {
                write!(f, "the ledger is older than {runs} runs, among them {}", run.display())
            }
        }
    }
}
