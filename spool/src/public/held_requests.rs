//! The requests that wait for an approval or a permission: one file each in `public/held/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::published_file::{publish_json, published_names, read_published, remove, remove_all};
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};

/// The size limit of a file, larger than any that is written.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// The reason why a request is held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldRequest {
    /// The time of its submission, in UTC.
    pub since_utc: String,
    /// The time at which it is refused without an answer, in UTC.
    pub until_utc: String,
    /// The code and message of each rule that holds it.
    pub waits_for: Vec<HoldReason>,
}

/// One rule that an answer can satisfy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldReason {
    /// The code of the violation.
    pub code: String,
    /// The message of the violation.
    pub message: String,
}

impl Spool {
    /// Publishes that this file of `approved/` is held.
    ///
    /// # Errors
    /// An I/O error. It only affects readers of the list.
    pub fn publish_held(&self, file_name: &str, held: &HeldRequest) -> Result<(), SpoolError> {
        make_dir(&self.public(), 0o755)?;
        let directory = make_dir(&self.held_dir(), 0o755)?;
        publish_json(&directory.join(format!("{file_name}.json")), held)
    }

    /// Removes the file of a request after its hold.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_held(&self, file_name: &str) -> Result<(), SpoolError> {
        remove(&self.held_dir().join(format!("{file_name}.json")))
    }

    /// Removes the files of all held requests, at the start of the daemon.
    ///
    /// # Errors
    /// The disk.
    pub fn remove_all_held(&self) -> Result<(), SpoolError> {
        remove_all(&self.held_dir())
    }

    fn held_dir(&self) -> PathBuf {
        self.public().join("held")
    }
}

/// Returns the published held requests, by the name in `approved/`. Unreadable files are left out.
#[must_use]
pub fn held_requests(spool: &Path) -> BTreeMap<String, HeldRequest> {
    let directory = spool.join("public/held");
    published_names(&directory)
        .filter_map(|file| {
            let bytes =
                read_published(&directory.join(format!("{file}.json")), HELD_BYTES_MAX).ok()?;
            Some((file, serde_json::from_slice(&bytes).ok()?))
        })
        .collect()
}
