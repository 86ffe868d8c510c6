//! Whether the ledger knows every run that was made here. A ledger that was put back from an older copy fits its
//! own head; what shows its age lies outside it: results, archived requests, and claims that a run left. It
//! must never change anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{ClaimId, RequestId, ResultId};

use super::scan::{entries, salvage};
use super::{HEAD, Intent, LedgerFault};
use crate::claim::{INTENT, intent_in};
use crate::error::SpoolError;
use crate::places::{Places, Spool};
use crate::retention::each_name;

/// Says of a published result whether its record is of a run that was begun.
pub type WasBegun<'a> = &'a mut dyn FnMut(&Path) -> bool;

/// Shows every id that the ledger knows.
type Known<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&str)) -> Result<(), SpoolError>;

impl Places {
    /// Whether the results belong to this state alone. Embedded runs may publish into a directory that others
    /// share; what lies there says nothing about this ledger.
    pub(crate) fn own_results(&self) -> bool {
        [&self.state, &self.spool].iter().any(|root| self.results.starts_with(root))
    }

    /// Something that is never there without a ledger. To be asked before the ledger is looked for: a run beside
    /// this one may make both meanwhile.
    pub(crate) fn trace_of_a_ledger(&self) -> Result<Option<PathBuf>, SpoolError> {
        let files =
            [self.state.join("log.head"), self.state.join("removed"), self.log.join("checkpoint")];
        if let Some(found) = files.into_iter().find(|path| path.exists()) {
            return Ok(Some(found));
        }
        let results = self.own_results().then(|| self.results.clone());
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

/// The intents that claims in `work/` hold, each with the path of its file.
pub(super) fn intents_in_work(places: &Places) -> Result<Vec<(PathBuf, Intent)>, SpoolError> {
    let work = places.spool.join("work");
    let mut found = Vec::new();
    each_name(&work, &mut |name| {
        if ClaimId::from_name(&name).is_some() {
            let intent = intent_in(&work.join(&name))?;
            found.extend(intent.map(|intent| (work.join(&name).join(INTENT), intent)));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Runs that were made here and that the ledger does not know, by the id of their result or claim.
pub(super) fn unknown_runs(
    places: &Places,
    known: Known<'_>,
    was_begun: WasBegun<'_>,
) -> Result<BTreeMap<String, PathBuf>, SpoolError> {
    let mut runs = BTreeMap::new();
    let archive = places.spool.join("archive");
    // Before the ledger is read: each of them had its line first.
    let results = places.own_results().then(|| places.results.clone());
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
    // Only begun runs are archived; of results the record says it.
    runs.retain(|_, path| !path.starts_with(&places.results) || was_begun(path));
    if !runs.is_empty() {
        forget_used_up(&mut runs, known)?;
    }
    Ok(runs)
}

/// Of the runs those whose request is used up by another line: it cannot run again.
fn forget_used_up(
    runs: &mut BTreeMap<String, PathBuf>,
    known: Known<'_>,
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

/// Holds the ledger against its head and against everything that shows which runs there were, without a lock.
/// The daemon refuses to admit anything for the same reasons.
///
/// # Errors
/// [`SpoolError::Ledger`], [`SpoolError::LedgerLine`], or what cannot be read.
pub fn check_ledger(places: &Places, was_begun: WasBegun<'_>) -> Result<(), SpoolError> {
    let shown_by = places.trace_of_a_ledger()?;
    let path = places.state.join("ledger");
    let head = places.state.join(HEAD);
    if !path.exists() {
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
    let runs = unknown_runs(places, known, was_begun)?;
    match runs.values().next() {
        None => Ok(()),
        Some(run) => {
            let (run, runs) = (run.clone(), runs.len());
            Err(SpoolError::ledger(&path, LedgerFault::Older { run, runs }))
        }
    }
}

/// The runs that a ledger does not know although it was read as far as it can be.
pub(super) fn unknown_to_the_readable_lines(
    places: &Places,
    was_begun: WasBegun<'_>,
) -> Result<BTreeMap<String, PathBuf>, SpoolError> {
    let known = &mut |know: &mut dyn FnMut(&str)| {
        for entry in salvage(&places.state).0 {
            entry.ids().into_iter().for_each(&mut *know);
        }
        Ok(())
    };
    unknown_runs(places, known, was_begun)
}

impl Spool {
    /// Insists that the ledger knows every run that was made here; to be called before anything is recovered.
    ///
    /// # Errors
    /// As [`check_ledger`].
    pub fn insist_on_ledger(&self, was_begun: WasBegun<'_>) -> Result<(), SpoolError> {
        check_ledger(self.places(), was_begun)
    }

    /// Results of this request in a directory that other states publish into as well. The ledger of this one
    /// need not know them.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn results_of_others(&self, id: &RequestId) -> Result<Vec<PathBuf>, SpoolError> {
        let mut found = Vec::new();
        if self.places().own_results() {
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

/// The claims in `archive/` that still have their own line, by the id of their result.
pub(super) fn archived_intent(places: &Places, id: &str) -> Option<Intent> {
    let directory = places.spool.join("archive").join(id);
    intent_in(&directory).ok().flatten()
}
