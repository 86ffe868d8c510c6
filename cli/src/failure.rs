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
        Self::Message(with_help(problem, help))
    }

    /// Gives a problem this help instead of its own, if any.
    pub(crate) fn with_other_help(problem: &str, help: &str) -> Self {
        let (problem, _) = records::split_reason(problem);
        Self::Message(records::reason_with_help(problem, help))
    }

    /// Returns the problem without the help, for a text that has no place for help.
    pub(crate) fn problem(&self) -> String {
        records::split_reason(&self.to_string()).0.to_owned()
    }
}

/// Adds help to a problem that has none of its own.
pub(crate) fn with_help(problem: &str, help: &str) -> String {
    match records::split_reason(problem) {
        (_, Some(_)) => problem.to_owned(),
        (_, None) => records::reason_with_help(problem, help),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => {
                let problem = format!("{}: {error}", path.display());
                f.write_str(&records::reason_with_io_help(&problem, error))
            }
            Self::TooLarge(path, most) => write!(
                f,
                "{}: larger than the limit of {most} bytes; help: name another file, or make it \
                 smaller",
                path.display()
            ),
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
