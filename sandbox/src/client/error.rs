//! The errors of building a sandbox. Each must show whether the tool may have run.

use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use crate::messages::SetupFailure;
use crate::process::ProcessState;

/// The most processes named in one message.
const NAMED_MAX: usize = 4;

/// The reason why a sandbox could not be built or started.
#[derive(Debug)]
pub enum BuildError {
    /// The launcher could not be started or reached.
    Launcher(PathBuf, io::Error),
    /// The launcher reported the reason.
    SetupFailed(SetupFailure),
    /// The launcher died or sent an invalid message before the start of the tool was requested.
    Lost(io::Error),
    /// The launcher did not answer in time.
    Stuck(Box<StallReport>),
    /// The caller cancelled the wait.
    Cancelled(Box<StallReport>),
    /// The launcher was lost between the start request and its answer: the tool may have run.
    Unknown(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launcher(path, error) => write!(f, "launcher {}: {error}", path.display()),
            Self::SetupFailed(unable) => unable.fmt(f),
            Self::Lost(error) => write!(f, "launcher: lost before the tool started: {error}"),
            Self::Stuck(state) => state.fmt(f),
            Self::Cancelled(state) => write!(f, "wait for the sandbox: cancelled; {state}"),
            Self::Unknown(error) => write!(f, "launcher: lost while it started the tool: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// A launcher that has not answered: its current step, and the state of its processes.
#[derive(Clone, Debug)]
pub struct StallReport {
    pub(super) for_time: Duration,
    pub(super) step: String,
    pub(super) processes: Vec<ProcessState>,
}

impl StallReport {
    /// Returns the processes that make no progress.
    #[must_use]
    pub fn processes(&self) -> &[ProcessState] {
        &self.processes
    }
}

impl fmt::Display for StallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { for_time, step, processes } = self;
        write!(f, "sandbox: not ready after {} s; step: {step}", for_time.as_secs())?;
        for process in processes.iter().take(NAMED_MAX) {
            write!(f, "; {process}")?;
        }
        match processes.len().checked_sub(NAMED_MAX) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "; and {more} more"),
        }
    }
}

/// Returns the error for a launcher that disconnected or violated the protocol.
pub(super) fn lost(why: &'static str) -> BuildError {
    BuildError::Lost(io::Error::new(io::ErrorKind::UnexpectedEof, why))
}
