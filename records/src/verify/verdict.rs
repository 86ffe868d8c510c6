//! The result of a verification: proof that a record is correct as far as it was checked, and the
//! checks that were skipped. A [`VerifiedRecord`] must never exist for a record with a fault.

use std::fmt;

use model::{ResultId, Sha256};
use serde_json::Value;

use crate::replayed_record::ReplayedRecord;
use crate::result_key::RESULT_PRINCIPAL;
use crate::trust::Trust;
use crate::verify::inconsistency::number;

/// Proof that a directory had exactly the contents that a trusted key signed, when checked.
#[must_use]
#[derive(Debug)]
pub struct VerifiedRecord {
    result_id: ResultId,
    outcome: String,
    exit_code: i64,
    fingerprint: String,
    /// The host of the fleet whose key signed it.
    host: Option<String>,
    files: usize,
    log: Option<LogPosition>,
    approvals: usize,
    /// The use of a standing approval that contains the run.
    standing: Option<String>,
    /// The digest of the standing approval and the number of the use, if the run used one up.
    standing_use: Option<(Sha256, u64)>,
    not_checked: Vec<SkippedCheck>,
    /// The digest of the request, if it ran.
    request_run: Option<Sha256>,
    /// The digest of the record's Markdown; `None` for a bundle alone.
    record: Option<Sha256>,
    facts: Value,
    /// The replayed record, if this run is a replay.
    replay: Option<StatedReplay>,
}

/// The record that a replay names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatedReplay {
    pub(super) result_id: ResultId,
    pub(super) record: Sha256,
}

impl StatedReplay {
    /// Returns `None` unless complete: any other form is the record of a request's own run.
    fn read(facts: &Value) -> Option<Self> {
        let word = |key: &str| facts["replay_of"][key].as_str();
        let result_id = word("result_id")?.parse().ok()?;
        Some(Self { result_id, record: word("record_sha256")?.parse().ok()? })
    }
}

fn stated_use(facts: &Value) -> Option<(Sha256, u64)> {
    let stated = &facts["standing"];
    Some((stated["sha256"].as_str()?.parse().ok()?, number(&stated["use"])?))
}

/// The place of a record in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The name of the log.
    pub origin: String,
    /// The index of the entry, from 0.
    pub index: u64,
    /// The size of the log in the proof.
    pub size: u64,
    pub(crate) root: Sha256,
    pub(crate) leaf: Sha256,
}

/// A check that was skipped, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedCheck {
    /// The record: a bundle was verified alone.
    Record,
    /// The files: a bundle was verified alone.
    Files,
    /// The statement: the record has no bundle.
    Statement,
    /// The log: no log is trusted.
    Log,
    /// The log's growth: no checkpoint was saved.
    History,
    /// The approvals: no approvers are known.
    Approvals,
    /// The request: this version cannot parse it.
    Request,
    /// Any approval: the record of a run states none.
    NoApproval,
    /// The approvals: a bundle was verified alone.
    ApprovalsOfBundle,
    /// The standing approval: the record states no run, so that not every bound can be checked.
    Standing,
    /// The replayed record: it was not verified with this replay.
    ReplayedRecord,
    /// The signature of the fleet list: no approvers are known.
    FleetList,
}

impl fmt::Display for SkippedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Record => "the record and its SSH signature (only a bundle given)",
            Self::Files => "the files (only a bundle given)",
            Self::Statement => "the statement (the record has no bundle)",
            Self::Log => "the log (no log key given)",
            Self::History => "that the log only grew (no saved checkpoint given)",
            Self::Approvals => "the approvals (no approvers given)",
            Self::Request => "what the request asks for (this version cannot read it)",
            Self::NoApproval => "the approvals (the record states none)",
            Self::Standing => {
                "that the run stayed within its standing approval (its run is unknown)"
            }
            Self::ReplayedRecord => "the record that it replays (not given)",
            Self::ApprovalsOfBundle => "the approvals (only a bundle given)",
            Self::FleetList => "the signature of the fleet list (no approvers given)",
        })
    }
}

impl VerifiedRecord {
    pub(super) fn new(result_id: ResultId, facts: &Value, fingerprint: String) -> Self {
        let outcome = facts["outcome"].as_str().unwrap_or_default().to_owned();
        let started = facts["started_utc"].is_string() || outcome == "indeterminate";
        let request = facts["request_sha256"].as_str().and_then(|digits| digits.parse().ok());
        let replay = StatedReplay::read(facts);
        Self {
            result_id,
            outcome,
            exit_code: facts["exit_code"].as_i64().unwrap_or(-1),
            fingerprint,
            host: None,
            files: 0,
            log: None,
            approvals: 0,
            standing: None,
            standing_use: stated_use(facts).filter(|_| replay.is_none()),
            not_checked: replay.iter().map(|_| SkippedCheck::ReplayedRecord).collect(),
            request_run: request.filter(|_| started),
            record: None,
            facts: Value::Null,
            replay,
        }
    }

    pub(super) fn of_record(self, sha256: Sha256, facts: Value) -> Self {
        Self { record: Some(sha256), facts, ..self }
    }

    /// Returns the facts for a replay, from the verified bytes; `None` for a bundle alone.
    #[must_use]
    pub fn replayed_record(&self) -> Option<ReplayedRecord> {
        ReplayedRecord::of(self.result_id.clone(), self.record?, &self.facts)
    }

    pub(super) fn with_files(self, files: usize) -> Self {
        Self { files, ..self }
    }

    pub(super) fn with_standing(self, standing: Option<String>) -> Self {
        Self { standing, ..self }
    }

    pub(super) fn with_approvals(self, approvals: usize) -> Self {
        Self { approvals, ..self }
    }

    /// Adds the host whose key signed the record, if the trust is that of a fleet.
    pub(super) fn of_host(self, trust: &Trust) -> Self {
        let host = trust.fleet_host(&self.fingerprint).map(|host| host.name().to_owned());
        Self { host, ..self }
    }

    pub(super) fn with_log(self, log: Option<LogPosition>) -> Self {
        Self { log, ..self }
    }

    pub(super) fn with_skipped(mut self, mut not_checked: Vec<SkippedCheck>) -> Self {
        not_checked.append(&mut self.not_checked);
        Self { not_checked, ..self }
    }

    /// Returns the result id.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Returns the outcome's text.
    #[must_use]
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    /// Returns the tool's exit code.
    #[must_use]
    pub fn exit_code(&self) -> i64 {
        self.exit_code
    }

    /// Returns the principal for which the signing key is trusted.
    #[must_use]
    pub fn signer_principal(&self) -> &str {
        RESULT_PRINCIPAL
    }

    /// Returns the fingerprint `SHA256:…` of the signing key.
    #[must_use]
    pub fn signer_fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the host of the fleet whose key signed the record, if a fleet list is trusted.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Returns the number of files whose digest was verified.
    #[must_use]
    pub fn files_rehashed(&self) -> usize {
        self.files
    }

    /// Returns its place in a trusted log; `None` if no log is trusted.
    #[must_use]
    pub fn log(&self) -> Option<&LogPosition> {
        self.log.as_ref()
    }

    /// Returns the use of the standing approval that was verified to contain the run, as
    /// `within SA-…, use 3 of 200`.
    #[must_use]
    pub fn standing_checked(&self) -> Option<&str> {
        self.standing.as_deref()
    }

    /// Returns the number of verified approvals.
    #[must_use]
    pub fn approvals_checked(&self) -> usize {
        self.approvals
    }

    /// Returns the skipped checks.
    #[must_use]
    pub fn skipped_checks(&self) -> &[SkippedCheck] {
        &self.not_checked
    }

    /// Returns every fact of the record, from the verified bytes; null for a bundle alone.
    #[must_use]
    pub fn facts(&self) -> &Value {
        &self.facts
    }

    /// Returns the digest of the request that this run used up. A replay uses up none.
    pub(super) fn used_request(&self) -> Option<Sha256> {
        self.request_run.filter(|_| self.replay.is_none())
    }

    /// Returns the digest of the standing approval and the number of the use that this run used up.
    pub(super) fn standing_use(&self) -> Option<(Sha256, u64)> {
        self.standing_use
    }

    pub(super) fn request_run(&self) -> Option<Sha256> {
        self.request_run
    }

    pub(super) fn record(&self) -> Option<Sha256> {
        self.record
    }

    pub(super) fn replay(&self) -> Option<&StatedReplay> {
        self.replay.as_ref()
    }

    pub(super) fn mark_replayed_found(&mut self) {
        self.not_checked.retain(|it| *it != SkippedCheck::ReplayedRecord);
    }
}
