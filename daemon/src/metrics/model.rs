//! The error of the metrics socket.

use std::fmt;
use std::io;
use std::path::PathBuf;

use spool::Want;

/// The metrics socket cannot be opened.
#[derive(Debug)]
pub enum SocketError {
    /// Another process answers at this path, or it is not a socket.
    Taken(PathBuf),
    Io(PathBuf, io::Error),
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(path) => {
                let shown = path.display();
                write!(f, "{shown}: already in use; help: remove it, or set another metrics.socket")
            }
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for SocketError {}

impl SocketError {
    /// Returns the shortage behind this error, if waiting can end it.
    #[must_use]
    pub fn want(&self) -> Option<Want> {
        match self {
            Self::Io(_, error) => Want::of(error),
            Self::Taken(_) => None,
        }
    }
}
