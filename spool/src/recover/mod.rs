//! After a crash: every claim is taken along the [state table](crate::state), one step at a time, until
//! nothing is left to do. What was begun and has no record comes back, to be told.
//!
//! It may be killed between any two steps: it decides nothing from what it did, only from what it finds.
//! What it must not do is to go on from what is not durable yet: the power may go next.

mod gather;
mod sweep;
mod unfinished;

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use model::{ClaimId, ResultId};

use crate::beneath::remove_tree;
use crate::claim::{ClaimNote, Kind, remove_claim};
use crate::depart::{leave_report, take_object_away, take_originals_away};
use crate::durable;
use crate::error::SpoolError;
use crate::failpoint::{self, Failpoint};
use crate::lock::{Hold, Locked};
use crate::places::Spool;
use crate::publish::{Originals, Receipt};
use crate::state::{Illegal, Original, Place, Step, step};
use gather::{Asked, Found};

use sweep::names;

pub(crate) use gather::{claim_of, original_of};
pub use unfinished::Unfinished;

/// What recovery found beside what it could settle alone.
#[must_use]
pub struct Recovered {
    /// To be told.
    pub unfinished: Vec<Unfinished>,
    /// Results that were durable and got their name now.
    pub completed: Vec<ResultId>,
    /// What is left as it is, for a person.
    pub misplaced: Vec<Misplaced>,
    /// Names of files in `approved/` that are still the ones that were claimed, and have their answer or
    /// wait for a person: they must not be taken again.
    pub left: Vec<String>,
}

/// A claim whose files are no legal combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Its name in `work/`.
    pub claim: String,
    pub illegal: Illegal,
}

impl Spool {
    /// Looks at every claim that no live process holds. What can be settled is settled; what was
    /// begun and not published comes back, to be told. `is_whole` says of a hidden result whether it is
    /// all that a published one must be: signed, logged, and of the files that it names.
    ///
    /// # Errors
    /// The disk, or what `is_whole` says. Doing it again later is safe.
    pub fn recover(
        &self,
        is_whole: &mut dyn FnMut(&Path) -> Result<bool, SpoolError>,
    ) -> Result<Recovered, SpoolError> {
        let mut asked = Asked { is_whole, removed: None };
        let mut recovered = Recovered {
            unfinished: Vec::new(),
            completed: Vec::new(),
            misplaced: Vec::new(),
            left: Vec::new(),
        };
        let mut kept = HashSet::new();
        // A line that is there is what recovery goes by; a process that was killed may not have made it
        // durable.
        self.ledger().settle()?;
        let work = self.work();
        for name in names(&work)? {
            let directory = work.join(&name);
            if name.starts_with(".gone-") {
                remove_tree(&directory);
                continue;
            }
            if name.starts_with(".new-") && self.may_be_in_the_making(&directory) {
                continue;
            }
            let lock = lock_of(&directory)?;
            match (ClaimId::from_name(&name), lock) {
                (Some(claim), Some(lock)) => {
                    kept.extend(self.settle(claim, lock, &mut asked, &mut recovered)?);
                }
                // Should it die now, its hidden result is for the next who recovers.
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

    /// Takes one claim as far as it goes. Gives the result that is promised to it, if it stays.
    fn settle(
        &self,
        claim: ClaimId,
        lock: Locked,
        asked: &mut Asked<'_>,
        recovered: &mut Recovered,
    ) -> Result<Option<ResultId>, SpoolError> {
        let directory = self.work().join(claim.as_str());
        loop {
            let found = self.gather(&claim, &directory, asked)?;
            let id = found.promised.clone();
            match step(&found.state) {
                Step::LeaveAlone => return Ok(id),
                Step::Rest | Step::RemoveSlot => return Ok(None),
                Step::Report(illegal) => {
                    let claim = claim.as_str().to_owned();
                    recovered.misplaced.push(Misplaced { claim, illegal });
                    let in_place = found.state.original == Original::InPlace;
                    let note = found.note.filter(|_| in_place);
                    recovered.left.extend(note.map(|note| note.file_name));
                    return Ok(id);
                }
                Step::Tell => {
                    let unfinished = Unfinished::read(claim, &directory, found, lock)?;
                    recovered.unfinished.push(unfinished);
                    return Ok(None);
                }
                Step::Forget => {
                    self.forget(&claim);
                    return Ok(None);
                }
                Step::RemoveHidden => {
                    let hidden = found.hidden();
                    fs::remove_dir_all(&hidden).map_err(SpoolError::io(&hidden, "remove"))?;
                }
                Step::Publish => {
                    self.publish_hidden(&directory, &found)?;
                    recovered.completed.extend(id);
                }
                Step::Tidy(place) => {
                    let results = &found.results;
                    // It is there, which is not yet durably.
                    durable::sync_dir(results).map_err(SpoolError::unsynced(results))?;
                    if let (Some(note), Some(id)) = (&found.note, &id) {
                        let told = (id, results.join(id.as_str()));
                        if let Originals::Left(error) = self.tidy(&claim, note, &told, place)? {
                            tracing::warn!("{error}; answered, and left alone until it changes");
                            recovered.left.push(note.file_name.clone());
                        }
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Gives up a claim that a want of room stopped, if nothing was begun and nothing promised: then the original is
    /// claimed anew. Otherwise it is left for recovery. Returns whether it was given up.
    ///
    /// # Errors
    /// The claim or the ledger cannot be read.
    pub fn give_up(&self, claim: &ClaimId) -> Result<bool, SpoolError> {
        let directory = self.work().join(claim.as_str());
        let is_promised = self.promise(claim, &directory)?.2.is_some();
        if !is_promised {
            self.forget(claim);
        }
        Ok(!is_promised)
    }

    fn forget(&self, claim: &ClaimId) {
        remove_tree(&self.staging().join(claim.as_str()));
        remove_claim(&self.work().join(claim.as_str()));
    }

    /// Gives a whole hidden result its name. It verified in memory; nobody has said that it is on the
    /// disk, or that the note is which keeps it from being told again.
    fn publish_hidden(&self, claim: &Path, found: &Found) -> Result<(), SpoolError> {
        let (hidden, results) = (found.hidden(), &found.results);
        let published = found.published();
        let synced = |path: &Path, done: io::Result<()>| done.map_err(SpoolError::unsynced(path));
        synced(claim, durable::sync_tree(claim))?;
        synced(&self.work(), durable::sync_dir(&self.work()))?;
        synced(&hidden, durable::sync_tree(&hidden))?;
        durable::rename_new(&hidden, &published).map_err(SpoolError::io(&published, "publish"))?;
        failpoint::reach(Failpoint::Published);
        synced(results, durable::sync_dir(results))
    }

    /// After the `indeterminate` record is published: the claim is finished like any other.
    ///
    /// # Errors
    /// The disk.
    pub fn finish_unfinished(
        &self,
        unfinished: Unfinished,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        let told = (receipt.result_id(), receipt.path().to_owned());
        self.tidy(&unfinished.claim, &unfinished.note, &told, Place::Archive)
    }

    fn tidy(
        &self,
        claim: &ClaimId,
        note: &ClaimNote,
        (id, result): &(&ResultId, PathBuf),
        place: Place,
    ) -> Result<Originals, SpoolError> {
        remove_tree(&self.staging().join(claim.as_str()));
        let directory = self.work().join(claim.as_str());
        let Some(dropped) = &note.dropped else {
            remove_claim(&directory);
            return Ok(Originals::Gone);
        };
        let keep = (place == Place::Quarantine).then_some(directory.as_path());
        let taken = match note.kind {
            Kind::Request => {
                take_originals_away(dropped, (&note.file_name, &note.beside), &directory, keep)
            }
            Kind::Object => take_object_away(dropped, &note.file_name, &directory),
        };
        if let Originals::Left(error) = taken? {
            return Ok(Originals::Left(error));
        }
        match place {
            Place::Archive => {
                self.archive_directory(&directory, id)?;
                failpoint::reach(Failpoint::Archived);
            }
            Place::Quarantine => {
                leave_report(&directory, result, id);
                self.quarantine_directory(&directory, id)?;
                failpoint::reach(match note.kind {
                    Kind::Request => Failpoint::Quarantined,
                    Kind::Object => Failpoint::ObjectQuarantined,
                });
            }
        }
        Ok(Originals::Gone)
    }
}

impl Found {
    fn hidden(&self) -> PathBuf {
        let id = self.promised.as_ref().map_or("", ResultId::as_str);
        self.results.join(format!(".new-{id}"))
    }

    fn published(&self) -> PathBuf {
        self.results.join(self.promised.as_ref().map_or("", ResultId::as_str))
    }
}

/// The lock of a claim, unless a live process holds it or is just removing the claim. A claim has its
/// lock before its name: where there is none, the power took it.
fn lock_of(directory: &Path) -> Result<Option<Locked>, SpoolError> {
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
    let lock = match Locked::try_hold(file, Hold::Exclusive) {
        Ok(lock) => lock,
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(errno) => return Err(SpoolError::errno(&path, "lock")(errno)),
    };
    // Whoever held it may have put the claim away since it was opened.
    let locked = lock.file().metadata().map_err(SpoolError::io(&path, "look at"))?;
    let there = fs::symlink_metadata(&path).is_ok_and(|found| found.ino() == locked.ino());
    Ok(there.then_some(lock))
}
