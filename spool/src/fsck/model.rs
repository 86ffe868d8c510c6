//! The findings of a check of a spool, each with its text and remedy.

use std::fmt;
use std::path::PathBuf;

use crate::ledger::LedgerFault;
use crate::state::IllegalState;

/// The result of checking a spool.
#[derive(Debug, Default)]
#[must_use]
pub struct SpoolReport {
    /// The problems found.
    pub findings: Vec<SpoolFinding>,
    /// The presence of a daemon, which holds the spool's lock.
    pub daemon: DaemonPresence,
    /// The number of claims.
    pub claims: usize,
    /// The number of waiting requests.
    pub waiting: usize,
    /// The number of published results.
    pub results: usize,
    /// The number of ledger lines, if the state can be read and has a ledger.
    pub ledger_lines: Option<usize>,
}

/// The presence of a daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DaemonPresence {
    /// No lock on `.lock` in the spool is visible to this process.
    #[default]
    Absent,
    /// A process holds a lock on `.lock` in the spool.
    Present,
}

/// A problem with one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFinding {
    /// The path.
    pub path: PathBuf,
    /// The problem.
    pub problem: SpoolProblem,
}

model::closed_set! {
    /// The kinds of problems, as `toolexec doctor` reports them in JSON.
    pub enum SpoolProblemCode {
        /// Files in a combination that no crash leads to.
        Illegal = "illegal-state",
        /// A claim that no process is working on.
        Interrupted = "interrupted",
        /// A leftover temporary file.
        Leftover = "leftover",
        /// A collected result whose record did not verify.
        Unverified = "unverified",
        /// A directory with a wrong owner.
        Owner = "owner",
        /// A directory with a wrong mode.
        Mode = "mode",
        /// A spool without a ledger.
        NoLedger = "no-ledger",
        /// The ledger as a whole, or its head.
        Ledger = "ledger",
        /// One line of the ledger.
        LedgerLine = "ledger-line",
        /// One line of the list of removals.
        InvalidRemovalLine = "invalid-removal-line",
        /// A result that is missing from the ledger.
        NotInTheLedger = "not-in-ledger",
        /// A request that no daemon has claimed.
        StaleRequest = "stale-request",
        /// A file system without free space.
        NoSpace = "no-space",
        /// A path that cannot be read.
        Unreadable = "unreadable",
    }
}

/// A problem, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpoolProblem {
    /// Files in a combination that no crash leads to.
    Illegal(IllegalState),
    /// No process is working on the claim, and it is not finished.
    Interrupted,
    /// A leftover temporary file.
    Leftover {
        /// The time since its last modification, in seconds.
        age_sec: u64,
    },
    /// A collected result whose record did not verify; it was not published.
    Unverified,
    /// A directory with a wrong owner.
    Owner {
        /// The uid of its owner.
        is: u32,
        /// The uid of the owner of the spool's `.lock`: the user of the daemon.
        should: u32,
    },
    /// A directory with a wrong mode.
    Mode {
        /// Its permission bits, with set-id and sticky bits.
        is: u32,
        /// The same bits without those that other users must not have.
        should: u32,
    },
    /// A spool without a ledger.
    NoLedger,
    /// The ledger as a whole, or its head.
    Ledger(LedgerFault),
    /// A line of the ledger is invalid.
    LedgerLine {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A line of the list of removals is invalid.
    InvalidRemovalLine {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A run's result that is missing from the ledger.
    NotInTheLedger,
    /// A request that no daemon has claimed.
    StaleRequest {
        /// The time since its last modification, in seconds.
        age_sec: u64,
        /// The presence of a daemon, which decides the remedy.
        daemon: DaemonPresence,
    },
    /// A file system without free space.
    NoSpace {
        /// The space that is free without privilege, in bytes (`f_bavail`, statvfs(3)).
        bytes: u64,
        /// The required space, in bytes; the blocks of the reserve file count as free.
        bytes_min: u64,
    },
    /// A path that cannot be read.
    Unreadable(String),
}

impl SpoolProblem {
    /// Returns the kind of the problem.
    #[must_use]
    pub fn kind(&self) -> SpoolProblemCode {
        match self {
            Self::Illegal(_) => SpoolProblemCode::Illegal,
            Self::Interrupted => SpoolProblemCode::Interrupted,
            Self::Leftover { .. } => SpoolProblemCode::Leftover,
            Self::Unverified => SpoolProblemCode::Unverified,
            Self::Owner { .. } => SpoolProblemCode::Owner,
            Self::Mode { .. } => SpoolProblemCode::Mode,
            Self::NoLedger => SpoolProblemCode::NoLedger,
            Self::Ledger(_) => SpoolProblemCode::Ledger,
            Self::LedgerLine { .. } => SpoolProblemCode::LedgerLine,
            Self::InvalidRemovalLine { .. } => SpoolProblemCode::InvalidRemovalLine,
            Self::NotInTheLedger => SpoolProblemCode::NotInTheLedger,
            Self::StaleRequest { .. } => SpoolProblemCode::StaleRequest,
            Self::NoSpace { .. } => SpoolProblemCode::NoSpace,
            Self::Unreadable(_) => SpoolProblemCode::Unreadable,
        }
    }

    /// Returns the code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Returns the remedy.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Illegal(illegal) => illegal.remedy(),
            Self::Interrupted => "start the daemon, or any `toolexec run`, to finish or record it",
            Self::Leftover { .. } => "restart the daemon to remove it",
            Self::Unverified => "read the daemon's log and the files, then delete the directory",
            Self::Owner { should, .. } => return format!("chown it to uid {should}"),
            Self::Mode { should, .. } => return format!("chmod {should:04o}"),
            Self::NoLedger => {
                "pass the state directory with --state; if the ledger is lost, restore its newest \
                 copy, or rebuild it with --rebuild-ledger"
            }
            Self::Ledger(_) | Self::LedgerLine { .. } => {
                "restore its newest copy, or rebuild it with --rebuild-ledger; runs are suspended \
                 until then"
            }
            Self::InvalidRemovalLine { .. } => {
                "restore the line from a backup; the result that it named counts as lost until then"
            }
            Self::NotInTheLedger => {
                "restore the newest ledger, or add the run with --rebuild-ledger; runs are \
                 suspended until then, because the request could run twice"
            }
            Self::StaleRequest { daemon: DaemonPresence::Absent, .. } => "start toolexecd",
            Self::StaleRequest { daemon: DaemonPresence::Present, .. } => {
                "read the daemon's log: the daemon ignores a file that it could not remove"
            }
            Self::NoSpace { .. } => "free disk space; no run begins until then",
            Self::Unreadable(_) => "run the check as the user of the daemon",
        }
        .to_owned()
    }
}

impl fmt::Display for SpoolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(illegal) => illegal.fmt(f),
            Self::Interrupted => f.write_str("no process is working on it, and it is not finished"),
            Self::Leftover { age_sec } => write!(f, "leftover, {age_sec} s old"),
            Self::Unverified => f.write_str("the record did not verify and was not published"),
            Self::Owner { is, should } => write!(f, "owned by uid {is}, expected uid {should}"),
            Self::Mode { is, should } => {
                write!(f, "mode {is:04o} is open to other users, expected at most {should:04o}")
            }
            Self::NoLedger => f.write_str("does not exist; earlier runs are unknown"),
            Self::Ledger(fault) => fault.fmt(f),
            Self::LedgerLine { line } => write!(f, "line {line}: invalid ledger line"),
            Self::InvalidRemovalLine { line } => write!(f, "line {line}: not a removal mark"),
            Self::NotInTheLedger => f.write_str("the run is missing from the ledger"),
            Self::StaleRequest { age_sec, .. } => write!(f, "waiting for {age_sec} s"),
            Self::NoSpace { bytes, bytes_min } => {
                write!(f, "{bytes} bytes are free, records need {bytes_min} bytes")
            }
            Self::Unreadable(problem) => write!(f, "cannot be read: {problem}"),
        }
    }
}
