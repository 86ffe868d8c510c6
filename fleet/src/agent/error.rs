//! The errors of the agent's acts. Each text names the object first, then the event, then the help.

use std::fmt;
use std::io;
use std::path::Path;

use spool::{SpoolError, io_text};
use tokio::task::JoinError;

use super::link::LinkError;
use crate::bytes::ByteStoreError;
use crate::database::DatabaseError;

/// The reason why an act of the agent failed.
#[derive(Debug)]
pub(super) enum FleetAgentError {
    /// The database failed, or is another one.
    Link(LinkError),
    /// A file of this host failed, or bytes from the store. The text has help.
    Other {
        /// The object, the event, and `help:` with an action.
        text: String,
        /// True if the same act may succeed later, without a change of its object.
        is_momentary: bool,
    },
}

impl FleetAgentError {
    /// Returns the error of a system call on a file of this host.
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Other { text: format!("{}: {}", path.display(), io_text(error)), is_momentary: true }
    }

    /// Returns an error that no later try can undo.
    pub(super) fn lasting(text: String) -> Self {
        Self::Other { text, is_momentary: false }
    }

    /// Returns whether the same act may succeed later.
    pub(super) fn is_momentary(&self) -> bool {
        match self {
            Self::Link(error) => error.is_momentary(),
            Self::Other { is_momentary, .. } => *is_momentary,
        }
    }

    /// Returns whether the act may have been committed by the database.
    pub(super) fn is_unknown_outcome(&self) -> bool {
        match self {
            Self::Link(error) => error.is_unknown_outcome(),
            Self::Other { .. } => false,
        }
    }
}

impl fmt::Display for FleetAgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(error) => error.fmt(f),
            Self::Other { text, .. } => f.write_str(text),
        }
    }
}

impl std::error::Error for FleetAgentError {}

impl From<LinkError> for FleetAgentError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

impl From<DatabaseError> for FleetAgentError {
    fn from(error: DatabaseError) -> Self {
        Self::Link(error.into())
    }
}

impl From<ByteStoreError> for FleetAgentError {
    /// Only wrong bytes are lasting: a store that this host cannot use now may serve it later.
    fn from(error: ByteStoreError) -> Self {
        let is_momentary = !error.is_defect();
        match error {
            ByteStoreError::Database(error) if is_momentary => Self::Link(error.into()),
            error => Self::Other { text: error.to_string(), is_momentary },
        }
    }
}

impl From<JoinError> for FleetAgentError {
    fn from(error: JoinError) -> Self {
        let text = format!("a thread: {error}; help: restart toolexec-fleet");
        Self::Other { text, is_momentary: true }
    }
}

impl From<SpoolError> for FleetAgentError {
    fn from(error: SpoolError) -> Self {
        let is_momentary = error.is_momentary();
        Self::Other { text: error.to_string(), is_momentary }
    }
}
