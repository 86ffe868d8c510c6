//! The errors of `toolexec env`, by exit status.

use std::process::ExitCode;

use environments::{SourceError, UnpackError};
use trees::{StoreError, TreeError};

use crate::failure::Failure;
use crate::output;

pub(super) enum EnvironmentCommandError {
    /// The source or an environment was refused, or does not exist.
    Refused(String),
    /// A program of an ecosystem failed.
    ProgramFailed(String),
    Failed(Failure),
}

impl EnvironmentCommandError {
    /// Prints the reason, and returns the exit status. The caller prints a failure.
    pub(super) fn report(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Refused(why) => Ok(output::report_refusal(&why)),
            Self::ProgramFailed(why) => {
                output::note(why);
                Ok(ExitCode::FAILURE)
            }
            Self::Failed(failure) => Err(failure),
        }
    }
}

impl From<Failure> for EnvironmentCommandError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<SourceError> for EnvironmentCommandError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Io(path, error) => Self::Failed(Failure::Io(path, error)),
            SourceError::Missing(why) => Self::Failed(Failure::Message(why)),
            SourceError::Program(why) => Self::ProgramFailed(why),
            SourceError::Unpack(_, UnpackError::Io { .. })
            | SourceError::Tree(_, TreeError::Io { .. }) => {
                Self::Failed(Failure::Message(error.to_string()))
            }
            SourceError::Refused(_) | SourceError::Unpack(..) | SourceError::Tree(..) => {
                Self::Refused(error.to_string())
            }
        }
    }
}

impl From<StoreError> for EnvironmentCommandError {
    fn from(error: StoreError) -> Self {
        let why = error.to_string();
        match is_refusal(&error) {
            true => Self::Refused(why),
            false => Self::Failed(Failure::Message(why)),
        }
    }
}

/// Returns whether the error is about an environment, not about the disk or the store.
pub(super) fn is_refusal(error: &StoreError) -> bool {
    match error {
        StoreError::Tree { error, .. } => !matches!(error, TreeError::Io { .. }),
        StoreError::Missing { .. }
        | StoreError::Ambiguous { .. }
        | StoreError::File { .. }
        | StoreError::Content(_)
        | StoreError::Changed { .. }
        | StoreError::DamagedFile { .. } => true,
        _ => false,
    }
}
