//! What verification gives: the proof that a record is good as far as it was checked, and what was
//! not checked. A [`Verified`] must never be had of a record with a fault.

use std::fmt;

use model::{ResultId, Sha256};
use serde_json::Value;

use crate::keys::RESULT_PRINCIPAL;
use crate::recalled::Recalled;

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
    /// The request that was run, if one was.
    ran: Option<Sha256>,
    /// Of the record's Markdown; none of a bundle that came alone.
    record: Option<Sha256>,
    /// As they were read there.
    facts: Value,
    /// What this run did again, if it is no request's own.
    replay: Option<Replay>,
}

/// The record that another says it does again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replay {
    pub(super) result_id: ResultId,
    pub(super) record: Sha256,
}

impl Replay {
    /// Only in its full form; anything else is the record of a request's own run.
    fn read(facts: &Value) -> Option<Self> {
        let word = |key: &str| facts["replay_of"][key].as_str();
        let result_id = word("result_id")?.parse().ok()?;
        Some(Self { result_id, record: word("record_sha256")?.parse().ok()? })
    }
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
    /// What ran is no request to this version of the rules.
    Request,
    /// Approvers are known, and the record of a run states no approval.
    NoApproval,
    /// Those of a bundle that came alone.
    ApprovalsOfBundle,
    /// This is a replay, and the record of the run that it does again was not looked at.
    ReplayedRecord,
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
            Self::Request => "what the request asks for (not readable as one today)",
            Self::NoApproval => "any approval (no approval is stated)",
            Self::ReplayedRecord => "the record that it replays (not here)",
            Self::ApprovalsOfBundle => "the approvals (a bundle alone)",
        })
    }
}

impl Verified {
    pub(super) fn new(result_id: ResultId, facts: &Value, fingerprint: String) -> Self {
        let outcome = facts["outcome"].as_str().unwrap_or_default().to_owned();
        let started = facts["started_utc"].is_string() || outcome == "indeterminate";
        let request = facts["request_sha256"].as_str().and_then(|digits| digits.parse().ok());
        let replay = Replay::read(facts);
        Self {
            result_id,
            outcome,
            exit_code: facts["exit_code"].as_i64().unwrap_or(-1),
            fingerprint,
            files: 0,
            log: None,
            approvals: 0,
            not_checked: replay.iter().map(|_| NotChecked::ReplayedRecord).collect(),
            ran: request.filter(|_| started),
            record: None,
            facts: Value::Null,
            replay,
        }
    }

    pub(super) fn of_record(self, sha256: Sha256, facts: Value) -> Self {
        Self { record: Some(sha256), facts, ..self }
    }

    /// What a replay of this record needs, from the very bytes that verified; `None` of a bundle that
    /// came alone.
    #[must_use]
    pub fn recall(&self) -> Option<Recalled> {
        Recalled::of(self.result_id.clone(), self.record?, &self.facts)
    }

    pub(super) fn with_files(self, files: usize) -> Self {
        Self { files, ..self }
    }

    pub(super) fn with_approvals(self, approvals: usize) -> Self {
        Self { approvals, ..self }
    }

    pub(super) fn with_log(self, log: Option<PlaceInLog>) -> Self {
        Self { log, ..self }
    }

    pub(super) fn leaving(mut self, mut not_checked: Vec<NotChecked>) -> Self {
        not_checked.append(&mut self.not_checked);
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

    /// Every fact of the record, of the very bytes that verified; null of a bundle that came alone.
    #[must_use]
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// The request that this run used up, if it did: a replay uses nothing up.
    pub(super) fn used(&self) -> Option<Sha256> {
        self.ran.filter(|_| self.replay.is_none())
    }

    pub(super) fn ran(&self) -> Option<Sha256> {
        self.ran
    }

    pub(super) fn record(&self) -> Option<Sha256> {
        self.record
    }

    pub(super) fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    pub(super) fn replayed_was_found(&mut self) {
        self.not_checked.retain(|it| *it != NotChecked::ReplayedRecord);
    }
}
