//! The errors of `toolexec ais`, and what each of its commands returns.

use std::process::ExitCode;

use crate::failure::Failure;

/// Why a command ended without an answer.
pub(super) enum Stop {
    /// A document is not what it should be: exit code 2.
    Invalid(String),
    /// Usage, or the host: exit code 3.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub(super) type Done = Result<ExitCode, Stop>;
