//! Finds illegal states, leftovers and other problems of a spool that the caller can read. It must
//! never change anything, take a lock, or wait: a running daemon may hold the examined objects.

mod directories;
mod known_runs;
mod locks;
mod model;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ::model::ClaimId;

use crate::claim::{read_claim_note, read_intent, read_noted_result};
use crate::paths::SpoolPaths;
use crate::publish::UNVERIFIED_PREFIX;
use crate::recover::{claim_of, original_of};
use crate::state::{
    ClaimFiles, ClaimState, HiddenState, PathPresence, PromiseState, RecoveryAction, next_action,
};

pub use self::model::{DaemonPresence, SpoolFinding, SpoolProblem, SpoolProblemCode, SpoolReport};

use known_runs::{KnownRuns, PromisedRun};
use locks::HeldLocks;

/// A process needs much less time to make or remove an object.
const LEFTOVER_AGE_MIN: Duration = Duration::from_secs(3600);
/// Slots wait for runs of their kind, with a prewarmed sandbox.
const SLOT_AGE_MIN: Duration = Duration::from_secs(24 * 3600);
/// A daemon scans all submissions several times a minute.
const WAITING_AGE_MIN: Duration = Duration::from_secs(600);

/// Returns whether a directory is a spool.
#[must_use]
pub fn is_spool(spool: &Path) -> bool {
    ["work", "archive", "quarantine"].iter().all(|name| spool.join(name).is_dir())
}

/// Checks a spool. Only results for which `was_begun` returns true are in the ledger.
pub fn check_spool(places: &SpoolPaths, was_begun: &mut dyn FnMut(&Path) -> bool) -> SpoolReport {
    let locks = HeldLocks::now();
    let daemon = locks.are_held_on(&places.spool.join(".lock"));
    let daemon = if daemon { DaemonPresence::Present } else { DaemonPresence::Absent };
    let mut report = SpoolReport { daemon, ..SpoolReport::default() };
    directories::check_directories(places, &mut report);
    let known = KnownRuns::read(&places.state, &mut report);
    let mut look = SpoolCheck { places, known, locks, report };
    look.check_claims();
    look.check_leftovers();
    look.check_ledger_lines();
    look.check_results(was_begun);
    look.check_waiting();
    look.report
}

struct SpoolCheck<'a> {
    places: &'a SpoolPaths,
    known: KnownRuns,
    locks: HeldLocks,
    report: SpoolReport,
}

impl SpoolCheck<'_> {
    fn add_finding(&mut self, path: &Path, trouble: SpoolProblem) {
        self.report.findings.push(SpoolFinding { path: path.to_owned(), problem: trouble });
    }

    /// Returns the names in a directory. An unreadable one is a finding; a missing one is not.
    fn names(&mut self, directory: &Path) -> Vec<String> {
        match fs::read_dir(directory) {
            Ok(entries) => {
                let names = entries.flatten().filter_map(|it| it.file_name().into_string().ok());
                let mut names: Vec<String> = names.collect();
                names.sort();
                names
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.add_finding(directory, SpoolProblem::Unreadable(error.to_string()));
                }
                Vec::new()
            }
        }
    }

    fn check_claims(&mut self) {
        let work = self.places.spool.join("work");
        for name in self.names(&work) {
            let directory = work.join(&name);
            match ClaimId::from_name(&name) {
                Some(claim) => self.check_claim(&claim, &directory),
                None => self.check_leftover(&directory, LEFTOVER_AGE_MIN),
            }
        }
    }

    fn check_claim(&mut self, claim: &ClaimId, directory: &Path) {
        self.report.claims += 1;
        let state = match self.state_of(claim, directory) {
            Ok(state) => state,
            // The claim was finished meanwhile.
            Err(_) if !directory.exists() => return,
            Err(error) => return self.add_finding(directory, SpoolProblem::Unreadable(error)),
        };
        if self.is_unknown(claim, directory) {
            return self.add_finding(directory, SpoolProblem::NotInTheLedger);
        }
        match next_action(&state) {
            RecoveryAction::Skip => {}
            RecoveryAction::Report(illegal) => {
                self.add_finding(directory, SpoolProblem::Illegal(illegal))
            }
            _ if self.report.daemon == DaemonPresence::Present => {}
            _ => self.add_finding(directory, SpoolProblem::Interrupted),
        }
    }

    /// Returns whether the claim has a copy of a ledger line that is missing from the ledger.
    fn is_unknown(&self, claim: &ClaimId, directory: &Path) -> bool {
        let has_line = matches!(read_intent(directory), Ok(Some(_)));
        if !has_line || self.known.claims.contains_key(claim.as_str()) {
            return false;
        }
        // A daemon may have begun it after the ledger was read.
        let now = KnownRuns::read(&self.places.state, &mut SpoolReport::default());
        !now.claims.contains_key(claim.as_str())
    }

    fn state_of(&self, claim: &ClaimId, directory: &Path) -> Result<ClaimFiles, String> {
        let failed = |error: crate::SpoolError| error.problem();
        let note = read_claim_note(directory).map_err(failed)?;
        let noted = read_noted_result(directory).map_err(failed)?.map(|id| id.to_string());
        let begun = self.known.claims.get(claim.as_str()).cloned();
        let promise = match (&begun, &noted) {
            (Some(begun), Some(noted)) if begun != noted => PromiseState::Contradicted,
            (Some(_), _) => PromiseState::Begun,
            (None, Some(_)) => PromiseState::Noted,
            (None, None) => PromiseState::None,
        };
        let mut state = ClaimFiles {
            claim: claim_of(directory, note.as_ref()).map_err(failed)?,
            promise,
            original: original_of(directory, note.as_ref()),
            ..ClaimFiles::NOTHING
        };
        if self.locks.are_held_on(&directory.join("lock")) {
            state.claim = ClaimState::Locked;
        }
        if let Some(id) = begun.or(noted) {
            self.of_id(&mut state, &id);
        }
        Ok(state)
    }

    fn of_id(&self, state: &mut ClaimFiles, id: &str) {
        let SpoolPaths { spool, results, .. } = self.places;
        state.published = PathPresence::of(&results.join(id));
        state.archived = PathPresence::of(&spool.join("archive").join(id));
        state.quarantined = PathPresence::of(&spool.join("quarantine").join(id));
        let hidden = results.join(format!(".new-{id}"));
        state.hidden = match PathPresence::of(&hidden) {
            PathPresence::Absent => HiddenState::Absent,
            PathPresence::Present if self.locks.are_held_on(&hidden) => HiddenState::Locked,
            // Only recovery checks completeness, which makes no state illegal.
            PathPresence::Present => HiddenState::Partial,
        };
        if self.known.removed.contains(id) {
            state.removed = PathPresence::Present;
        }
    }

    fn check_leftover(&mut self, path: &Path, age_min: Duration) {
        let Ok(age) = age_of(path) else { return };
        if age >= age_min && !self.locks.are_held_on(path) {
            self.add_finding(path, SpoolProblem::Leftover { age_sec: age.as_secs() });
        }
    }

    fn check_leftovers(&mut self) {
        let results = self.places.results.clone();
        for name in self.names(&results).iter().filter(|name| name.starts_with('.')) {
            if name.starts_with(UNVERIFIED_PREFIX) {
                self.add_finding(&results.join(name), SpoolProblem::Unverified);
            } else {
                self.check_leftover(&results.join(name), LEFTOVER_AGE_MIN);
            }
        }
        let staging = self.places.state.join("staging");
        for name in self.names(&staging) {
            if !self.places.spool.join("work").join(&name).exists() {
                self.check_leftover(&staging.join(&name), SLOT_AGE_MIN);
            }
        }
    }

    /// Checks that every ledger line has a claim or a result.
    fn check_ledger_lines(&mut self) {
        let lines = std::mem::take(&mut self.known.lines);
        for PromisedRun { claim, result_id, results } in &lines {
            // Already checked as a claim.
            if self.places.spool.join("work").join(claim).exists() {
                continue;
            }
            let mut state = ClaimFiles { promise: PromiseState::Begun, ..ClaimFiles::NOTHING };
            self.of_id(&mut state, result_id);
            // Embedded runs may have had other results directories.
            let record = results.join(result_id);
            if *results != self.places.results && record.exists() {
                state.published = PathPresence::Present;
            }
            if let RecoveryAction::Report(illegal) = next_action(&state) {
                self.add_finding(&record, SpoolProblem::Illegal(illegal));
            }
        }
    }

    /// Checks that every run's result has its ledger line. Otherwise its request could run again.
    fn check_results(&mut self, was_begun: &mut dyn FnMut(&Path) -> bool) {
        let (results, archive) = (self.places.results.clone(), self.places.spool.join("archive"));
        let names = self.names(&results);
        let published = names.iter().filter(|name| !name.starts_with('.'));
        self.report.results = published.clone().count();
        if self.report.ledger_lines.is_none() {
            return;
        }
        let mut unknown: Vec<PathBuf> = Vec::new();
        for id in published.filter(|id| !self.known.ids.contains(*id)) {
            let path = results.join(id);
            if was_begun(&path) {
                unknown.push(path);
            }
        }
        let archived = self.names(&archive);
        // `permissions/` contains answers that were accepted.
        let archived = archived.iter().filter(|id| id.parse::<::model::ResultId>().is_ok());
        let archived = archived.filter(|id| !self.known.ids.contains(*id));
        unknown.extend(archived.map(|id| archive.join(id)));
        if unknown.is_empty() {
            return;
        }
        // A daemon may have begun and recorded them after the ledger was read.
        let now = KnownRuns::read(&self.places.state, &mut SpoolReport::default());
        for path in unknown {
            let id = path.file_name().and_then(|name| name.to_str());
            if id.is_some_and(|id| !now.ids.contains(id)) {
                self.add_finding(&path, SpoolProblem::NotInTheLedger);
            }
        }
    }

    fn check_waiting(&mut self) {
        let approved = self.places.spool.join("approved");
        let held = crate::public::held_requests(&self.places.spool);
        let expected = self.expected_requests();
        for name in self.names(&approved) {
            if name.starts_with('.') || !name.to_ascii_lowercase().ends_with(".md") {
                continue;
            }
            self.report.waiting += 1;
            let path = approved.join(&name);
            let Ok(age) = age_of(&path) else { continue };
            let is_known = held.contains_key(&name) || expected.contains(&name);
            if age >= WAITING_AGE_MIN && !is_known {
                let daemon = self.report.daemon;
                self.add_finding(
                    &path,
                    SpoolProblem::StaleRequest { age_sec: age.as_secs(), daemon },
                );
            }
        }
    }

    /// Returns the files in `approved/` that a daemon runs, or that wait for their turn. They stay
    /// there until their records are published.
    fn expected_requests(&self) -> BTreeSet<String> {
        if self.report.daemon == DaemonPresence::Absent {
            return BTreeSet::new();
        }
        let spool = &self.places.spool;
        let running = crate::public::running_requests(spool).into_keys();
        let waiting = crate::public::waiting_requests(spool).into_iter().map(|one| one.file);
        running.map(|id| format!("{id}.md")).chain(waiting).collect()
    }
}

/// Returns the time since the last modification. A time in the future counts as now.
fn age_of(path: &Path) -> io::Result<Duration> {
    let modified = fs::symlink_metadata(path)?.modified()?;
    Ok(SystemTime::now().duration_since(modified).unwrap_or_default())
}
