//! A run that was begun and that recovery cannot finish alone, with everything its record needs.

use std::fs;
use std::path::{Path, PathBuf};

use model::{ClaimId, RequestId, ResultId, Sha256, UtcTime};
use policies::{AisFile, SignatureFile};

use super::gather::ClaimFindings;
use crate::claim::{ClaimNote, ReplaySource};
use crate::error::SpoolError;
use crate::ledger::Intent;
use crate::lock::FileLock;
use crate::sidecars::Sidecars;

/// A begun run, to be recorded as `indeterminate`, or as `setup_error` if it was never started.
#[must_use]
pub struct UnfinishedRun {
    pub(super) note: ClaimNote,
    bytes: Vec<u8>,
    sidecars: Sidecars,
    pub(super) claim: ClaimId,
    request_id: RequestId,
    result_id: ResultId,
    begun: UtcTime,
    results: PathBuf,
    policy_name: String,
    policy_sha256: Sha256,
    approval: String,
    hosts: Option<Vec<String>>,
    backend: Option<String>,
    standing: Option<(Sha256, u64)>,
    never_started: bool,
    _lock: FileLock,
}

impl UnfinishedRun {
    /// Returns the exact bytes of the request.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the signatures next to the request.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureFile] {
        &self.sidecars.signatures
    }

    /// Returns the AIS bundle next to the request.
    #[must_use]
    pub fn ais(&self) -> &AisFile {
        &self.sidecars.ais
    }

    /// Returns the file name of the request.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.note.file_name
    }

    /// Returns the uid of the request's owner.
    #[must_use]
    pub fn owner(&self) -> u32 {
        self.note.owner
    }

    /// Returns the id of the request.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Returns the id of the result.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Returns the time when the run was begun.
    #[must_use]
    pub fn begun(&self) -> UtcTime {
        self.begun
    }

    /// Returns the directory of its record.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// Returns the name and digest of the policy under which it was begun.
    #[must_use]
    pub fn policy(&self) -> (&str, Sha256) {
        (&self.policy_name, self.policy_sha256)
    }

    /// Returns the description of its approval.
    #[must_use]
    pub fn approval(&self) -> &str {
        &self.approval
    }

    /// Returns the granted hosts. `None`, if the ledger does not list them, is not an empty list.
    #[must_use]
    pub fn hosts(&self) -> Option<&[String]> {
        self.hosts.as_deref()
    }

    /// Returns the name of the backend; `None` for the sandbox alone.
    #[must_use]
    pub fn backend(&self) -> Option<&str> {
        self.backend.as_deref()
    }

    /// Returns the digest of the standing approval that the run uses, and the number of the use.
    #[must_use]
    pub fn standing(&self) -> Option<(Sha256, u64)> {
        self.standing
    }

    /// Returns whether the ledger notes that no tool was started.
    #[must_use]
    pub fn never_started(&self) -> bool {
        self.never_started
    }

    /// Returns the record whose run was repeated, if this is a replay.
    #[must_use]
    pub fn replays(&self) -> Option<&ReplaySource> {
        self.note.replays.as_ref()
    }

    /// Returns whether the request was submitted to a spool.
    #[must_use]
    pub fn was_submitted(&self) -> bool {
        self.note.dropped.is_some()
    }
}

impl UnfinishedRun {
    /// Reads everything before anything is recorded.
    pub(super) fn read(
        claim: ClaimId,
        directory: &Path,
        found: ClaimFindings,
        lock: FileLock,
    ) -> Result<Self, SpoolError> {
        let wrong = |act: &'static str| {
            SpoolError::io(directory, act)(std::io::Error::from(std::io::ErrorKind::InvalidData))
        };
        let ClaimFindings { note, intent, promised, results, never_started, .. } = found;
        let note = note.ok_or_else(|| wrong("read claim.json"))?;
        let intent: Intent = intent.ok_or_else(|| wrong("find the ledger line"))?;
        let path = directory.join("request.md");
        Ok(Self {
            bytes: fs::read(&path).map_err(SpoolError::io(&path, "read"))?,
            sidecars: Sidecars::of(directory, &note.file_name)?,
            request_id: intent.request_id.parse().map_err(|_| wrong("read the request id"))?,
            result_id: promised.ok_or_else(|| wrong("read the result id"))?,
            begun: intent.begun.parse().map_err(|_| wrong("read the time"))?,
            policy_sha256: intent.policy_sha256.parse().map_err(|_| wrong("read the policy"))?,
            policy_name: intent.policy_name,
            approval: intent.approval,
            hosts: intent.hosts,
            backend: intent.backend,
            standing: intent
                .standing
                .map(|used| used.sha256.parse().map(|sha256| (sha256, used.number)))
                .transpose()
                .map_err(|_| wrong("read the standing approval"))?,
            note,
            claim,
            results,
            never_started,
            _lock: lock,
        })
    }
}
