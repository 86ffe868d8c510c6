//! Errors of a log. Each message begins with the affected object and shows no byte of an entry.

use std::path::PathBuf;
use std::{fmt, io};

use crate::key_model::SigningError;
use crate::log::checkpoint::CheckpointError;
use crate::log::format::BATCH_MAX;
use crate::log::tile::ENTRY_BYTES_MAX;
use crate::reason::reason_with_own_file_help;

const RESTORE: &str = "help: restore the log from a backup or a copy (docs/log.md)";

/// The reason why a log cannot be opened, read or appended to.
#[derive(Debug)]
pub enum LogError {
    /// A file operation failed.
    Io {
        /// The file, or the directory of a log or of its copy.
        path: PathBuf,
        /// The failed operation, as it follows `cannot` in the message.
        act: &'static str,
        /// The error of the operation.
        source: io::Error,
    },
    /// Another process appends to this log.
    Locked {
        /// The lock file of the log.
        path: PathBuf,
    },
    /// A file of the log is missing.
    Missing {
        /// The path at which the file is expected.
        path: PathBuf,
    },
    /// A file of the log contradicts the checkpoint or has an impossible form.
    Damaged {
        /// The file, or the directory of the tiles if no single file is at fault.
        path: PathBuf,
        /// The problem, for the message.
        what: &'static str,
    },
    /// The checkpoint does not verify.
    Checkpoint {
        /// The file of the checkpoint.
        path: PathBuf,
        /// The fault of its form, its name or its signature.
        fault: CheckpointError,
    },
    /// The log did not grow out of its saved head.
    Lost {
        /// The directory of the log.
        log: PathBuf,
        /// The file of the saved head, in the state directory.
        head: PathBuf,
        /// The number of entries in the saved head.
        entries: u64,
        /// The present state of the log.
        found: LogLoss,
    },
    /// The log has no entry of this index.
    NoSuchEntry {
        /// The index of the entry, from 0; of a consistency proof, the larger size.
        index: u64,
        /// The number of entries in the log.
        size: u64,
    },
    /// The entry exceeds the limit.
    TooLarge {
        /// The length of the entry, in bytes.
        bytes: usize,
    },
    /// The batch has more entries than the log remembers.
    TooMany {
        /// The number of entries in the batch.
        entries: usize,
    },
    /// The checkpoint was not signed, so nothing was appended.
    Sign(SigningError),
    /// A write failed before, or a prepared batch was not adopted. The log must be opened again.
    Stopped,
}

/// The state of a log that contradicts its saved head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLoss {
    /// No log exists.
    Missing,
    /// The log has fewer entries.
    Shorter {
        /// The number of entries in the present log.
        entries: u64,
    },
    /// The log has other entries.
    Replaced,
}

impl fmt::Display for LogLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Shorter { entries } => write!(f, "now has {entries}"),
            Self::Replaced => f.write_str("does not begin with them"),
        }
    }
}

impl LogError {
    /// Returns the kernel's error if a call failed.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, source } => {
                let problem = format!("{}: cannot {act}: {source}", path.display());
                f.write_str(&reason_with_own_file_help(&problem, source, RESTORE))
            }
            Self::Locked { path } => write!(
                f,
                "{}: another process appends to this log; help: wait for it, or stop the daemon",
                path.display()
            ),
            Self::Missing { path } => {
                write!(f, "{}: missing from the log; {RESTORE}", path.display())
            }
            Self::Damaged { path, what } => write!(f, "{}: {what}; {RESTORE}", path.display()),
            Self::Checkpoint { path, fault } => write!(f, "{}: {fault}; {RESTORE}", path.display()),
            Self::Lost { log, head, entries, found } => write!(
                f,
                "{}: this log had {entries} entries and {found}; help: restore it, or name a \
                 daemon's log: with --spool and --log-key for `toolexec log`, with --config for \
                 `toolexec keys`; if the log is lost, remove {} to start a new one, which \
                 verifiers of this log will reject as a forgery",
                log.display(),
                head.display()
            ),
            Self::NoSuchEntry { index, size } => write!(
                f,
                "entry {index}: not in the log, which has {size} entries; help: print its size \
                 with `toolexec log head`"
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "log entry: {bytes} bytes; at most {ENTRY_BYTES_MAX} bytes are allowed; help: \
                 report this as a bug"
            ),
            Self::TooMany { entries } => write!(
                f,
                "log batch: {entries} entries; at most {BATCH_MAX} are allowed; help: report this \
                 as a bug"
            ),
            Self::Sign(error) => write!(f, "checkpoint: cannot sign: {error}"),
            Self::Stopped => f.write_str(
                "the log: an earlier write failed or was not finished; help: restart the program \
                 to reopen the log",
            ),
        }
    }
}

impl From<SigningError> for LogError {
    fn from(error: SigningError) -> Self {
        Self::Sign(error)
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Checkpoint { fault, .. } => Some(fault),
            Self::Sign(source) => Some(source),
            _ => None,
        }
    }
}
