//! The records of this host, and the search for the one that ends a claim. The agent verifies no
//! record: it only reports what a record states.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use model::{Outcome, ResultId};
use records::{ResultDirectory, claims};
use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use spool::io_text;
use tokio::sync::Mutex;

use super::error::FleetAgentError;
use super::model::LocalClaim;
use super::result_events::ResultEvents;
use super::result_index::ResultIndex;
use super::results_listing::{LastListing, ListingStep, ResultsStamp};
use crate::blocking::blocking;

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

/// The results directory, with the names of its last listing and of the events since then.
pub(super) struct ResultWatch {
    results: PathBuf,
    names: RefCell<ResultIndex>,
    /// `None` if the directory must be listed.
    last: Mutex<Option<LastListing>>,
    was_listed: Cell<bool>,
    /// The reason why events are missing is logged once.
    is_unwatched_logged: Cell<bool>,
}

impl ResultWatch {
    pub(super) fn new(results: PathBuf) -> Self {
        Self {
            results,
            names: RefCell::default(),
            last: Mutex::new(None),
            was_listed: Cell::new(false),
            is_unwatched_logged: Cell::new(false),
        }
    }

    /// Updates the names by all changes before this call. It reads the events, and lists the
    /// directory only if they may be incomplete.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(super) async fn refresh(&self) -> Result<(), FleetAgentError> {
        // A running listing may miss a name that appeared since it began.
        let mut last = self.last.lock().await;
        // After an error or an interruption the next refresh lists.
        let mut listing = last.take();
        let failed = |error: io::Error| FleetAgentError::io(&self.results, &error);
        let changes = listing.as_ref().and_then(LastListing::take_changes);
        let found = match fs::metadata(&self.results) {
            // The daemon makes it at its first start. Later, a missing directory hides records.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.was_listed.get() => {
                return Ok(());
            }
            found => ResultsStamp::of(&found.map_err(failed)?),
        };
        let step = match &mut listing {
            Some(listing) => {
                let changes = listing.with_later(changes, found);
                listing.next_step(changes, found, Instant::now())
            }
            None => ListingStep::List,
        };
        *last = match step {
            ListingStep::Keep => listing,
            ListingStep::Look(names) => {
                self.look(&names).map_err(failed)?;
                listing
            }
            ListingStep::List => Some(self.list(listing).await?),
        };
        Ok(())
    }

    /// Watches the directory from now on, and lists it.
    async fn list(&self, before: Option<LastListing>) -> Result<LastListing, FleetAgentError> {
        let was_reported = before.as_ref().is_some_and(LastListing::is_reported);
        let results = self.results.clone();
        let list = move || -> io::Result<_> {
            // The kernel may take long to end a watch.
            drop(before);
            // First, so that every change after this has an event.
            let events = ResultEvents::of(&results);
            let found = fs::metadata(&results)?;
            let changed_at = found.modified().ok();
            let age = changed_at.and_then(|at| SystemTime::now().duration_since(at).ok());
            Ok((events, ResultsStamp::of(&found), age, ResultIndex::of(&results)?))
        };
        // There may be very many names.
        let listed = blocking(list).await?;
        let (events, found, age, names) =
            listed.map_err(|error| FleetAgentError::io(&self.results, &error))?;
        *self.names.borrow_mut() = names;
        self.was_listed.set(true);
        let events = events.inspect_err(|error| self.log_unwatched(error)).ok();
        Ok(LastListing::new(found, age, events, was_reported))
    }

    fn log_unwatched(&self, error: &io::Error) {
        if !self.is_unwatched_logged.replace(true) {
            tracing::debug!(
                "{}: inotify: {}; listing it after each change; help: raise the limits in \
                 /proc/sys/fs/inotify",
                self.results.display(),
                io_text(error)
            );
        }
    }

    /// Looks at names that may have appeared or left.
    ///
    /// # Errors
    /// The directory cannot be searched.
    fn look(&self, names: &BTreeSet<OsString>) -> io::Result<()> {
        let mut index = self.names.borrow_mut();
        for name in names {
            let text = name.to_string_lossy();
            match fs::symlink_metadata(self.results.join(name)) {
                Ok(found) if found.is_dir() => index.add(text.into_owned()),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => index.remove(&text),
            }
        }
        Ok(())
    }

    /// Returns the names of the results that a request may have, as of the last refresh.
    pub(super) fn names_of(&self, request: &str, document_sha256: &str) -> Vec<String> {
        self.names.borrow().names_of(request, document_sha256)
    }

    /// Returns the record that ends a claim, as of the last refresh.
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
mod end_tests;
#[cfg(test)]
mod tests;
