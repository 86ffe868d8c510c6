//! The findings of a check of a spool, each with its text and remedy.

use std::fmt;
use std::path::PathBuf;

use crate::ledger::LedgerFault;
use crate::state::Illegal;

/// The result of checking a spool.
#[derive(Debug, Default)]
#[must_use]
pub struct Survey {
    /// The problems found.
    pub findings: Vec<Finding>,
    /// The presence of a daemon, which holds the spool's lock.
    pub daemon: Daemon,
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
pub enum Daemon {
    #[default]
    Absent,
    Present,
}

/// A problem with one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The path.
    pub path: PathBuf,
    /// The problem.
    pub trouble: Trouble,
}

model::closed_set! {
    /// The kinds of problems, as `toolexec doctor` reports them in JSON.
    pub enum TroubleCode {
        /// Files in a combination that no crash leads to.
        Illegal = "illegal-state",
        /// A claim that no process is working on.
        Interrupted = "interrupted",
        /// A leftover temporary file.
        Rubbish = "rubbish",
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
        RemovedLine = "removed-line",
        /// A result that is missing from the ledger.
        NotInTheLedger = "not-in-ledger",
        /// A request that no daemon has claimed.
        Waits = "waits",
        /// A file system without free space.
        NoRoom = "no-room",
        /// A path that cannot be read.
        Unreadable = "unreadable",
    }
}

/// A problem, with its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Files in a combination that no crash leads to.
    Illegal(Illegal),
    /// No process is working on the claim, and it is not finished.
    Interrupted,
    /// A leftover temporary file.
    Rubbish {
        age_sec: u64,
    },
    /// A collected result whose record did not verify; it was not published.
    Unverified,
    /// A directory with a wrong owner.
    Owner {
        is: u32,
        should: u32,
    },
    /// A directory with a wrong mode.
    Mode {
        is: u32,
        should: u32,
    },
    /// A spool without a ledger.
    NoLedger,
    /// The ledger as a whole, or its head.
    Ledger(LedgerFault),
    /// One line of the ledger, counted from 1.
    LedgerLine {
        line: usize,
    },
    /// One line of the list of removals, counted from 1.
    RemovedLine {
        line: usize,
    },
    /// A run's result that is missing from the ledger.
    NotInTheLedger,
    /// A request that no daemon has claimed.
    Waits {
        age_sec: u64,
        daemon: Daemon,
    },
    /// A file system without free space.
    NoRoom {
        bytes: u64,
        bytes_min: u64,
    },
    /// A path that cannot be read.
    Unreadable(String),
}

impl Trouble {
    /// Returns the kind of the problem.
    #[must_use]
    pub fn kind(&self) -> TroubleCode {
        match self {
            Self::Illegal(_) => TroubleCode::Illegal,
            Self::Interrupted => TroubleCode::Interrupted,
            Self::Rubbish { .. } => TroubleCode::Rubbish,
            Self::Unverified => TroubleCode::Unverified,
            Self::Owner { .. } => TroubleCode::Owner,
            Self::Mode { .. } => TroubleCode::Mode,
            Self::NoLedger => TroubleCode::NoLedger,
            Self::Ledger(_) => TroubleCode::Ledger,
            Self::LedgerLine { .. } => TroubleCode::LedgerLine,
            Self::RemovedLine { .. } => TroubleCode::RemovedLine,
            Self::NotInTheLedger => TroubleCode::NotInTheLedger,
            Self::Waits { .. } => TroubleCode::Waits,
            Self::NoRoom { .. } => TroubleCode::NoRoom,
            Self::Unreadable(_) => TroubleCode::Unreadable,
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
            Self::Interrupted => {
                "start the daemon (or any `toolexec run`): it finishes or tells it"
            }
            Self::Rubbish { .. } => "start the daemon anew: it removes what nobody works on",
            Self::Unverified => "read the daemon's log, look at the files, then delete the directory",
            Self::Owner { should, .. } => return format!("chown it to uid {should}"),
            Self::Mode { should, .. } => return format!("chmod {should:04o}"),
            Self::NoLedger => {
                "name the state directory with --state; if the ledger is lost, put back its newest \
                 copy, or rebuild it with --rebuild-ledger"
            }
            Self::Ledger(_) | Self::LedgerLine { .. } => {
                "nothing is run until it is good: put back its newest copy, or rebuild it with \
                 --rebuild-ledger"
            }
            Self::RemovedLine { .. } => {
                "compare with a backup; what it named counts as lost until then"
            }
            Self::NotInTheLedger => {
                "the ledger is older than this run, and nothing is run, because the request could run \
                 twice: put back the newest ledger, or add the run with --rebuild-ledger"
            }
            Self::Waits { daemon: Daemon::Absent, .. } => "start toolexecd",
            Self::Waits { daemon: Daemon::Present, .. } => {
                "look into the daemon's messages: it leaves alone what it could not take away"
            }
            Self::NoRoom { .. } => "make room: nothing is begun without it",
            Self::Unreadable(_) => "look as the user that runs the daemon",
        }
        .to_owned()
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(illegal) => illegal.fmt(f),
            Self::Interrupted => f.write_str("nobody is at work on it, and it is not done with"),
            Self::Rubbish { age_sec } => write!(f, "left over, {age_sec} s old"),
            Self::Unverified => f.write_str("the record did not verify and was not published"),
            Self::Owner { is, should } => {
                write!(f, "belongs to uid {is}; the spool is uid {should}'s")
            }
            Self::Mode { is, should } => {
                write!(f, "is open to others: mode {is:04o}, at most {should:04o}")
            }
            Self::NoLedger => f.write_str("is not there: which requests ran is not known"),
            Self::Ledger(fault) => fault.fmt(f),
            Self::LedgerLine { line } => write!(f, "line {line} is not a ledger line"),
            Self::RemovedLine { line } => write!(f, "line {line} is no mark of a removal"),
            Self::NotInTheLedger => f.write_str("is of a run that the ledger does not know"),
            Self::Waits { age_sec, .. } => write!(f, "has waited for {age_sec} s"),
            Self::NoRoom { bytes, bytes_min } => {
                write!(f, "has {bytes} bytes of room; records need {bytes_min}")
            }
            Self::Unreadable(problem) => write!(f, "cannot be looked at: {problem}"),
        }
    }
}
