//! The errors of `toolexec permission`.

use spool::StoreError;

use crate::failure::Failure;

/// The reason why a command did nothing.
pub(super) enum Undone {
    /// The operation is not allowed, or its object does not exist.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Undone {
    fn from(error: StoreError) -> Self {
        match error.is_refusal() {
            true => Self::Refused(error.to_string()),
            false => Self::Failed(Failure::Said(error.to_string())),
        }
    }
}

impl From<spool::SpoolError> for Undone {
    fn from(error: spool::SpoolError) -> Self {
        Self::Failed(error.into())
    }
}
