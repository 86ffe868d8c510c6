//! What waits for somebody's answer: one small file for each request in `public/held/`. The request itself
//! stays where it was dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::tell::{read_told, remove, remove_all, tell_json, told_names};
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More than any of them has.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// Why a request waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// When it was dropped, in UTC.
    pub since_utc: String,
    /// When it is refused if nobody answers, in UTC.
    pub until_utc: String,
    /// What it waits for: code and message of each rule that holds it.
    pub waits_for: Vec<WaitsFor>,
}

/// One rule that somebody's answer can satisfy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitsFor {
    /// The code of the violation that it would be.
    pub code: String,
    /// Why, in words.
    pub message: String,
}

impl Spool {
    /// Tells that this file of `approved/` waits.
    ///
    /// # Errors
    /// The disk. Nobody but readers of the list misses what was not told.
    pub fn tell_held(&self, file_name: &str, held: &Held) -> Result<(), SpoolError> {
        make_dir(&self.public(), 0o755)?;
        let directory = make_dir(&self.told_held(), 0o755)?;
        tell_json(&directory.join(format!("{file_name}.json")), held)
    }

    /// It waits no longer.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_held(&self, file_name: &str) -> Result<(), SpoolError> {
        remove(&self.told_held().join(format!("{file_name}.json")))
    }

    /// Nothing waits as far as is known: at the start, before anything was looked at.
    ///
    /// # Errors
    /// The disk.
    pub fn forget_all_held(&self) -> Result<(), SpoolError> {
        remove_all(&self.told_held())
    }

    fn told_held(&self) -> PathBuf {
        self.public().join("held")
    }
}

/// What is told to wait, by the name of the file in `approved/`. What cannot be read is left out: it is
/// only a telling.
#[must_use]
pub fn held_in(spool: &Path) -> BTreeMap<String, Held> {
    let directory = spool.join("public/held");
    told_names(&directory)
        .filter_map(|file| {
            let bytes = read_told(&directory.join(format!("{file}.json")), HELD_BYTES_MAX).ok()?;
            Some((file, serde_json::from_slice(&bytes).ok()?))
        })
        .collect()
}
