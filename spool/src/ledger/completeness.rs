//! Checks that the ledger contains every run made here. A ledger restored from an older copy
//! matches its own head; only results, archived requests and claims show its age. Changes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{ClaimId, RequestId, ResultId};

use super::scan::{entries, salvage};
use super::{HEAD_FILE, Intent, LedgerFault};
use crate::claim::{INTENT_FILE, read_intent};
use crate::error::SpoolError;
use crate::paths::{Spool, SpoolPaths};
use crate::retention::each_name;

/// Returns whether the record of a published result is of a begun run.
pub type WasBegun<'a> = &'a mut dyn FnMut(&Path) -> bool;

/// Passes every id in the ledger to a callback.
type KnownIds<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&str)) -> Result<(), SpoolError>;

impl SpoolPaths {
    /// Returns whether the results directory is this state's own. Embedded runs may share one.
    pub(crate) fn owns_results(&self) -> bool {
        [&self.state, &self.spool].iter().any(|root| self.results.starts_with(root))
    }

    /// Returns an object that only exists with a ledger. Look for it first: a run may create both.
    pub(crate) fn trace_of_ledger(&self) -> Result<Option<PathBuf>, SpoolError> {
        let files =
            [self.state.join("log.head"), self.state.join("removed"), self.log.join("checkpoint")];
        if let Some(found) = files.into_iter().find(|path| path.exists()) {
            return Ok(Some(found));
        }
        let results = self.owns_results().then(|| self.results.clone());
        let kept = ["archive", "quarantine"].map(|name| self.spool.join(name));
        for directory in results.into_iter().chain(kept) {
            let mut found = None;
            each_name(&directory, &mut |name| {
                if name.parse::<ResultId>().is_ok() {
                    found.get_or_insert(directory.join(name));
                }
                Ok(())
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(intents_in_work(self)?.into_iter().next().map(|(path, _)| path))
    }
}

/// Returns the intents in the claims of `work/`, each with the path of its file.
pub(super) fn intents_in_work(places: &SpoolPaths) -> Result<Vec<(PathBuf, Intent)>, SpoolError> {
    let work = places.spool.join("work");
    let mut found = Vec::new();
    each_name(&work, &mut |name| {
        if ClaimId::from_name(&name).is_some() {
            let intent = read_intent(&work.join(&name))?;
            found.extend(intent.map(|intent| (work.join(&name).join(INTENT_FILE), intent)));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns the runs made here that the ledger does not contain, by the id of their result or claim.
pub(super) fn missing_runs(
    places: &SpoolPaths,
    known: KnownIds<'_>,
    was_begun: WasBegun<'_>,
) -> Result<BTreeMap<String, PathBuf>, SpoolError> {
    let mut runs = BTreeMap::new();
    let archive = places.spool.join("archive");
    // List the runs before reading the ledger: each has its line first.
    let results = places.owns_results().then(|| places.results.clone());
    for directory in results.into_iter().chain([archive.clone()]) {
        each_name(&directory, &mut |name| {
            if name.parse::<ResultId>().is_ok() {
                runs.insert(name.clone(), directory.join(name));
            }
            Ok(())
        })?;
    }
    for (path, intent) in intents_in_work(places)? {
        runs.insert(intent.claim, path);
    }
    known(&mut |id| {
        runs.remove(id);
    })?;
    // Archived requests were always begun; for results the record says so.
    runs.retain(|_, path| !path.starts_with(&places.results) || was_begun(path));
    if !runs.is_empty() {
        exclude_used_requests(&mut runs, known)?;
    }
    Ok(runs)
}

/// Removes the runs whose request is used up by another line: it cannot run again.
fn exclude_used_requests(
    runs: &mut BTreeMap<String, PathBuf>,
    known: KnownIds<'_>,
) -> Result<(), SpoolError> {
    let mut of_request: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in runs.keys() {
        let request = id.parse::<ResultId>().ok().and_then(|id| id.request_id());
        if let Some(request) = request {
            of_request.entry(request.to_string()).or_default().push(id.clone());
        }
    }
    known(&mut |id| {
        for id in of_request.remove(id).unwrap_or_default() {
            runs.remove(&id);
        }
    })
}

/// Checks the ledger against its head and all traces of runs, without a lock, as a daemon does.
///
/// # Errors
/// [`SpoolError::Ledger`], [`SpoolError::LedgerLine`], or a read error.
pub fn check_ledger(places: &SpoolPaths, was_begun: WasBegun<'_>) -> Result<(), SpoolError> {
    let shown_by = places.trace_of_ledger()?;
    let path = places.state.join("ledger");
    let head = places.state.join(HEAD_FILE);
    if !path.try_exists().map_err(SpoolError::io(&path, "look up"))? {
        let kept = head.exists().then_some(head);
        let fault = |shown_by| SpoolError::ledger(&path, LedgerFault::Missing { shown_by });
        return kept.or(shown_by).map_or(Ok(()), |shown_by| Err(fault(shown_by)));
    }
    let known = &mut |know: &mut dyn FnMut(&str)| {
        let read = entries(&places.state, &mut |entry| {
            entry.ids().into_iter().for_each(&mut *know);
        });
        read.map(drop)
    };
    let runs = missing_runs(places, known, was_begun)?;
    match runs.values().next() {
        None => Ok(()),
        Some(run) => {
            let (run, runs) = (run.clone(), runs.len());
            Err(SpoolError::ledger(&path, LedgerFault::Outdated { run, runs }))
        }
    }
}

pub(super) fn missing_from_readable_lines(
    places: &SpoolPaths,
    was_begun: WasBegun<'_>,
) -> Result<BTreeMap<String, PathBuf>, SpoolError> {
    let known = &mut |know: &mut dyn FnMut(&str)| {
        for entry in salvage(&places.state)?.0 {
            entry.ids().into_iter().for_each(&mut *know);
        }
        Ok(())
    };
    missing_runs(places, known, was_begun)
}

impl Spool {
    /// Checks that the ledger contains every run made here. Call it before recovery.
    ///
    /// # Errors
    /// As [`check_ledger`].
    pub fn check_own_ledger(&self, was_begun: WasBegun<'_>) -> Result<(), SpoolError> {
        check_ledger(self.paths(), was_begun)
    }

    /// Returns the request's results in a shared results directory. This ledger may lack them.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn foreign_results(&self, id: &RequestId) -> Result<Vec<PathBuf>, SpoolError> {
        let mut found = Vec::new();
        if self.paths().owns_results() {
            return Ok(found);
        }
        let ends = format!("-{id}");
        each_name(self.results(), &mut |name| {
            if name.ends_with(&ends) && name.parse::<ResultId>().is_ok() {
                found.push(self.results().join(name));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

/// Returns the intent of an archived claim, by the id of its result.
pub(super) fn archived_intent(places: &SpoolPaths, id: &str) -> Option<Intent> {
    let directory = places.spool.join("archive").join(id);
    read_intent(&directory).ok().flatten()
}
