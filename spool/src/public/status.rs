//! How the daemon is, by its own word: `public/status.json`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use model::{Sha256, UtcTime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::alive::Seat;
use super::kept_room::{read_kept, tell_kept};
use super::tell::{json_of, read_told};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More than it ever has.
const STATUS_BYTES_MAX: usize = 64 * 1024;

model::closed_set! {
    /// What a daemon is doing as a whole.
    pub enum DaemonState {
        /// It recovers what an earlier one left; nothing is taken yet.
        Starting = "starting",
        /// It takes what is dropped, unless admission is stopped.
        Serving = "serving",
        /// It was told to stop: runs in flight end, nothing new is taken.
        Draining = "draining",
        /// It ended in order; nothing was in flight.
        Stopped = "stopped",
        /// It ended because its own disk, keys or kernel failed.
        Halted = "halted",
    }
}

model::serialize_closed_set!(DaemonState);
model::deserialize_closed_set!(DaemonState);

impl DaemonState {
    /// Whether it is one that a daemon is in while it lives.
    #[must_use]
    pub fn is_of_the_living(self) -> bool {
        matches!(self, Self::Starting | Self::Serving | Self::Draining)
    }
}

/// How many requests are in each state.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Dropped and not looked at, or waiting for room.
    pub waiting: u64,
    /// Waiting for somebody's answer.
    pub held: u64,
    /// Being decided.
    pub claimed: u64,
    /// Being staged.
    pub staging: u64,
    /// With a tool that runs.
    pub running: u64,
    /// With a record that is being made.
    pub publishing: u64,
}

/// Which policy is in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TellsPolicy {
    /// The name that it gives itself.
    pub name: String,
    /// The digest of its file, in hexadecimal.
    pub sha256: String,
}

/// How a daemon is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Status {
    /// Which process it is, and where that number means it.
    pub seat: Seat,
    /// The version of the program.
    pub version: String,
    /// When it started, in UTC.
    pub started_utc: String,
    /// When this was told, in UTC.
    pub at_utc: String,
    pub state: DaemonState,
    /// Why it halted, or what the state alone does not say.
    pub why: Option<String>,
    /// Why nothing is admitted although it serves: no room, a trust store that cannot be read.
    pub admission_stopped: Option<String>,
    pub counts: Counts,
    /// How many runs there may be at once.
    pub runs_max: u64,
    /// Bytes that were promised to the runs in flight, and how many may be.
    pub memory_bytes_promised: u64,
    pub memory_bytes_max: Option<u64>,
    pub policy: TellsPolicy,
}

impl Status {
    fn is_sound(&self) -> bool {
        let times = [&self.started_utc, &self.at_utc];
        times.iter().all(|time| time.parse::<UtcTime>().is_ok())
            && self.policy.sha256.parse::<Sha256>().is_ok()
    }
}

/// Why there is nothing to show.
#[derive(Debug)]
pub enum ToldError {
    /// No daemon ever told it, or the spool has none.
    Nothing,
    /// It cannot be read by whoever asks.
    Unreadable(PathBuf, io::Error),
    /// It is not one that this version knows.
    Unsound(PathBuf, String),
}

impl fmt::Display for ToldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no daemon has told it"),
            Self::Unreadable(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Unsound(path, what) => {
                write!(f, "{}: is nothing that this version knows: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for ToldError {}

impl Spool {
    /// Tells how the daemon is.
    ///
    /// # Errors
    /// The disk. Nobody but readers misses what was not told.
    pub fn tell_status(&self, status: &Status) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        let path = directory.join("status.json");
        tell_kept(&path, &json_of(&path, status)?)
    }
}

/// What the last daemon told of itself. Whether it is still there is not said by it: ask
/// [`super::daemon_alive`].
///
/// # Errors
/// Any [`ToldError`].
pub fn told_status(spool: &Path) -> Result<Status, ToldError> {
    let path = spool.join("public/status.json");
    let bytes = read_kept(&path, STATUS_BYTES_MAX).map_err(|error| not_told(&path, error))?;
    let read = serde_json::from_slice(&bytes);
    let status: Status =
        read.map_err(|error| ToldError::Unsound(path.clone(), error.to_string()))?;
    match status.is_sound() {
        true => Ok(status),
        false => Err(ToldError::Unsound(path, "a time or a digest is none".into())),
    }
}

/// Reads a document that was told.
pub(super) fn told_document<T: DeserializeOwned>(
    path: PathBuf,
    bytes_max: usize,
) -> Result<T, ToldError> {
    let bytes = told_bytes(&path, bytes_max)?;
    serde_json::from_slice(&bytes).map_err(|error| ToldError::Unsound(path, error.to_string()))
}

/// Reads what was told, whatever it is.
pub(super) fn told_bytes(path: &Path, bytes_max: usize) -> Result<Vec<u8>, ToldError> {
    read_told(path, bytes_max).map_err(|error| not_told(path, error))
}

fn not_told(path: &Path, error: io::Error) -> ToldError {
    match error.kind() {
        io::ErrorKind::NotFound => ToldError::Nothing,
        _ => ToldError::Unreadable(path.to_owned(), error),
    }
}
