//! Results that are not published yet, after a crash: whether their files survived. A log must
//! never keep an entry whose record was lost before it was published. It must never drop one
//! because a file cannot be read at the moment.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::log::{BatchCheck, LogClaim, LogError, LogLocation, PublicLogKey, RECORD_BYTES_MAX};
use crate::summary::read_claimed;
use crate::trust::Trust;
use crate::verify::verify_own;
use crate::verify_error::VerifyError;

const HIDDEN_PREFIX: &str = ".new-";

impl LogLocation {
    /// Adds the directories of the results whose records this log contains. An interrupted batch
    /// of the log is then completed only if the records of all its entries survived.
    #[must_use]
    pub fn with_results(self, results: impl IntoIterator<Item = PathBuf>) -> Self {
        let results = results.into_iter().collect();
        self.with_batch_check(Arc::new(ResultsCheck { results }))
    }
}

/// Verifies a hidden result. Its hidden name must be the only problem.
///
/// # Errors
/// A file that exists cannot be read now.
pub fn is_intact(hidden: &Path, trust: &Trust) -> io::Result<bool> {
    let is_own_name = |found: &str, id: &str| found.strip_prefix(HIDDEN_PREFIX) == Some(id);
    let Err(faults) = verify_own(hidden, trust) else { return Ok(false) };
    let unread = faults.iter().find(|fault| {
        matches!(fault, VerifyError::Directory { .. } | VerifyError::Unreadable { .. })
    });
    if let Some(fault) = unread {
        return Err(io::Error::other(fault.to_string()));
    }
    Ok(matches!(
        faults.as_slice(),
        [VerifyError::DirectoryName { found, result_id }] if is_own_name(found, result_id)
    ))
}

#[derive(Debug)]
struct ResultsCheck {
    results: Vec<PathBuf>,
}

impl BatchCheck for ResultsCheck {
    fn is_intact(&self, entries: &[&[u8]], log: &PublicLogKey) -> Result<bool, LogError> {
        let mut found = Vec::new();
        for results in &self.results {
            found.extend(directories(results)?);
        }
        let (hidden, visible): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, name)| name.starts_with(HIDDEN_PREFIX));
        let mut missing: HashSet<&[u8]> = entries.iter().copied().collect();
        for (path, name) in hidden {
            let claim = claim_of(&path, name.trim_start_matches(HIDDEN_PREFIX))?;
            let Some(claim) = claim.filter(|claim| missing.contains(claim.entry())) else {
                continue;
            };
            // The entry is in the tree that the draft signs, so its key may vouch for the record.
            let Some(key) = claim.key() else { continue };
            let trust = Trust::from_key(key).with_logs(vec![log.clone()]);
            if is_intact(&path, &trust).map_err(unread(&path))? {
                missing.remove(claim.entry());
            }
        }
        if missing.is_empty() {
            return Ok(true);
        }
        // A result gets its name after the barrier, so one visible record proves that the whole
        // batch was durable.
        for (path, name) in visible {
            if claim_of(&path, &name)?.is_some_and(|claim| entries.contains(&claim.entry())) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the paths and names of the directories in `results`, which may not exist yet.
fn directories(results: &Path) -> Result<Vec<(PathBuf, String)>, LogError> {
    let entries = match fs::read_dir(results) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unread(results))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(unread(results))?;
        if entry.file_type().map_err(unread(results))?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            found.push((entry.path(), name));
        }
    }
    Ok(found)
}

/// Returns what the bundle of a result claims; `None` if it is lost or torn.
fn claim_of(result: &Path, id: &str) -> Result<Option<LogClaim>, LogError> {
    let bytes_max = u64::try_from(RECORD_BYTES_MAX).unwrap_or(u64::MAX);
    match read_claimed(result, &format!("{id}.bundle.json"), bytes_max) {
        Ok(bundle) => Ok(bundle.and_then(|bundle| LogClaim::of_bundle(&bundle).ok())),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(unread(result)(error)),
    }
}

/// Returns whether the error says that the file does not exist, or is something else.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

fn unread(path: &Path) -> impl FnOnce(io::Error) -> LogError + use<> {
    let path = path.to_owned();
    move |source| LogError::Io { path, act: "read the results in", source }
}
