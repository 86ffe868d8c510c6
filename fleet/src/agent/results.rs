//! The records of this host, and the search for the one that ends a claim. The agent verifies no
//! record: it only reports what a record states.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use model::{Outcome, ResultId};
use records::{ResultDirectory, claims, request_of, result_names};
use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use super::error::FleetAgentError;
use super::model::LocalClaim;
use crate::blocking::blocking;

/// A change shortly before a listing may be missing in it: the file system's clock is coarse.
const CLOCK_STEP_MAX: Duration = Duration::from_secs(1);
/// After this time the directory is listed again although it looks unchanged: the clock of the file
/// system may differ from this host's.
const LIST_INTERVAL: Duration = Duration::from_secs(10);

/// The modification time of the directory of results: seconds, nanoseconds.
type ResultsStamp = (i64, i64);

/// A record that may end a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundRecord {
    /// The id of the result.
    pub(super) name: String,
    /// The digest of the request's document, as the record has it.
    pub(super) document_sha256: String,
    /// The outcome.
    pub(super) outcome: String,
    /// The exit code of the tool.
    pub(super) exit_code: i32,
}

/// The results directory, with the names of its last listing.
pub(super) struct ResultWatch {
    results: PathBuf,
    names: RefCell<BTreeMap<String, Vec<String>>>,
    stamp: Cell<Option<ResultsStamp>>,
    listed_at: Cell<Option<Instant>>,
}

impl ResultWatch {
    pub(super) fn new(results: PathBuf) -> Self {
        let names = RefCell::new(BTreeMap::new());
        Self { results, names, stamp: Cell::new(None), listed_at: Cell::new(None) }
    }

    /// Lists the names again, if the directory may have changed.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(super) async fn refresh(&self) -> Result<(), FleetAgentError> {
        let results = self.results.clone();
        let failed = |error: io::Error| FleetAgentError::io(&self.results, &error);
        let found = match fs::metadata(&results) {
            // The daemon makes it at its first start. Later, a missing directory hides records.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.listed_at.get().is_none() =>
            {
                return Ok(());
            }
            found => found.map_err(failed)?,
        };
        let stamp = (found.mtime(), found.mtime_nsec());
        let is_recent = self.listed_at.get().is_some_and(|at| at.elapsed() < LIST_INTERVAL);
        if is_recent && self.stamp.get() == Some(stamp) {
            return Ok(());
        }
        let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        // There may be very many names.
        let listed = blocking(move || by_subject(&results)).await?.map_err(failed)?;
        *self.names.borrow_mut() = listed;
        self.listed_at.set(Some(Instant::now()));
        self.stamp.set(age.filter(|age| *age > CLOCK_STEP_MAX).map(|_| stamp));
        Ok(())
    }

    /// Returns the names of the results that a request may have, as last listed.
    pub(super) fn names_of(&self, request: &str, document_sha256: &str) -> Vec<String> {
        let names = self.names.borrow();
        let subjects = [request.to_owned(), refused_subject(document_sha256)];
        let found = subjects.iter().filter_map(|subject| names.get(subject)).flatten();
        let mut found: Vec<String> = found.cloned().collect();
        found.sort();
        found
    }

    /// Returns the record that ends a claim, as last listed.
    pub(super) fn end_of(&self, request: &str, claim: &LocalClaim) -> Option<FoundRecord> {
        let known = &claim.file.known_results;
        let names = self.names_of(request, &claim.file.document_sha256);
        if names.iter().all(|name| known.contains(name)) {
            return None;
        }
        let found: Vec<FoundRecord> =
            names.iter().filter_map(|name| read_record(&self.results, name)).collect();
        final_record(&found, known, &claim.file.document_sha256).cloned()
    }

    /// Returns the path of a result.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.results.join(name)
    }

    /// Returns the exact bytes of a record.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read_record(&self, id: &ResultId) -> Result<Vec<u8>, FleetAgentError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |error: io::Error| FleetAgentError::io(&self.path(id.as_str()), &error);
        let results = rustix::fs::open(&self.results, flags, Mode::empty());
        let results = results.map_err(|errno| failed(errno.into()))?;
        ResultDirectory::open(&results, id).and_then(|it| it.read_record()).map_err(failed)
    }
}

/// Returns the names of all results, by the request id or the refused file that they name.
fn by_subject(results: &Path) -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in result_names(results)? {
        if let Some(subject) = request_of(&name) {
            found.entry(subject.to_owned()).or_default().push(name);
        }
    }
    Ok(found)
}

/// Returns the part of a result's name that names a document without a usable id.
fn refused_subject(document_sha256: &str) -> String {
    format!("REFUSED-{}", document_sha256.get(..16).unwrap_or_default())
}

fn read_record(results: &Path, name: &str) -> Option<FoundRecord> {
    let claims = claims(&results.join(name))?;
    let text = |key: &str| claims.get(key).and_then(Value::as_str).map(str::to_owned);
    let exit_code = claims.get("exit_code").and_then(Value::as_i64);
    Some(FoundRecord {
        name: name.to_owned(),
        document_sha256: text("request_sha256")?,
        outcome: text("outcome")?,
        exit_code: exit_code.and_then(|code| i32::try_from(code).ok())?,
    })
}

/// Returns the record that ends a claim: that of the run, if the request ever ran on this host,
/// else the newest one. Returns `None` if no record is newer than the claim.
fn final_record<'a>(
    found: &'a [FoundRecord],
    known: &[String],
    document_sha256: &str,
) -> Option<&'a FoundRecord> {
    let mine = || found.iter().filter(move |it| it.document_sha256 == document_sha256);
    let newest = mine().rfind(|it| !known.contains(&it.name))?;
    let never_ran = [Outcome::Refused.as_str(), Outcome::SetupError.as_str()];
    let ran = mine().find(|it| !never_ran.contains(&it.outcome.as_str()));
    Some(ran.unwrap_or(newest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, document: &str, outcome: &str) -> FoundRecord {
        let (name, document_sha256) = (name.to_owned(), document.to_owned());
        FoundRecord { name, document_sha256, outcome: outcome.to_owned(), exit_code: 0 }
    }

    fn chosen<'a>(found: &'a [FoundRecord], known: &[&str]) -> Option<&'a str> {
        let known: Vec<String> = known.iter().map(|it| (*it).to_owned()).collect();
        final_record(found, &known, "d").map(|it| it.name.as_str())
    }

    #[test]
    fn a_record_before_the_claim_does_not_end_it() {
        let found = [record("TS-1", "d", "refused"), record("TS-2", "d", "setup_error")];
        assert_eq!(chosen(&found, &["TS-1", "TS-2"]), None);
        assert_eq!(chosen(&found, &["TS-1"]), Some("TS-2"));
        assert_eq!(chosen(&found, &[]), Some("TS-2"), "the newest");
        assert_eq!(chosen(&[], &[]), None);
    }

    #[test]
    fn the_record_of_the_run_is_the_end() {
        let found = [
            record("TS-1", "d", "refused"),
            record("TS-2", "d", "exit_nonzero"),
            record("TS-3", "d", "refused"),
        ];
        assert_eq!(chosen(&found, &[]), Some("TS-2"));
        assert_eq!(chosen(&found, &["TS-1", "TS-2"]), Some("TS-2"), "it ran before the claim");
        assert_eq!(chosen(&found, &["TS-1", "TS-2", "TS-3"]), None, "the claim is not answered");
    }

    #[test]
    fn the_record_of_another_document_is_not_the_end() {
        let found = [record("TS-1", "e", "ok"), record("TS-2", "d", "refused")];
        assert_eq!(chosen(&found, &[]), Some("TS-2"));
        assert_eq!(chosen(&found[..1], &[]), None);
    }

    #[test]
    fn a_document_without_an_id_is_found_by_its_digest() {
        assert_eq!(refused_subject(&"ab".repeat(32)), "REFUSED-abababababababab");
        assert_eq!(refused_subject("short"), "REFUSED-");
    }
}
