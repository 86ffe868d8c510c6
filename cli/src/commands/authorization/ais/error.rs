//! The errors of `toolexec ais`, and the result type of its commands.

use std::process::ExitCode;

use crate::failure::Failure;

pub(super) enum AisCommandError {
    /// A document is invalid: exit status 2.
    Invalid(String),
    /// A usage error or a failure of the host: exit status 3.
    Failed(Failure),
}

impl From<Failure> for AisCommandError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub(super) type AisCommandResult = Result<ExitCode, AisCommandError>;
