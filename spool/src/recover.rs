//! After a crash: every claim is finished, given up, or told as what nobody knows.
//!
//! | files | means | step |
//! |---|---|---|
//! | `work/<c>`, no ledger line of `c` | never begun; the original is still where it was | forget it |
//! | `work/<c>`, ledger line, `results/<id>` | published, not yet tidied | tidy |
//! | `work/<c>`, ledger line, no `results/<id>` | begun, end unknown | `indeterminate` record |
//! | `work/.new-<c>`, `work/.gone-<c>` | half made, half removed | remove |
//! | `staging/<c>` without `work/<c>`, `results/.new-<id>` | left over | remove |
//!
//! A claim or a result whose lock is held belongs to a live process and is left alone. Doing any of
//! this twice is the same as doing it once.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use policies::{AisFile, SignatureFile};
use rustix::fs::{FlockOperation, flock};
use validator::{RequestId, ResultId, Sha256, UtcTime};

use crate::claim::{ClaimId, ClaimNote, Replayed, remove_claim, remove_tree};
use crate::companions::Companions;
use crate::depart::take_originals_away;
use crate::durable;
use crate::error::SpoolError;
use crate::ledger::Intent;
use crate::places::Spool;
use crate::publish::{Originals, Receipt};

/// A run that was begun and whose end nobody knows. It must be told as `indeterminate`.
#[must_use]
pub struct Unfinished {
    note: ClaimNote,
    bytes: Vec<u8>,
    companions: Companions,
    claim: ClaimId,
    request_id: RequestId,
    result_id: ResultId,
    begun: UtcTime,
    results: PathBuf,
    policy_name: String,
    policy_sha256: Sha256,
    approval: String,
    hosts: Option<Vec<String>>,
    _lock: File,
}

impl Unfinished {
    /// The exact bytes of the request.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[must_use]
    pub fn signatures(&self) -> &[SignatureFile] {
        &self.companions.signatures
    }

    /// The AIS bundle beside the request.
    #[must_use]
    pub fn ais(&self) -> &AisFile {
        &self.companions.ais
    }

    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.note.file_name
    }

    #[must_use]
    pub fn owner(&self) -> u32 {
        self.note.owner
    }

    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// When the run was begun.
    #[must_use]
    pub fn begun(&self) -> UtcTime {
        self.begun
    }

    /// Where its record belongs.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// Name and digest of the policy under which it was begun.
    #[must_use]
    pub fn policy(&self) -> (&str, Sha256) {
        (&self.policy_name, self.policy_sha256)
    }

    /// What its approval was worth.
    #[must_use]
    pub fn approval(&self) -> &str {
        &self.approval
    }

    /// The hosts that it was granted; `None` where the ledger does not say, which is not none.
    #[must_use]
    pub fn hosts(&self) -> Option<&[String]> {
        self.hosts.as_deref()
    }

    /// The record whose run was done again, if it was no request's own run.
    #[must_use]
    pub fn replays(&self) -> Option<&Replayed> {
        self.note.replays.as_ref()
    }

    /// Whether the request was dropped into a spool.
    #[must_use]
    pub fn was_dropped(&self) -> bool {
        self.note.dropped.is_some()
    }
}

impl Spool {
    /// Looks at every claim that no live process holds. What can be settled is settled; what was
    /// begun and not published comes back, to be told.
    ///
    /// # Errors
    /// The disk.
    pub fn recover(&self) -> Result<Vec<Unfinished>, SpoolError> {
        let mut unfinished = Vec::new();
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
            let Some(lock) = lock_of(&directory)? else { continue };
            let Some(claim) = ClaimId::from_name(&name) else {
                remove_tree(&directory);
                continue;
            };
            match self.ledger().intent_of(&claim)? {
                None => {
                    remove_tree(&self.staging().join(&name));
                    remove_claim(&directory);
                }
                Some(intent) => unfinished.extend(self.settle(claim, intent, &directory, lock)?),
            }
        }
        for name in names(&self.staging())? {
            if !work.join(&name).exists() {
                remove_tree(&self.staging().join(&name));
            }
        }
        self.sweep_results()?;
        self.expire_inputs();
        Ok(unfinished)
    }

    fn settle(
        &self,
        claim: ClaimId,
        intent: Intent,
        directory: &Path,
        lock: File,
    ) -> Result<Option<Unfinished>, SpoolError> {
        let wrong = |act: &'static str| {
            SpoolError::io(directory, act)(io::Error::from(io::ErrorKind::InvalidData))
        };
        let path = directory.join("claim.json");
        let read = fs::read(&path).map_err(SpoolError::io(&path, "read"))?;
        let note: ClaimNote =
            serde_json::from_slice(&read).map_err(|_| wrong("read claim.json"))?;
        let result_id: ResultId =
            intent.result_id.parse().map_err(|_| wrong("read the result id"))?;
        // A results directory that is gone has its records told in the present one.
        let known = intent.results.is_dir();
        let results = if known { intent.results } else { self.results().to_owned() };
        if results.join(result_id.as_str()).exists() {
            self.tidy(&claim, &note, &result_id)?;
            return Ok(None);
        }
        remove_tree(&results.join(format!(".new-{result_id}")));
        let path = directory.join("request.md");
        Ok(Some(Unfinished {
            bytes: fs::read(&path).map_err(SpoolError::io(&path, "read"))?,
            companions: Companions::of(directory, &note.file_name)?,
            request_id: intent.request_id.parse().map_err(|_| wrong("read the request id"))?,
            begun: intent.begun.parse().map_err(|_| wrong("read the time"))?,
            policy_sha256: intent.policy_sha256.parse().map_err(|_| wrong("read the policy"))?,
            policy_name: intent.policy_name,
            approval: intent.approval,
            hosts: intent.hosts,
            note,
            claim,
            result_id,
            results,
            _lock: lock,
        }))
    }

    /// After the `indeterminate` record is published: the claim is finished like any other.
    ///
    /// # Errors
    /// The disk.
    pub fn finish_unfinished(
        &self,
        unfinished: Unfinished,
        receipt: &Receipt,
    ) -> Result<(), SpoolError> {
        self.tidy(&unfinished.claim, &unfinished.note, receipt.result_id())
    }

    fn tidy(
        &self,
        claim: &ClaimId,
        note: &ClaimNote,
        result_id: &ResultId,
    ) -> Result<(), SpoolError> {
        remove_tree(&self.staging().join(claim.as_str()));
        let directory = self.work().join(claim.as_str());
        let Some(dropped) = &note.dropped else {
            remove_claim(&directory);
            return Ok(());
        };
        match take_originals_away(dropped, &note.file_name, &directory, None) {
            Ok(Originals::Gone) => {}
            // The dropbox may have gone with its files; the ledger keeps them from running again.
            Ok(Originals::Left(error)) | Err(error) => tracing::warn!("left in place: {error}"),
        }
        let archived = self.archive().join(result_id.as_str());
        durable::rename_new(&directory, &archived).map_err(SpoolError::io(&archived, "archive"))
    }
}

fn names(directory: &Path) -> Result<Vec<String>, SpoolError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(SpoolError::io(directory, "list"))? {
        let entry = entry.map_err(SpoolError::io(directory, "list"))?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The lock of a claim, unless a live process holds it or is just making or removing it.
fn lock_of(directory: &Path) -> Result<Option<File>, SpoolError> {
    let path = directory.join("lock");
    let file = match OpenOptions::new().write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SpoolError::io(&path, "open")(error)),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(SpoolError::errno(&path, "lock")(errno)),
    }
}
