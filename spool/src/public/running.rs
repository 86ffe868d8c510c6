//! The requests in progress: one file each in `public/running/`, from the claim to the record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{RequestId, UtcTime};
use serde::{Deserialize, Serialize};

use super::published_file::{publish_json, published_names, read_published, remove, remove_all};
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};

/// The size limit of a file, larger than any that is written.
const RUNNING_BYTES_MAX: usize = 16 * 1024;

model::closed_set! {
    /// The progress of a request.
    #[derive(PartialOrd, Ord)]
    pub enum RunningStep {
        /// Claimed, and being decided.
        Claimed = "claimed",
        /// Its inputs are being staged and its sandbox is being built.
        Staging = "staging",
        /// The tool is running or about to start. The request is used up.
        Running = "running",
        /// The tool has ended, and the record is being written.
        Publishing = "publishing",
    }
}

model::serialize_closed_set!(RunningStep);
model::deserialize_closed_set!(RunningStep);

/// A request in progress: its requested and granted limits, and the launcher's last usage report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningRequest {
    /// Its id, which is also the name of the file.
    pub request_id: String,
    /// The time of the claim, in UTC.
    pub since_utc: String,
    /// The current step.
    pub step: RunningStep,
    /// The time at which the step began, in UTC; for `running`, the start of the tool.
    pub step_since_utc: String,
    /// The time limit of the tool in seconds; none before the decision.
    pub time_sec_max: Option<u64>,
    /// The memory limit in bytes; none before the decision.
    pub memory_bytes_max: Option<u64>,
    /// The submitter: a login name or a uid.
    pub submitter: Option<String>,
    /// Bytes of inputs that were hashed so far; none before hashing begins.
    #[serde(default)]
    pub hashed_bytes: Option<u64>,
    /// Bytes of its inputs when hashing began.
    #[serde(default)]
    pub input_bytes: Option<u64>,
    /// Bytes of memory that its tool uses; none before the launcher's first report.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Milliseconds of processor time that its tool used; none before the launcher's first report.
    #[serde(default)]
    pub cpu_ms: Option<u64>,
    /// The limit of processor time in milliseconds; none before the decision.
    #[serde(default)]
    pub cpu_ms_max: Option<u64>,
}

impl RunningRequest {
    fn is_valid(&self, file: &str) -> bool {
        let times = [&self.since_utc, &self.step_since_utc];
        self.request_id == file
            && self.request_id.parse::<RequestId>().is_ok()
            && times.iter().all(|time| time.parse::<UtcTime>().is_ok())
    }
}

impl Spool {
    /// Publishes the progress of a request.
    ///
    /// # Errors
    /// An I/O error, or an invalid request id. It only affects readers.
    pub fn publish_running(&self, running: &RunningRequest) -> Result<(), SpoolError> {
        let directory = self.running_dir();
        let path = directory.join(format!("{}.json", running.request_id));
        if !running.is_valid(&running.request_id) {
            let odd = std::io::Error::from(std::io::ErrorKind::InvalidInput);
            return Err(SpoolError::io(&directory, "publish an invalid request id")(odd));
        }
        make_dir(&self.public(), 0o755)?;
        make_dir(&directory, 0o755)?;
        publish_json(&path, running)
    }

    /// Removes the file of a request that was finished or released.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_running(&self, request_id: &RequestId) -> Result<(), SpoolError> {
        remove(&self.running_dir().join(format!("{request_id}.json")))
    }

    /// Removes the files of all requests, at the start and at the end of the daemon.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_all_running(&self) -> Result<(), SpoolError> {
        remove_all(&self.running_dir())
    }

    fn running_dir(&self) -> PathBuf {
        self.public().join("running")
    }
}

/// Returns the published requests in progress, by request id, except unreadable or misnamed files.
/// With [`super::daemon_liveness`] `NotRunning`, the daemon ended during them.
#[must_use]
pub fn running_requests(spool: &Path) -> BTreeMap<String, RunningRequest> {
    let directory = spool.join("public/running");
    published_names(&directory)
        .filter_map(|file| {
            let path = directory.join(format!("{file}.json"));
            let bytes = read_published(&path, RUNNING_BYTES_MAX).ok()?;
            let running: RunningRequest = serde_json::from_slice(&bytes).ok()?;
            running.is_valid(&file).then_some((file, running))
        })
        .collect()
}
