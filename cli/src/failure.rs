//! Usage and internal errors (exit status 3). Findings of a check are results, not errors.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(crate) enum Failure {
    Io(PathBuf, io::Error),
    TooLarge(PathBuf, u64),
    /// A message that names its object.
    Message(String),
}

impl Failure {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io(path, error)
    }

    /// Adds help to a problem that has none of its own.
    pub(crate) fn with_help(problem: &str, help: &str) -> Self {
        Self::Message(match records::split_reason(problem) {
            (_, Some(_)) => problem.to_owned(),
            (_, None) => records::reason_with_help(problem, help),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::TooLarge(path, most) => {
                write!(f, "{}: larger than the limit of {most} bytes", path.display())
            }
            Self::Message(message) => f.write_str(message),
        }
    }
}

macro_rules! from_message {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::Message(error.to_string())
            }
        })*
    };
}

from_message!(
    daemon::DaemonError,
    daemon::config::ConfigError,
    records::HostKeyError,
    records::RotationError,
    records::RecordTrustError,
    spool::SpoolError,
    String
);
