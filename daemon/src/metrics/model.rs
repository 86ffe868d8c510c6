//! The error of the metrics socket.

use std::fmt;
use std::io;
use std::path::PathBuf;

use spool::Shortage;

/// The metrics socket cannot be opened.
#[derive(Debug)]
pub enum MetricsSocketError {
    /// Another process answers at this path, or it is not a socket.
    InUse(PathBuf),
    /// A call on the socket at this path failed, or its thread was not started.
    Io(PathBuf, io::Error),
}

impl fmt::Display for MetricsSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(path) => {
                let shown = path.display();
                write!(f, "{shown}: already in use; help: remove it, or set another metrics.socket")
            }
            Self::Io(path, error) => write!(
                f,
                "{}: {error}; help: check the directory of metrics.socket",
                path.display()
            ),
        }
    }
}

impl std::error::Error for MetricsSocketError {}

impl MetricsSocketError {
    /// Returns the shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        match self {
            Self::Io(_, error) => Shortage::of(error),
            Self::InUse(_) => None,
        }
    }
}
