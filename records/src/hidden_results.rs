//! Results that are not published yet, after a crash: whether their files survived. A log must
//! never keep an entry whose record was lost before it was published.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::log::{BatchCheck, LogClaim, LogLocation, PublicLogKey, RECORD_BYTES_MAX};
use crate::summary::read_claimed;
use crate::trust::Trust;
use crate::verify::verify;
use crate::verify_error::VerifyError;

const HIDDEN_PREFIX: &str = ".new-";

impl LogLocation {
    /// Adds the directory of the results whose records this log contains. An interrupted batch of
    /// the log is then completed only if the records of all its entries survived.
    #[must_use]
    pub fn with_results(self, results: &Path) -> Self {
        self.with_batch_check(Arc::new(ResultsCheck { results: results.to_owned() }))
    }
}

/// Verifies a hidden result. Its hidden name must be the only problem.
#[must_use]
pub fn is_intact(hidden: &Path, trust: &Trust) -> bool {
    let is_own_name = |found: &str, id: &str| found.strip_prefix(HIDDEN_PREFIX) == Some(id);
    match verify(hidden, trust) {
        Err(faults) => matches!(
            faults.as_slice(),
            [VerifyError::DirectoryName { found, result_id }] if is_own_name(found, result_id)
        ),
        Ok(_) => false,
    }
}

#[derive(Debug)]
struct ResultsCheck {
    results: PathBuf,
}

impl BatchCheck for ResultsCheck {
    fn is_intact(&self, entries: &[&[u8]], log: &PublicLogKey) -> bool {
        let results = directories(&self.results);
        let (hidden, visible): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|(_, name)| name.starts_with(HIDDEN_PREFIX));
        let mut missing: HashSet<&[u8]> = entries.iter().copied().collect();
        for (path, name) in hidden {
            let claim = claim_of(&path, name.trim_start_matches(HIDDEN_PREFIX));
            let Some(claim) = claim.filter(|claim| missing.contains(claim.entry())) else {
                continue;
            };
            // The entry is in the tree that the draft signs, so its key may vouch for the record.
            let trust = claim.key().map(|key| Trust::from_key(key).with_logs(vec![log.clone()]));
            if trust.is_some_and(|trust| is_intact(&path, &trust)) {
                missing.remove(claim.entry());
            }
        }
        // A result gets its name after the barrier, so one visible record proves that the whole
        // batch was durable.
        let is_of_batch = |(path, name): (PathBuf, String)| {
            claim_of(&path, &name).is_some_and(|claim| entries.contains(&claim.entry()))
        };
        missing.is_empty() || visible.into_iter().any(is_of_batch)
    }
}

/// Returns the paths and names of the directories in `results`.
fn directories(results: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(results).into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let named =
        directories.filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)));
    named.collect()
}

fn claim_of(result: &Path, id: &str) -> Option<LogClaim> {
    let bytes_max = u64::try_from(RECORD_BYTES_MAX).unwrap_or(u64::MAX);
    let bundle = read_claimed(result, &format!("{id}.bundle.json"), bytes_max).ok()??;
    LogClaim::of_bundle(&bundle).ok()
}
