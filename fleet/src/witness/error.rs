//! The errors of a witness. Each text names the object, the event, and after `help:` an action.

use std::fmt;
use std::io;
use std::path::PathBuf;

use records::HostKeyError;
use spool::{SpoolError, io_text};
use tokio::task::JoinError;

use crate::database::DatabaseError;

/// The reason why this host does not witness.
#[derive(Debug)]
pub(crate) enum WitnessError {
    /// The name of this host cannot be the name of a log.
    Host(String),
    /// The key cannot be used.
    Key(HostKeyError),
    /// The key exists, but the directory of cosigned checkpoints does not.
    NoState {
        /// The directory.
        directory: PathBuf,
        /// The key.
        key: PathBuf,
    },
    /// A file of this witness is not a checkpoint with its cosignature.
    Kept(PathBuf),
    /// An operation on a file failed.
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A file was not written.
    Write(SpoolError),
    /// The database failed.
    Database(DatabaseError),
    /// The agent ends.
    Ended(JoinError),
}

impl fmt::Display for WitnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(
                f,
                "host {}: not the name of a log; help: use lowercase letters, digits and `-`, with \
                 `.` between parts",
                model::escape_line(host)
            ),
            Self::Key(error) => error.fmt(f),
            Self::NoState { directory, key } => write!(
                f,
                "{}: missing, but the witness key exists; help: restore it, because a witness that \
                 forgets may cosign a fork; if it is lost, remove {} too, and have the new key \
                 signed into the fleet list",
                directory.display(),
                key.display()
            ),
            Self::Kept(path) => write!(
                f,
                "{}: not a checkpoint that this witness kept; help: restore it from a backup, or \
                 compare the logs as docs/fleet.md describes before it is removed",
                path.display()
            ),
            Self::File { path, error } => write!(f, "{}: {}", path.display(), io_text(error)),
            Self::Write(error) => error.fmt(f),
            Self::Database(error) => error.fmt(f),
            Self::Ended(why) => write!(f, "witness: {why}; help: restart toolexec-fleet"),
        }
    }
}

impl std::error::Error for WitnessError {}

impl From<DatabaseError> for WitnessError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<JoinError> for WitnessError {
    fn from(error: JoinError) -> Self {
        Self::Ended(error)
    }
}
