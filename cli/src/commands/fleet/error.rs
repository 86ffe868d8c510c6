//! The errors of `toolexec fleet`.

use crate::commands::approve::signing::SignerError;
use crate::failure::Failure;

pub(super) enum FleetCommandError {
    /// The operation is not allowed, or its object does not exist.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for FleetCommandError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<SignerError> for FleetCommandError {
    fn from(error: SignerError) -> Self {
        match error {
            SignerError::Refused(why) => Self::Refused(why),
            SignerError::Failed(failure) => Self::Failed(failure),
        }
    }
}
