//! The errors of `toolexec standing`.

use crate::commands::approve::signing::SignerError;
use crate::failure::Failure;

pub(super) enum StandingCommandError {
    /// The operation is not allowed, or its object does not exist.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for StandingCommandError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<spool::SpoolError> for StandingCommandError {
    fn from(error: spool::SpoolError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<SignerError> for StandingCommandError {
    fn from(error: SignerError) -> Self {
        match error {
            SignerError::Refused(why) => Self::Refused(why),
            SignerError::Failed(failure) => Self::Failed(failure),
        }
    }
}
