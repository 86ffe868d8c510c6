//! Recovery after a crash: takes every claim through the [state table](crate::state), one step at a
//! time, until nothing is left to do. Returns the runs that were begun and have no record, to be
//! recorded. Recovery may be killed between any two steps: every decision depends only on the
//! files, not on earlier steps. It must never continue from a file that is not durable yet, because
//! the power may fail next.

mod gather;
mod gone;
mod sweep;
mod unfinished;

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::{ClaimId, ResultId};

use crate::archive::{remove_object, remove_originals, write_report};
use crate::beneath::{remove_tree, try_remove_tree};
use crate::claim::{ClaimKind, ClaimNote, remove_claim};
use crate::error::SpoolError;
use crate::failpoint::{self, Failpoint};
use crate::lock::{FileLock, LockMode};
use crate::paths::Spool;
use crate::publish::{Receipt, SubmissionState};
use crate::state::{Destination, IllegalState, OriginalState, RecoveryAction, next_action};
use crate::sync;
use gather::{ClaimFindings, RecoveryContext};

use sweep::names;

pub(crate) use gather::{claim_of, original_of};
pub(crate) use gone::remove_unless_holding;
pub use unfinished::UnfinishedRun;

/// The results of recovery that need further action or a report.
#[must_use]
pub struct RecoveryReport {
    /// Runs to be recorded.
    pub unfinished: Vec<UnfinishedRun>,
    /// Results that were durable and have their name now.
    pub completed: Vec<ResultId>,
    /// Claims that are left unchanged for the operator.
    pub misplaced: Vec<IllegalClaim>,
    /// Names of claimed files that are still in `approved/` and must not be claimed again.
    pub left: Vec<String>,
}

/// A claim in an illegal state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalClaim {
    /// Its name in `work/`.
    pub claim: String,
    /// The reason.
    pub illegal: IllegalState,
}

impl Spool {
    /// Recovers every claim that no live process holds; returns the runs to be recorded. `is_whole`
    /// checks that a hidden result has its signature, its log entry and the named files.
    ///
    /// # Errors
    /// An I/O error, or an error of `is_whole`. It is safe to try again later.
    pub fn recover(
        &self,
        is_whole: &mut dyn FnMut(&Path) -> Result<bool, SpoolError>,
    ) -> Result<RecoveryReport, SpoolError> {
        let mut context = RecoveryContext { is_whole, removed: None };
        let mut recovered = RecoveryReport {
            unfinished: Vec::new(),
            completed: Vec::new(),
            misplaced: Vec::new(),
            left: Vec::new(),
        };
        let mut kept = HashSet::new();
        // Recovery relies on the existing lines, which a killed process may not have made durable.
        self.ledger().sync_all_lines()?;
        let work = self.work();
        for name in names(&work)? {
            let directory = work.join(&name);
            if name.starts_with(".gone-") {
                // A live process may still move a file out of it.
                if let Some(_lock) = lock_of(&directory)? {
                    gone::finish_removal(&directory)?;
                }
                continue;
            }
            if name.starts_with(".new-") && self.may_be_incomplete(&directory) {
                continue;
            }
            let lock = lock_of(&directory)?;
            match (ClaimId::from_name(&name), lock) {
                (Some(claim), Some(lock)) => {
                    kept.extend(self.recover_claim(claim, lock, &mut context, &mut recovered)?);
                }
                // If that process dies now, the next recovery needs its hidden result.
                (Some(claim), None) => kept.extend(self.promise(&claim, &directory)?.2),
                (None, Some(_)) => remove_tree(&directory),
                (None, None) => {}
            }
        }
        self.sweep_slots()?;
        self.sweep_hidden(&kept)?;
        self.expire_inputs();
        Ok(recovered)
    }

    /// Returns the directories in which runs have begun to collect their results: the present one, and
    /// those of claims that an earlier configuration left.
    ///
    /// # Errors
    /// The claims or the ledger cannot be read.
    pub fn results_in_use(&self) -> Result<BTreeSet<PathBuf>, SpoolError> {
        let mut found = BTreeSet::from([self.results().to_owned()]);
        for name in names(&self.work())? {
            let Some(claim) = ClaimId::from_name(&name) else { continue };
            let intent = self.ledger().intent_of(&claim)?;
            found.extend(intent.map(|intent| intent.results));
        }
        Ok(found)
    }

    /// Takes one claim as far as possible. Returns its promised result if the claim stays.
    fn recover_claim(
        &self,
        claim: ClaimId,
        lock: FileLock,
        context: &mut RecoveryContext<'_>,
        recovered: &mut RecoveryReport,
    ) -> Result<Option<ResultId>, SpoolError> {
        let directory = self.work().join(claim.as_str());
        loop {
            let found = self.gather(&claim, &directory, context)?;
            let id = found.promised.clone();
            match next_action(&found.state) {
                RecoveryAction::Skip => return Ok(id),
                RecoveryAction::Done | RecoveryAction::RemoveSlot => return Ok(None),
                RecoveryAction::Report(illegal) => {
                    let claim = claim.as_str().to_owned();
                    recovered.misplaced.push(IllegalClaim { claim, illegal });
                    let in_place = found.state.original == OriginalState::InPlace;
                    let note = found.note.filter(|_| in_place);
                    recovered.left.extend(note.map(|note| note.file_name));
                    return Ok(id);
                }
                RecoveryAction::Record => {
                    let unfinished = UnfinishedRun::read(claim, &directory, found, lock)?;
                    recovered.unfinished.push(unfinished);
                    return Ok(None);
                }
                RecoveryAction::RemoveClaim => {
                    self.remove_claim_and_slot(&claim);
                    return Ok(None);
                }
                RecoveryAction::RemoveHidden => {
                    let hidden = found.hidden_path();
                    try_remove_tree(&hidden).map_err(SpoolError::io(&hidden, "remove"))?;
                }
                RecoveryAction::Publish => {
                    self.publish_hidden(&directory, &found)?;
                    recovered.completed.extend(id);
                }
                RecoveryAction::Finish(place) => {
                    let results = &found.results;
                    // The result has its name, which may not be durable yet.
                    sync::sync_dir(results).map_err(SpoolError::unsynced(results))?;
                    if let (Some(note), Some(id)) = (&found.note, &id) {
                        let published = (id, results.join(id.as_str()));
                        if let SubmissionState::NotRemoved(error) =
                            self.finish_claim(&claim, note, &published, place)?
                        {
                            tracing::warn!("recorded, and ignored until it changes: {error}");
                            recovered.left.push(note.file_name.clone());
                        }
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Abandons a claim that lacked space, if it was neither begun nor promised a result; its
    /// original is claimed again. Recovery handles any other. Returns whether it was abandoned.
    ///
    /// # Errors
    /// The claim or the ledger cannot be read.
    pub fn abandon_unpromised(&self, claim: &ClaimId) -> Result<bool, SpoolError> {
        let directory = self.work().join(claim.as_str());
        let is_promised = self.promise(claim, &directory)?.2.is_some();
        if !is_promised {
            self.remove_claim_and_slot(claim);
        }
        Ok(!is_promised)
    }

    fn remove_claim_and_slot(&self, claim: &ClaimId) {
        remove_tree(&self.staging().join(claim.as_str()));
        remove_claim(&self.work().join(claim.as_str()));
    }

    /// Gives a complete hidden result its name. It was verified from memory, so it is synced first,
    /// with the note that prevents a second record.
    fn publish_hidden(&self, claim: &Path, found: &ClaimFindings) -> Result<(), SpoolError> {
        let (hidden, results) = (found.hidden_path(), &found.results);
        let published = found.published_path();
        let synced = |path: &Path, done: io::Result<()>| done.map_err(SpoolError::unsynced(path));
        synced(claim, sync::sync_tree(claim))?;
        synced(&self.work(), sync::sync_dir(&self.work()))?;
        synced(&hidden, sync::sync_tree(&hidden))?;
        sync::rename_new(&hidden, &published).map_err(SpoolError::io(&published, "publish"))?;
        failpoint::reach(Failpoint::Published);
        synced(results, sync::sync_dir(results))
    }

    /// Finishes a claim after its `indeterminate` record was published.
    ///
    /// # Errors
    /// An I/O error.
    pub fn finish_unfinished(
        &self,
        unfinished: UnfinishedRun,
        receipt: &Receipt,
    ) -> Result<SubmissionState, SpoolError> {
        let published = (receipt.result_id(), receipt.path().to_owned());
        self.finish_claim(&unfinished.claim, &unfinished.note, &published, Destination::Archive)
    }

    fn finish_claim(
        &self,
        claim: &ClaimId,
        note: &ClaimNote,
        (id, result): &(&ResultId, PathBuf),
        place: Destination,
    ) -> Result<SubmissionState, SpoolError> {
        remove_tree(&self.staging().join(claim.as_str()));
        let directory = self.work().join(claim.as_str());
        let Some(dropped) = &note.dropped else {
            remove_claim(&directory);
            return Ok(SubmissionState::Removed);
        };
        let keep = (place == Destination::Quarantine).then_some(directory.as_path());
        let taken = match note.kind {
            ClaimKind::Request => {
                remove_originals(dropped, (&note.file_name, &note.beside), &directory, keep)
            }
            ClaimKind::Object => remove_object(dropped, &note.file_name, &directory),
        };
        if let SubmissionState::NotRemoved(error) = taken? {
            return Ok(SubmissionState::NotRemoved(error));
        }
        match place {
            Destination::Archive => {
                self.archive_directory(&directory, id)?;
                failpoint::reach(Failpoint::Archived);
            }
            Destination::Quarantine => {
                write_report(&directory, result, id);
                self.quarantine_directory(&directory, id)?;
                failpoint::reach(match note.kind {
                    ClaimKind::Request => Failpoint::Quarantined,
                    ClaimKind::Object => Failpoint::ObjectQuarantined,
                });
            }
        }
        Ok(SubmissionState::Removed)
    }
}

impl ClaimFindings {
    fn hidden_path(&self) -> PathBuf {
        let id = self.promised.as_ref().map_or("", ResultId::as_str);
        self.results.join(format!(".new-{id}"))
    }

    fn published_path(&self) -> PathBuf {
        self.results.join(self.promised.as_ref().map_or("", ResultId::as_str))
    }
}

/// Returns the lock of a claim, unless a live process holds it or is removing the claim. The lock
/// is made before the claim gets its name, so a missing lock was lost in a power failure.
fn lock_of(directory: &Path) -> Result<Option<FileLock>, SpoolError> {
    let path = directory.join("lock");
    let mut options = OpenOptions::new();
    let file = match options.write(true).create(true).truncate(false).mode(0o600).open(&path) {
        Ok(file) => file,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(SpoolError::io(&path, "open")(error)),
    };
    let lock = match FileLock::try_lock(file, LockMode::Exclusive) {
        Ok(lock) => lock,
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(errno) => return Err(SpoolError::errno(&path, "lock")(errno)),
    };
    // The previous holder may have moved the claim since the lock file was opened.
    let locked = lock.file().metadata().map_err(SpoolError::io(&path, "stat"))?;
    let there = fs::symlink_metadata(&path).is_ok_and(|found| found.ino() == locked.ino());
    Ok(there.then_some(lock))
}
