//! The waiting requests, `public/waiting.json`: one document of limited length with the oldest
//! requests of each submitter. The requests stay in `approved/`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::published_file::{publish_json, remove};
use super::status::read_document;
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};

/// The most requests that are listed by name.
pub const WAITING_LISTED_MAX: usize = 256;
/// The size limit of the document: a name is at most 255 bytes, each six characters in JSON.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// The published waiting requests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedWaiting {
    /// The time of publication, in UTC.
    pub at_utc: String,
    /// True if the list is complete.
    pub whole: bool,
    /// The waiting requests.
    pub waiting: Vec<WaitingRequest>,
}

/// A request whose processing has not begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingRequest {
    /// Its name in `approved/`.
    pub file: String,
    /// The time of its submission, in UTC.
    pub since_utc: String,
}

impl Spool {
    /// Publishes the waiting requests.
    ///
    /// # Errors
    /// An I/O error. It only affects readers.
    pub fn publish_waiting(&self, waiting: &PublishedWaiting) -> Result<(), SpoolError> {
        let directory = make_dir(&self.public(), 0o755)?;
        publish_json(&directory.join("waiting.json"), waiting)
    }

    /// Removes the published list.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_waiting(&self) -> Result<(), SpoolError> {
        remove(&self.public().join("waiting.json"))
    }
}

/// Returns the published waiting requests. An unreadable list counts as empty.
#[must_use]
pub fn waiting_requests(spool: &Path) -> Vec<WaitingRequest> {
    let published =
        read_document::<PublishedWaiting>(spool.join("public/waiting.json"), WAITING_BYTES_MAX);
    published.map(|it| it.waiting).unwrap_or_default()
}
