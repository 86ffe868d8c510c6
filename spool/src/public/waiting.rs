//! What waits for its turn, as far as the daemon has looked: `public/waiting.json`, one document with the
//! oldest of each submitter. The requests stay where they were dropped. How long the document gets does not
//! hang on how many wait.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::status::told_document;
use super::tell::{remove, tell_json};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More are not told by name.
pub const WAITING_TOLD_MAX: usize = 256;
/// More than so many of them have: a name is at most 255 bytes, each six characters in JSON.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// What waited when it was told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldWaiting {
    /// When this was told, in UTC.
    pub at_utc: String,
    /// Whether these are all.
    pub whole: bool,
    pub waiting: Vec<WaitsSince>,
}

/// A request that nobody has begun with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitsSince {
    /// Its name in `approved/`.
    pub file: String,
    /// When it was dropped, in UTC.
    pub since_utc: String,
}

impl Spool {
    /// Tells what waits.
    ///
    /// # Errors
    /// The disk. Nobody but readers misses what was not told.
    pub fn tell_waiting(&self, told: &ToldWaiting) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        tell_json(&directory.join("waiting.json"), told)
    }

    /// Nothing waits, as far as is known.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_waiting(&self) -> Result<(), SpoolError> {
        remove(&self.public().join("waiting.json"))
    }
}

/// What is told to wait. What cannot be read is left out: it is only a telling.
#[must_use]
pub fn waiting_in(spool: &Path) -> Vec<WaitsSince> {
    let told = told_document::<ToldWaiting>(spool.join("public/waiting.json"), WAITING_BYTES_MAX);
    told.map(|told| told.waiting).unwrap_or_default()
}
