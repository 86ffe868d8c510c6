//! Why a log cannot be used. Every message begins with what it is about; none may show a byte of an
//! entry.

use std::path::PathBuf;
use std::{fmt, io};

use crate::log::checkpoint::CheckpointFault;
use crate::log::tile::ENTRY_BYTES_MAX;

/// Why a log cannot be opened, read or appended to.
#[derive(Debug)]
pub enum LogError {
    Io {
        path: PathBuf,
        act: &'static str,
        source: io::Error,
    },
    /// Another process appends to this log.
    Locked {
        path: PathBuf,
    },
    /// A file of the log is gone.
    Missing {
        path: PathBuf,
    },
    /// A file of the log is not what the checkpoint says, or what it could ever be.
    Damaged {
        path: PathBuf,
        what: &'static str,
    },
    Checkpoint {
        path: PathBuf,
        fault: CheckpointFault,
    },
    NoSuchEntry {
        index: u64,
        size: u64,
    },
    TooLarge {
        bytes: usize,
    },
    /// A write failed before: nothing is appended until the log is opened again.
    Stopped,
}

impl LogError {
    /// Whether the disk has no room left.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        let full = |source: &io::Error| matches!(source.kind(), StorageFull | QuotaExceeded);
        matches!(self, Self::Io { source, .. } if full(source))
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, source } => write!(f, "{}: {act}: {source}", path.display()),
            Self::Locked { path } => {
                write!(f, "{}: another process appends to this log", path.display())
            }
            Self::Missing { path } => write!(f, "{}: missing from the log", path.display()),
            Self::Damaged { path, what } => write!(f, "{}: {what}", path.display()),
            Self::Checkpoint { path, fault } => write!(f, "{}: {fault}", path.display()),
            Self::NoSuchEntry { index, size } => {
                write!(f, "entry {index}: the log has {size} entries")
            }
            Self::TooLarge { bytes } => {
                write!(f, "an entry of {bytes} bytes: at most {ENTRY_BYTES_MAX} can be logged")
            }
            Self::Stopped => f.write_str("the log: writing failed before; it must be opened again"),
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Checkpoint { fault, .. } => Some(fault),
            _ => None,
        }
    }
}
