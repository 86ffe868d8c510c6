//! The failures of a run, and their exit statuses. Nothing here prints.

use std::fmt;

use monty_types::MontyException;

/// The reason why a program did not end normally.
#[derive(Debug)]
pub enum MontyFailure {
    /// The code, its inputs or its directories cannot be used.
    Refused(String),
    /// The code does not compile, or raised an exception.
    Raised {
        /// The exception, with its traceback.
        raised: Box<MontyException>,
        /// The limit that the code reached, if it reached one.
        limit: Option<String>,
    },
    /// The backend failed; the code did not.
    Internal(String),
}

impl MontyFailure {
    /// Returns the exit status of the program.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Raised { .. } => 1,
            Self::Refused(_) => 2,
            Self::Internal(_) => 3,
        }
    }

    pub(crate) fn raised(raised: MontyException) -> Self {
        Self::Raised { raised: Box::new(raised), limit: None }
    }
}

impl fmt::Display for MontyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) | Self::Internal(message) => {
                write!(f, "toolexec-monty: {message}")
            }
            Self::Raised { raised, limit: None } => write!(f, "{raised}"),
            Self::Raised { raised, limit: Some(limit) } => {
                write!(f, "{raised}\ntoolexec-monty: {limit}")
            }
        }
    }
}

impl std::error::Error for MontyFailure {}
