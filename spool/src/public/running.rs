//! What is being done: one small file for each request in flight, in `public/running/`, from the claim
//! until its record is published.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{RequestId, UtcTime};
use serde::{Deserialize, Serialize};

use super::tell::{read_told, remove, remove_all, tell_json, told_names};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More than any of them has.
const RUNNING_BYTES_MAX: usize = 16 * 1024;

model::closed_set! {
    /// How far a request in flight has come.
    #[derive(PartialOrd, Ord)]
    pub enum Step {
        /// It is ours, and is being decided.
        Claimed = "claimed",
        /// Its inputs and its cell are being made.
        Staging = "staging",
        /// The tool runs, or is about to: the request is used up.
        Running = "running",
        /// The tool has ended; the record is being made.
        Publishing = "publishing",
    }
}

model::serialize_closed_set!(Step);
model::deserialize_closed_set!(Step);

/// A request in flight. The limits are those that it asks for and is granted; what is used is what the
/// launcher told last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    /// Its id, which is also the name of the file.
    pub request_id: String,
    /// When it was claimed, in UTC.
    pub since_utc: String,
    /// How far it has come.
    pub step: Step,
    /// When it came there, in UTC: of `running`, when the tool was started.
    pub step_since_utc: String,
    /// Seconds that the tool may run; none until that is decided.
    pub time_sec_max: Option<u64>,
    /// Bytes of memory that it may have; none until that is decided.
    pub memory_bytes_max: Option<u64>,
    /// Who dropped it: a login name, or the number of the user.
    pub submitter: Option<String>,
    /// Bytes of inputs that were read and hashed so far; none before that begins.
    #[serde(default)]
    pub hashed_bytes: Option<u64>,
    /// Bytes that its inputs had when that began.
    #[serde(default)]
    pub input_bytes: Option<u64>,
    /// Bytes of memory that its tool has now; none until the launcher has told.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Milliseconds that its tool has had on processors; none until the launcher has told.
    #[serde(default)]
    pub cpu_ms: Option<u64>,
    /// Milliseconds that it may have there; none until that is decided.
    #[serde(default)]
    pub cpu_ms_max: Option<u64>,
}

impl Running {
    fn is_sound(&self, file: &str) -> bool {
        let times = [&self.since_utc, &self.step_since_utc];
        self.request_id == file
            && self.request_id.parse::<RequestId>().is_ok()
            && times.iter().all(|time| time.parse::<UtcTime>().is_ok())
    }
}

impl Spool {
    /// Tells that a request is in flight and how far it has come.
    ///
    /// # Errors
    /// The disk, or what is told names no request. Nobody but readers misses what was not told.
    pub fn tell_running(&self, running: &Running) -> Result<(), SpoolError> {
        let directory = self.told_running();
        let path = directory.join(format!("{}.json", running.request_id));
        if !running.is_sound(&running.request_id) {
            let odd = std::io::Error::from(std::io::ErrorKind::InvalidInput);
            return Err(SpoolError::io(&directory, "tell of what is no request")(odd));
        }
        make_dir(&self.public(), 0o755)?;
        make_dir(&directory, 0o755)?;
        tell_json(&path, running)
    }

    /// It is in flight no longer: its record is published, or it was let go.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_running(&self, request_id: &RequestId) -> Result<(), SpoolError> {
        remove(&self.told_running().join(format!("{request_id}.json")))
    }

    /// Nothing is in flight: at the start, and at the end.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_all_running(&self) -> Result<(), SpoolError> {
        remove_all(&self.told_running())
    }

    fn told_running(&self) -> PathBuf {
        self.public().join("running")
    }
}

/// What is told to be in flight, by request id. What cannot be read is left out, and so is what does not
/// bear its own name. Where [`super::daemon_alive`] says no, it is what was in flight when the daemon died.
#[must_use]
pub fn running_in(spool: &Path) -> BTreeMap<String, Running> {
    let directory = spool.join("public/running");
    told_names(&directory)
        .filter_map(|file| {
            let path = directory.join(format!("{file}.json"));
            let bytes = read_told(&path, RUNNING_BYTES_MAX).ok()?;
            let running: Running = serde_json::from_slice(&bytes).ok()?;
            running.is_sound(&file).then_some((file, running))
        })
        .collect()
}
