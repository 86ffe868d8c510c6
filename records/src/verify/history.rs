//! A verifier's knowledge of a log beyond one record: its files, and a checkpoint that was saved
//! earlier. A checkpoint that the log does not extend must never be accepted.

use std::fmt;

use crate::log::{Checkpoint, LogError, LogOrigin, LogView};
use crate::reason::split_reason;

/// A log with its present files. It grew out of the saved checkpoint, if one was given.
pub struct History {
    view: LogView,
    origin: LogOrigin,
    saved: bool,
}

/// The reason why a checkpoint and the log contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryError {
    /// The checkpoint is of another log.
    Origin,
    /// The log is smaller than it was: truncated, or restored from an old copy.
    Smaller {
        /// The number of entries in the earlier checkpoint.
        was: u64,
        /// The number of entries in the present log.
        is: u64,
    },
    /// The log was rewritten: it does not begin with its earlier entries.
    Rewritten {
        /// The number of entries in the earlier checkpoint.
        was: u64,
        /// The number of entries in the present log.
        is: u64,
    },
    /// The log's files cannot be read.
    Unreadable(String),
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin => f.write_str("its checkpoint belongs to another log than the one given"),
            Self::Smaller { was, is } => write!(
                f,
                "the log has {is} entries but had {was}: it was truncated, or this is an old copy"
            ),
            Self::Rewritten { was, is } => write!(
                f,
                "the log of {is} entries does not begin with the {was} that it had: it was \
                 rewritten"
            ),
            Self::Unreadable(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for HistoryError {}

impl From<LogError> for HistoryError {
    fn from(error: LogError) -> Self {
        Self::Unreadable(split_reason(&error.to_string()).0.to_owned())
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "History({}, {} entries)", self.origin, self.view.head().size())
    }
}

impl History {
    /// Makes the history of a log that was opened under this name. The saved checkpoint must be
    /// verified and of the same name.
    ///
    /// # Errors
    /// [`HistoryError`]: the log did not grow out of the checkpoint.
    pub fn of(
        view: LogView,
        origin: LogOrigin,
        saved: Option<(&Checkpoint, &LogOrigin)>,
    ) -> Result<Self, HistoryError> {
        let history = Self { view, origin, saved: saved.is_some() };
        match saved {
            Some((checkpoint, of)) => history.check(checkpoint, of).map(|()| history),
            None => Ok(history),
        }
    }

    pub(crate) fn has_saved(&self) -> bool {
        self.saved
    }

    /// Checks that the log grew out of this checkpoint of the log of that name.
    pub(crate) fn check(&self, old: &Checkpoint, of: &LogOrigin) -> Result<(), HistoryError> {
        let (was, is) = (old.size(), self.view.head().size());
        if *of != self.origin {
            return Err(HistoryError::Origin);
        }
        if was > is {
            return Err(HistoryError::Smaller { was, is });
        }
        let proof = self.view.consistency(was, is)?;
        if old.grew_into(self.view.head(), &proof) {
            Ok(())
        } else {
            Err(HistoryError::Rewritten { was, is })
        }
    }
}
