//! After a crash: every claim is finished, given up, or told as what nobody knows.
//!
//! | files | means | step |
//! |---|---|---|
//! | `work/<c>`, no ledger line of `c` | never begun; the original is still where it was | forget it |
//! | `work/<c>`, ledger line, `results/<id>` | published, not yet tidied | tidy |
//! | `work/<c>`, ledger line, no `results/<id>` | begun, end unknown | `indeterminate` record |
//! | `staging/<c>` without `work/<c>` | left over | remove |
//!
//! A claim whose lock is held belongs to a live process and is left alone. Doing any of this twice is
//! the same as doing it once.

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use validator::{ResultId, Sha256, UtcTime};

use crate::claim::{ClaimId, ClaimNote, remove_tree};
use crate::durable;
use crate::error::SpoolError;
use crate::ledger::Intent;
use crate::places::Spool;
use crate::publish::{Receipt, take_originals_away};

/// A run that was begun and whose end nobody knows. It must be told as `indeterminate`.
#[must_use]
pub struct Unfinished {
    intent: Intent,
    note: ClaimNote,
    bytes: Vec<u8>,
    claim: ClaimId,
    result_id: ResultId,
    begun: UtcTime,
    _lock: File,
}

impl Unfinished {
    /// The exact bytes of the request.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
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
        &self.intent.results
    }

    /// Name and digest of the policy under which it was begun.
    #[must_use]
    pub fn policy(&self) -> (&str, Option<Sha256>) {
        (&self.intent.policy_name, self.intent.policy_sha256.parse().ok())
    }

    /// What its approval was worth.
    #[must_use]
    pub fn approval(&self) -> &str {
        &self.intent.approval
    }

    /// Whether the request was dropped into a spool.
    #[must_use]
    pub fn was_dropped(&self) -> bool {
        self.note.dropbox.is_some()
    }
}

impl Spool {
    /// Looks at every claim that no live process holds. What can be settled is settled; what was
    /// begun and not published comes back, to be told.
    ///
    /// # Errors
    /// The disk.
    pub fn recover(&mut self) -> Result<Vec<Unfinished>, SpoolError> {
        let mut unfinished = Vec::new();
        let work = self.work();
        for name in names(&work)? {
            let Some(claim) = ClaimId::from_name(&name) else { continue };
            let directory = work.join(&name);
            let Some(lock) = lock_of(&directory)? else { continue };
            match self.ledger.intent_of(&claim)? {
                None => {
                    remove_tree(&self.staging().join(&name));
                    remove_tree(&directory);
                }
                Some(intent) => {
                    if let Some(left) = self.settle(claim, intent, &directory, lock)? {
                        unfinished.push(left);
                    }
                }
            }
        }
        for name in names(&self.staging())? {
            if !work.join(&name).exists() {
                remove_tree(&self.staging().join(&name));
            }
        }
        Ok(unfinished)
    }

    fn settle(
        &self,
        claim: ClaimId,
        intent: Intent,
        directory: &Path,
        lock: File,
    ) -> Result<Option<Unfinished>, SpoolError> {
        let path = directory.join("claim.json");
        let read = fs::read(&path).map_err(SpoolError::io(&path, "read"))?;
        let note: ClaimNote = serde_json::from_slice(&read)
            .map_err(|error| SpoolError::io(&path, "read")(error.into()))?;
        let wrong = |what: &'static str| {
            SpoolError::io(directory, what)(std::io::Error::from(std::io::ErrorKind::InvalidData))
        };
        let result_id: ResultId =
            intent.result_id.parse().map_err(|_| wrong("read the result id"))?;
        let begun: UtcTime = intent.begun.parse().map_err(|_| wrong("read the time"))?;
        if intent.record().exists() {
            let dropbox = note.dropbox;
            self.tidy(&claim, dropbox.as_deref(), &note.file_name, &result_id)?;
            return Ok(None);
        }
        remove_tree(&intent.results.join(format!(".new-{result_id}")));
        let path = directory.join("request.md");
        let bytes = fs::read(&path).map_err(SpoolError::io(&path, "read"))?;
        Ok(Some(Unfinished { intent, note, bytes, claim, result_id, begun, _lock: lock }))
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
        let Unfinished { claim, note, .. } = unfinished;
        self.tidy(&claim, note.dropbox.as_deref(), &note.file_name, receipt.result_id())
    }

    fn tidy(
        &self,
        claim: &ClaimId,
        dropbox: Option<&Path>,
        file_name: &str,
        result_id: &ResultId,
    ) -> Result<(), SpoolError> {
        remove_tree(&self.staging().join(claim.as_str()));
        let directory = self.work().join(claim.as_str());
        let Some(dropbox) = dropbox else {
            remove_tree(&directory);
            return Ok(());
        };
        // The same name may have been dropped again since; only the bytes that ran are taken away.
        let same = match (fs::read(dropbox.join(file_name)), fs::read(directory.join("request.md")))
        {
            (Ok(original), Ok(copy)) => original == copy,
            _ => false,
        };
        if same {
            take_originals_away(dropbox, file_name, None)?;
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

/// The lock of a claim, unless a live process holds it. A claim that died before it had a lock file
/// is nobody's.
fn lock_of(directory: &Path) -> Result<Option<File>, SpoolError> {
    let path = directory.join("lock");
    let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = opened.map_err(SpoolError::io(&path, "open"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(SpoolError::errno(&path, "lock")(errno)),
    }
}
