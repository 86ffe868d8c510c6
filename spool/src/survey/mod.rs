//! Checks a whole spool from outside, as far as the caller can read it: illegal states, leftovers,
//! and other problems for the operator. It must never change anything, take a lock, or wait: a
//! daemon may be running and may hold the examined objects.

mod known;
mod locks;
mod model;
mod places;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ::model::ClaimId;

use crate::claim::{claim_note, intent_in, noted_result};
use crate::places::Places;
use crate::publish::UNVERIFIED;
use crate::recover::{claim_of, original_of};
use crate::state::{Claim, Hidden, Promise, State, Step, There, step};

pub use self::model::{Daemon, Finding, Survey, Trouble, TroubleCode};

use known::{Known, Line};
use locks::Locks;

/// A process needs much less time to make or remove an object.
const RUBBISH_AGE: Duration = Duration::from_secs(3600);
/// Slots wait for runs of their kind, with a prewarmed sandbox.
const SLOT_AGE: Duration = Duration::from_secs(24 * 3600);
/// A daemon scans all submissions several times a minute.
const WAITING_AGE: Duration = Duration::from_secs(600);

/// Returns whether a directory is a spool.
#[must_use]
pub fn is_spool(spool: &Path) -> bool {
    ["work", "archive", "quarantine"].iter().all(|name| spool.join(name).is_dir())
}

/// Checks a spool. `was_begun` returns whether the record of a published result is of a begun run:
/// only those are in the ledger.
pub fn survey(places: &Places, was_begun: &mut dyn FnMut(&Path) -> bool) -> Survey {
    let locks = Locks::now();
    let daemon = locks.are_held_on(&places.spool.join(".lock"));
    let daemon = if daemon { Daemon::Present } else { Daemon::Absent };
    let mut survey = Survey { daemon, ..Survey::default() };
    places::look(places, &mut survey);
    let known = Known::read(&places.state, &mut survey);
    let mut look = Look { places, known, locks, survey };
    look.claims();
    look.left_over();
    look.lines();
    look.kept(was_begun);
    look.waiting();
    look.survey
}

struct Look<'a> {
    places: &'a Places,
    known: Known,
    locks: Locks,
    survey: Survey,
}

impl Look<'_> {
    fn find(&mut self, path: &Path, trouble: Trouble) {
        self.survey.findings.push(Finding { path: path.to_owned(), trouble });
    }

    /// Returns the names in a directory. An unreadable directory is a finding; a missing one is
    /// not.
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
                    self.find(directory, Trouble::Unreadable(error.to_string()));
                }
                Vec::new()
            }
        }
    }

    fn claims(&mut self) {
        let work = self.places.spool.join("work");
        for name in self.names(&work) {
            let directory = work.join(&name);
            match ClaimId::from_name(&name) {
                Some(claim) => self.claim(&claim, &directory),
                None => self.rubbish(&directory, RUBBISH_AGE),
            }
        }
    }

    fn claim(&mut self, claim: &ClaimId, directory: &Path) {
        self.survey.claims += 1;
        let state = match self.state_of(claim, directory) {
            Ok(state) => state,
            // The claim was finished meanwhile.
            Err(_) if !directory.exists() => return,
            Err(error) => return self.find(directory, Trouble::Unreadable(error)),
        };
        if self.is_unknown(claim, directory) {
            return self.find(directory, Trouble::NotInTheLedger);
        }
        match step(&state) {
            Step::LeaveAlone => {}
            Step::Report(illegal) => self.find(directory, Trouble::Illegal(illegal)),
            _ if self.survey.daemon == Daemon::Present => {}
            _ => self.find(directory, Trouble::Interrupted),
        }
    }

    /// Returns whether the claim has a copy of a ledger line that is missing from the ledger.
    fn is_unknown(&self, claim: &ClaimId, directory: &Path) -> bool {
        let has_line = matches!(intent_in(directory), Ok(Some(_)));
        if !has_line || self.known.claims.contains_key(claim.as_str()) {
            return false;
        }
        // A daemon may have begun it after the ledger was read.
        let now = Known::read(&self.places.state, &mut Survey::default());
        !now.claims.contains_key(claim.as_str())
    }

    fn state_of(&self, claim: &ClaimId, directory: &Path) -> Result<State, String> {
        let failed = |error: crate::SpoolError| error.to_string();
        let note = claim_note(directory).map_err(failed)?;
        let noted = noted_result(directory).map_err(failed)?.map(|id| id.to_string());
        let begun = self.known.claims.get(claim.as_str()).cloned();
        let promise = match (&begun, &noted) {
            (Some(begun), Some(noted)) if begun != noted => Promise::Contradicted,
            (Some(_), _) => Promise::Begun,
            (None, Some(_)) => Promise::Noted,
            (None, None) => Promise::Nothing,
        };
        let mut state = State {
            claim: claim_of(directory, note.as_ref()).map_err(failed)?,
            promise,
            original: original_of(directory, note.as_ref()),
            ..State::NOTHING
        };
        if self.locks.are_held_on(&directory.join("lock")) {
            state.claim = Claim::Locked;
        }
        if let Some(id) = begun.or(noted) {
            self.of_id(&mut state, &id);
        }
        Ok(state)
    }

    fn of_id(&self, state: &mut State, id: &str) {
        let Places { spool, results, .. } = self.places;
        state.published = There::of(&results.join(id));
        state.archived = There::of(&spool.join("archive").join(id));
        state.quarantined = There::of(&spool.join("quarantine").join(id));
        let hidden = results.join(format!(".new-{id}"));
        state.hidden = match There::of(&hidden) {
            There::Absent => Hidden::Absent,
            There::Present if self.locks.are_held_on(&hidden) => Hidden::Locked,
            // Only recovery checks completeness, which makes no state illegal.
            There::Present => Hidden::Partial,
        };
        if self.known.removed.contains(id) {
            state.removed = There::Present;
        }
    }

    fn rubbish(&mut self, path: &Path, age_min: Duration) {
        let Ok(age) = age_of(path) else { return };
        if age >= age_min && !self.locks.are_held_on(path) {
            self.find(path, Trouble::Rubbish { age_sec: age.as_secs() });
        }
    }

    fn left_over(&mut self) {
        let results = self.places.results.clone();
        for name in self.names(&results).iter().filter(|name| name.starts_with('.')) {
            if name.starts_with(UNVERIFIED) {
                self.find(&results.join(name), Trouble::Unverified);
            } else {
                self.rubbish(&results.join(name), RUBBISH_AGE);
            }
        }
        let staging = self.places.state.join("staging");
        for name in self.names(&staging) {
            if !self.places.spool.join("work").join(&name).exists() {
                self.rubbish(&staging.join(&name), SLOT_AGE);
            }
        }
    }

    /// Checks that every ledger line has a claim or a result.
    fn lines(&mut self) {
        let lines = std::mem::take(&mut self.known.lines);
        for Line { claim, result_id, results } in &lines {
            // Already checked as a claim.
            if self.places.spool.join("work").join(claim).exists() {
                continue;
            }
            let mut state = State { promise: Promise::Begun, ..State::NOTHING };
            self.of_id(&mut state, result_id);
            // Embedded runs may have had other results directories.
            let record = results.join(result_id);
            if *results != self.places.results && record.exists() {
                state.published = There::Present;
            }
            if let Step::Report(illegal) = step(&state) {
                self.find(&record, Trouble::Illegal(illegal));
            }
        }
    }

    /// Checks that every result of a run has its ledger line. With an older ledger its request
    /// could run again.
    fn kept(&mut self, was_begun: &mut dyn FnMut(&Path) -> bool) {
        let (results, archive) = (self.places.results.clone(), self.places.spool.join("archive"));
        let names = self.names(&results);
        let published = names.iter().filter(|name| !name.starts_with('.'));
        self.survey.results = published.clone().count();
        if self.survey.ledger_lines.is_none() {
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
        let now = Known::read(&self.places.state, &mut Survey::default());
        for path in unknown {
            let id = path.file_name().and_then(|name| name.to_str());
            if id.is_some_and(|id| !now.ids.contains(id)) {
                self.find(&path, Trouble::NotInTheLedger);
            }
        }
    }

    fn waiting(&mut self) {
        let approved = self.places.spool.join("approved");
        let held = crate::public::held_in(&self.places.spool);
        for name in self.names(&approved) {
            if name.starts_with('.') || !name.to_ascii_lowercase().ends_with(".md") {
                continue;
            }
            self.survey.waiting += 1;
            let path = approved.join(&name);
            let Ok(age) = age_of(&path) else { continue };
            if age >= WAITING_AGE && !held.contains_key(&name) {
                let daemon = self.survey.daemon;
                self.find(&path, Trouble::Waits { age_sec: age.as_secs(), daemon });
            }
        }
    }
}

/// Returns the time since the last modification. A time in the future counts as now.
fn age_of(path: &Path) -> io::Result<Duration> {
    let modified = fs::symlink_metadata(path)?.modified()?;
    Ok(SystemTime::now().duration_since(modified).unwrap_or_default())
}
