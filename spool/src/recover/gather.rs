//! Reads the files of a claim as a state. Changes nothing.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use model::{ClaimId, ResultId};

use crate::archive::ASIDE_FILE;
use crate::claim::{ClaimKind, ClaimNote, read_claim_note, read_noted_result};
use crate::error::SpoolError;
use crate::ledger::Intent;
use crate::lock::{FileLock, LockMode};
use crate::paths::Spool;
use crate::state::{
    ClaimFiles, ClaimState, HiddenState, OriginalState, PathPresence, PromiseState, removed_results,
};
use crate::sync;

pub(super) struct ClaimFindings {
    pub(super) state: ClaimFiles,
    pub(super) note: Option<ClaimNote>,
    pub(super) intent: Option<Intent>,
    pub(super) promised: Option<ResultId>,
    /// The ledger has its line, and a note that no tool was started.
    pub(super) never_started: bool,
    pub(super) results: PathBuf,
}

/// A callback and a cache that all claims share.
pub(super) struct RecoveryContext<'a> {
    /// Returns whether a hidden result is complete and valid.
    pub(super) is_whole: &'a mut dyn FnMut(&Path) -> Result<bool, SpoolError>,
    /// Retention's marks, read at the first use.
    pub(super) removed: Option<HashSet<String>>,
}

impl RecoveryContext<'_> {
    fn was_removed(&mut self, state: &Path, id: &ResultId) -> Result<PathPresence, SpoolError> {
        if self.removed.is_none() {
            let read = removed_results(state).map_err(|error| {
                let path = state.join("removed");
                SpoolError::io(&path, "read the list of removals")(io::Error::other(error))
            });
            self.removed = Some(read?);
        }
        let removed = self.removed.as_ref().is_some_and(|ids| ids.contains(id.as_str()));
        Ok(if removed { PathPresence::Present } else { PathPresence::Absent })
    }

    fn hidden(&mut self, path: &Path) -> Result<HiddenState, SpoolError> {
        let directory = match File::open(path) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(HiddenState::Absent);
            }
            Err(error) => return Err(SpoolError::io(path, "open")(error)),
        };
        match FileLock::try_lock(directory, LockMode::Exclusive) {
            Ok(_held) => {
                let reread = sync::sync_tree_and_drop_cache(path);
                reread.map_err(SpoolError::io(path, "sync"))?;
                Ok(if (self.is_whole)(path)? { HiddenState::Whole } else { HiddenState::Partial })
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(HiddenState::Locked),
            Err(errno) => Err(SpoolError::errno(path, "lock")(errno)),
        }
    }
}

impl Spool {
    /// Returns the kind of promise for a claim, its intent, and the promised result.
    pub(super) fn promise(
        &self,
        claim: &ClaimId,
        directory: &Path,
    ) -> Result<(PromiseState, Option<Intent>, Option<ResultId>), SpoolError> {
        let noted = read_noted_result(directory)?;
        let Some(intent) = self.ledger().intent_of(claim)? else {
            let promise = if noted.is_some() { PromiseState::Noted } else { PromiseState::None };
            return Ok((promise, None, noted));
        };
        let wrong = || io::Error::from(io::ErrorKind::InvalidData);
        let begun: ResultId = intent
            .result_id
            .parse()
            .map_err(|_| SpoolError::io(directory, "parse the ledger's result id of")(wrong()))?;
        let promise = match noted {
            Some(noted) if noted != begun => PromiseState::Contradicted,
            _ => PromiseState::Begun,
        };
        Ok((promise, Some(intent), Some(begun)))
    }

    /// Reads the state of a claim whose lock this process holds.
    pub(super) fn gather(
        &self,
        claim: &ClaimId,
        directory: &Path,
        context: &mut RecoveryContext<'_>,
    ) -> Result<ClaimFindings, SpoolError> {
        let note = read_claim_note(directory)?;
        let (promise, intent, promised) = self.promise(claim, directory)?;
        // If the results directory no longer exists, the record is written to the present one.
        let known = intent.as_ref().map(|intent| &intent.results).filter(|path| path.is_dir());
        let results = known.cloned().unwrap_or_else(|| self.results().to_owned());
        let mut state = ClaimFiles {
            claim: claim_of(directory, note.as_ref())?,
            promise,
            original: original_of(directory, note.as_ref()),
            slot: PathPresence::of(&self.staging().join(claim.as_str())),
            ..ClaimFiles::NOTHING
        };
        if let Some(id) = &promised {
            state.published = PathPresence::of(&results.join(id.as_str()));
            state.archived = PathPresence::of(&self.archive().join(id.as_str()));
            state.quarantined = PathPresence::of(&self.quarantine().join(id.as_str()));
            state.hidden = context.hidden(&results.join(format!(".new-{id}")))?;
            if state.published == PathPresence::Absent {
                state.removed = context.was_removed(self.state_dir(), id)?;
            }
        }
        let never_started = self.ledger().was_never_started(claim);
        Ok(ClaimFindings { state, note, intent, promised, never_started, results })
    }
}

pub(crate) fn claim_of(
    directory: &Path,
    note: Option<&ClaimNote>,
) -> Result<ClaimState, SpoolError> {
    let Some(note) = note else { return Ok(ClaimState::Torn) };
    if note.kind == ClaimKind::Object {
        return Ok(ClaimState::Object);
    }
    // After a power failure the copy is either whole or not needed: a run is only begun after the
    // copy was made durable, and a file that lost its bytes is empty.
    let copy = directory.join("request.md");
    match fs::symlink_metadata(&copy) {
        Ok(found) if found.is_file() && found.len() > 0 => Ok(ClaimState::Request),
        Ok(_) => Ok(ClaimState::Torn),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ClaimState::Torn),
        Err(error) => Err(SpoolError::io(&copy, "stat")(error)),
    }
}

pub(crate) fn original_of(directory: &Path, note: Option<&ClaimNote>) -> OriginalState {
    let Some(note) = note else {
        return match fs::symlink_metadata(directory.join(ASIDE_FILE)) {
            Ok(_) => OriginalState::Aside,
            Err(_) => OriginalState::Unknown,
        };
    };
    let Some(dropped) = &note.dropped else { return OriginalState::Unknown };
    let is_ours = |path: &Path| {
        let found = fs::symlink_metadata(path).ok()?;
        Some(dropped.is_same_file(&found))
    };
    let aside = match note.kind {
        ClaimKind::Request => ASIDE_FILE,
        ClaimKind::Object => note.file_name.as_str(),
    };
    match is_ours(&directory.join(aside)) {
        Some(true) => return OriginalState::Aside,
        Some(false) => return OriginalState::AnotherAside,
        None => {}
    }
    match is_ours(&dropped.dropbox.join(&note.file_name)) {
        Some(true) => OriginalState::InPlace,
        Some(false) => OriginalState::Another,
        None => OriginalState::Gone,
    }
}
