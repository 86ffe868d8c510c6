//! What verification gives: the proof that a record is good as far as it was checked, and what was
//! not checked. A [`Verified`] must never be had of a record with a fault.

use std::fmt;

use serde_json::Value;
use validator::{ResultId, Sha256};

use crate::keys::RESULT_PRINCIPAL;
use crate::recalled::Recalled;
use crate::verify::attested::Attested;

/// Proof that a directory held exactly what a trusted key signed, when it was looked at.
#[must_use]
#[derive(Debug)]
pub struct Verified {
    result_id: ResultId,
    outcome: String,
    exit_code: i64,
    fingerprint: String,
    files: usize,
    log: Option<PlaceInLog>,
    approvals: usize,
    not_checked: Vec<NotChecked>,
    /// The request that this run used up, if it did.
    used: Option<Sha256>,
    /// The record itself, as it was read: the digest of its Markdown, and its facts.
    record: Option<(Sha256, Value)>,
}

/// Where the log has a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceInLog {
    pub origin: String,
    /// From 0.
    pub index: u64,
    /// Entries that the log had when it proved this.
    pub size: u64,
    pub(crate) root: Sha256,
    pub(crate) leaf: Sha256,
}

/// What was not looked at, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotChecked {
    /// A bundle came alone.
    Record,
    Files,
    /// The record has no bundle.
    Statement,
    Log,
    History,
    Approvals,
    /// Those of a bundle that came alone.
    ApprovalsOfBundle,
}

impl fmt::Display for NotChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "the record and its SSH signature (a bundle alone)",
            Self::Files => "the files (a bundle alone)",
            Self::Statement => "the statement (the record has no bundle)",
            Self::Log => "the log (no log key given)",
            Self::History => "that the log only grew (no saved checkpoint given)",
            Self::Approvals => "the approvals (no approvers given)",
            Self::ApprovalsOfBundle => "the approvals (a bundle alone)",
        })
    }
}

impl Verified {
    pub(super) fn new(result_id: ResultId, facts: &Value, fingerprint: String) -> Self {
        let outcome = facts["outcome"].as_str().unwrap_or_default().to_owned();
        let started = facts["started_utc"].is_string() || outcome == "indeterminate";
        let request = facts["request_sha256"].as_str().and_then(|digits| digits.parse().ok());
        Self {
            result_id,
            outcome,
            exit_code: facts["exit_code"].as_i64().unwrap_or(-1),
            fingerprint,
            files: 0,
            log: None,
            approvals: 0,
            not_checked: Vec::new(),
            // A replay uses nothing up.
            used: request.filter(|_| started && facts["replay_of"].is_null()),
            record: None,
        }
    }

    pub(super) fn with_record(self, sha256: Sha256, facts: Value) -> Self {
        Self { record: Some((sha256, facts)), ..self }
    }

    /// What a replay of this record needs, from the very bytes that verified; `None` of a bundle that
    /// came alone.
    #[must_use]
    pub fn recall(&self) -> Option<Recalled> {
        let (sha256, facts) = self.record.as_ref()?;
        Recalled::of(self.result_id.clone(), *sha256, facts)
    }

    pub(super) fn with_files(self, files: usize) -> Self {
        Self { files, ..self }
    }

    pub(super) fn with_approvals(self, approvals: usize) -> Self {
        Self { approvals, ..self }
    }

    pub(super) fn with_log(self, attested: &Attested) -> Self {
        Self { log: attested.place(), ..self }
    }

    pub(super) fn leaving(self, not_checked: Vec<NotChecked>) -> Self {
        Self { not_checked, ..self }
    }

    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// The outcome's word.
    #[must_use]
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    #[must_use]
    pub fn exit_code(&self) -> i64 {
        self.exit_code
    }

    /// The principal that the signing key was trusted as.
    #[must_use]
    pub fn signer_principal(&self) -> &str {
        RESULT_PRINCIPAL
    }

    /// `SHA256:…` of the signing key.
    #[must_use]
    pub fn signer_fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many files were hashed and found to be as stated.
    #[must_use]
    pub fn files_rehashed(&self) -> usize {
        self.files
    }

    /// Its place in a trusted log; `None` where no log is trusted.
    #[must_use]
    pub fn log(&self) -> Option<&PlaceInLog> {
        self.log.as_ref()
    }

    /// How many approvals were verified again.
    #[must_use]
    pub fn approvals_checked(&self) -> usize {
        self.approvals
    }

    /// Everything that was left out.
    #[must_use]
    pub fn not_checked(&self) -> &[NotChecked] {
        &self.not_checked
    }

    pub(super) fn used(&self) -> Option<Sha256> {
        self.used
    }
}
