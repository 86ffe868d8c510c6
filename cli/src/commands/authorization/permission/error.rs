//! The errors of `toolexec permission`.

use spool::PermissionStoreError;

use crate::failure::Failure;

pub(super) enum PermissionCommandError {
    /// The operation is not allowed, or its object does not exist.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for PermissionCommandError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<PermissionStoreError> for PermissionCommandError {
    fn from(error: PermissionStoreError) -> Self {
        match error.is_refusal() {
            true => Self::Refused(error.to_string()),
            false => Self::Failed(Failure::Message(error.to_string())),
        }
    }
}

impl From<spool::SpoolError> for PermissionCommandError {
    fn from(error: spool::SpoolError) -> Self {
        Self::Failed(error.into())
    }
}
