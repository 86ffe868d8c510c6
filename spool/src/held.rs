//! What waits for somebody's answer, told to whoever looks: one small file for each request in
//! `public/held/`. The request itself stays where it was dropped. These files tell and must never decide:
//! the daemon makes them anew and reads none of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::durable;
use crate::error::SpoolError;
use crate::places::{Spool, make_dir};

/// More than any of them has.
const HELD_BYTES_MAX: u64 = 64 * 1024;

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
        let path = directory.join(format!("{file_name}.json"));
        let new = directory.join(format!(".new-{file_name}.json"));
        for old in [&new, &path] {
            remove(old)?;
        }
        let bytes = serde_json::to_vec(held).map_err(|error| {
            SpoolError::io(&path, "write")(io::Error::new(io::ErrorKind::InvalidData, error))
        })?;
        durable::write_new(&new, &bytes, 0o644).map_err(SpoolError::io(&new, "write"))?;
        durable::rename_new(&new, &path).map_err(SpoolError::io(&path, "rename"))
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
        let path = self.told_held();
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SpoolError::io(&path, "remove")(error))
            }
            _ => Ok(()),
        }
    }

    fn public(&self) -> PathBuf {
        self.spool_dir().join("public")
    }

    fn told_held(&self) -> PathBuf {
        self.public().join("held")
    }
}

/// What is told to wait, by the name of the file in `approved/`. What cannot be read is left out: it is
/// only a telling.
#[must_use]
pub fn held_in(spool: &Path) -> BTreeMap<String, Held> {
    let listed = fs::read_dir(spool.join("public/held"));
    let names =
        listed.into_iter().flatten().flatten().filter_map(|it| it.file_name().into_string().ok());
    names
        .filter_map(|name| {
            let file = name.strip_suffix(".json").filter(|_| !name.starts_with('.'))?.to_owned();
            let path = spool.join("public/held").join(&name);
            let small = fs::symlink_metadata(&path).ok()?;
            if !small.is_file() || small.len() > HELD_BYTES_MAX {
                return None;
            }
            Some((file, serde_json::from_slice(&fs::read(&path).ok()?).ok()?))
        })
        .collect()
}

fn remove(path: &Path) -> Result<(), SpoolError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SpoolError::io(path, "remove")(error))
        }
        _ => Ok(()),
    }
}
