//! Writes records: input → statement → signed record → logged record → published result. Must never
//! leave a half-published result, nor publish a record without its decision or its log entry.

use std::time::Duration;

use model::{Outcome, RequestId, ResultId, UtcTime};
use policies::{AisFile, Policy};
use records::{
    AttestedRecord, RecordSubject, ReplayOf, Statement, Trust, VerifyError, attest, verify_gathered,
};
use spool::failpoint::{Failpoint, reach};
use spool::{ReplaySource, ResultDraft, Shortage, SpoolError, StoredStanding};
use validator::Backend;

use super::model::{DecisionFacts, PublishedRecord, RecordInput};
use super::request_context::RequestContext;
use crate::metrics::TimedStep;
use crate::model::DaemonError;
use crate::publish_queue::PendingRecord;
use crate::system;

/// The recorded head of a stream, and one byte that shows whether there is more.
const STREAM_HEAD_BYTES: u64 = 64 * 1024 + 1;
/// The number of reads after which an unreadable file of a new record counts as a fault.
const READ_TRIES: u32 = 3;
const READ_AGAIN_AFTER: Duration = Duration::from_millis(100);
const UNVERIFIED_REASON: &str = "the full record did not verify; this one is reduced";

impl RequestContext<'_> {
    /// Data that cannot be stored or stated is left out, and the record says so.
    pub(crate) fn record(
        &self,
        input: &RecordInput<'_>,
        result: ResultDraft,
    ) -> Result<PublishedRecord, DaemonError> {
        // A finished request must not hold a ticket for which others wait.
        drop(self.ticket.take());
        let undecided = DecisionFacts::undecided();
        let least = MinimalRecordNames::of(input.subject);
        let (recorded, attested, result) = match self.write_with_descriptors(input, &result) {
            Ok(attested) => (*input, attested, result),
            Err(error) => self.record_reduced((input, &undecided, &least), result, error)?,
        };
        reach(Failpoint::RecordWritten);
        self.progress.step_took(TimedStep::SignLog);
        let receipt = self.host.publish(PendingRecord { attested, result })?;
        self.host.clock_floor.raise(receipt.result_id().at(), receipt.path());
        self.progress.step_took(TimedStep::Publish);
        self.progress.metrics().step_took(TimedStep::Whole, self.progress.begun().elapsed());
        self.progress.metrics().record_published(recorded.outcome);
        if recorded.outcome == Outcome::Refused {
            self.progress.metrics().refusal_published(recorded.violations);
        }
        let reason = recorded.reason.map(str::to_owned);
        Ok(PublishedRecord {
            receipt,
            outcome: recorded.outcome,
            reason,
            is_complete: recorded.ran.is_some(),
        })
    }

    /// Writes a record with the same end, without the facts that could not be stored, stated or
    /// verified. The files of a record that does not verify are moved aside and kept.
    fn record_reduced<'a>(
        &self,
        (input, undecided, least): (&RecordInput<'a>, &'a DecisionFacts, &'a MinimalRecordNames),
        result: ResultDraft,
        fatal: DaemonError,
    ) -> Result<(RecordInput<'a>, AttestedRecord, ResultDraft), DaemonError> {
        let unfit = match &fatal {
            DaemonError::Sign(error) => error.is_caused_by_statement(),
            DaemonError::Unverified { .. } => true,
            _ => false,
        };
        let why = match &fatal {
            DaemonError::Spool(error) if error.is_full() => "the disk was full",
            DaemonError::Unverified { .. } => UNVERIFIED_REASON,
            DaemonError::Sign(_) if unfit && input.ran.is_some() => "the output cannot be recorded",
            DaemonError::Sign(_) if unfit => "the reason why it did not run cannot be recorded",
            _ => return Err(fatal),
        };
        let lesser = match unfit && input.ran.is_none() {
            true => without_decision(input, undecided, why),
            false => without_run(input, why),
        };
        self.use_reserve();
        let result = match &fatal {
            DaemonError::Unverified { .. } => {
                let (kept, result) = result.keep_unverified()?;
                let kept = kept.display();
                tracing::error!("recording less; the files are kept in {kept}: {fatal}");
                result
            }
            _ => {
                tracing::error!("recording less: {fatal}");
                result.clear()?;
                result
            }
        };
        match self.write_with_space(&lesser, &result) {
            Ok(attested) => Ok((lesser, attested, result)),
            Err(fatal @ DaemonError::Unverified { .. }) => {
                tracing::error!("recording only the outcome: {fatal}");
                result.clear()?;
                let last = minimal_input(&lesser, undecided, least);
                Ok((last, self.write_with_space(&last, &result)?, result))
            }
            Err(fatal) => Err(fatal),
        }
    }

    /// As `write`, but while serving waits for descriptors: a smaller record needs as many. The
    /// output of the tool is kept.
    fn write_with_descriptors(
        &self,
        input: &RecordInput<'_>,
        result: &ResultDraft,
    ) -> Result<AttestedRecord, DaemonError> {
        let shortage = &self.host.shortage;
        let lacks = |error: &DaemonError| error.shortage() == Some(Shortage::Descriptors);
        loop {
            match self.write(input, result) {
                Err(error) if lacks(&error) && shortage.wait(error.shortage(), &error) => {}
                attested => return attested,
            }
            while let Err(error) = result.clear_record() {
                if !shortage.wait(error.shortage(), &error) {
                    return Err(error.into());
                }
            }
        }
    }

    /// As `write`, but waits for disk space as long as the daemon serves.
    fn write_with_space(
        &self,
        input: &RecordInput<'_>,
        result: &ResultDraft,
    ) -> Result<AttestedRecord, DaemonError> {
        loop {
            match self.write(input, result) {
                Err(DaemonError::Spool(error))
                    if self.host.shortage.wait(error.shortage(), &error) =>
                {
                    result.clear()?;
                }
                attested => return attested,
            }
        }
    }

    /// Writes a record's files, signs it and verifies it.
    fn write(
        &self,
        input: &RecordInput<'_>,
        result: &ResultDraft,
    ) -> Result<AttestedRecord, DaemonError> {
        if input.ran.is_none() {
            // Files of a failed start are not part of the record.
            result.clear()?;
            result.add("stdout", b"")?;
            result.add("stderr", b"")?;
        }
        // After a run both files exist, unless their directory was removed and the run is lost.
        let stdout_head = result.head("stdout", STREAM_HEAD_BYTES)?;
        let stderr_head = result.head("stderr", STREAM_HEAD_BYTES)?;
        let ais = match input.ais {
            AisFile::Read { name, bytes } => Some((name.clone(), bytes.clone())),
            AisFile::Missing | AisFile::Unread(_) => None,
        };
        let signatures = input.signatures.iter();
        let standing = input.standing.into_iter().flat_map(StoredStanding::files);
        let request_files: Vec<(String, Vec<u8>)> = signatures
            .map(|file| (file.name.clone(), file.bytes.clone()))
            .chain(ais)
            .chain(standing.map(|(name, bytes)| (name, bytes.to_vec())))
            .collect();
        let (policy_name, policy_sha256) = match &input.decided.policy {
            Some((name, sha256)) => (name.as_str(), *sha256),
            None => (self.rules.policy.name(), self.rules.policy.sha256()),
        };
        let statement = |created| Statement {
            result_id: result.result_id(),
            created,
            subject: input.subject,
            replay_of: input
                .replays
                .map(|it| ReplayOf { result_id: &it.result_id, record_sha256: it.sha256 }),
            outcome: input.outcome,
            reason: input.reason,
            violations: input.violations,
            rationale: input.decided.rationale.as_ref(),
            policy_name,
            policy_sha256,
            approval: &input.decided.approval,
            approvals: &input.decided.approvals,
            touches: &input.decided.touches,
            standing: input.used,
            backend: backend_name(input, &self.rules.policy),
            backend_detail: input.decided.backend.as_ref(),
            executor_version: env!("CARGO_PKG_VERSION"),
            run: input.ran,
            network: input.network,
            confinement_ready: input.confinement_ready,
            stdout_head: &stdout_head,
            stderr_head: &stderr_head,
            request_files: &request_files,
        };
        let signing = &self.host.signer;
        let attested = signing.sign(|now, key| attest(&statement(now), key))?;
        for (name, bytes) in attested.record().files() {
            result.add(name, bytes)?;
        }
        // A full disk may report the error only at the sync.
        self.host.spool.sync_result(result)?;
        self.verify(result, &attested)?;
        Ok(attested)
    }

    /// Verifies a new record. A file that is unreadable for lack of descriptors or memory is not a
    /// fault of the record and is read again after a pause.
    fn verify(&self, result: &ResultDraft, attested: &AttestedRecord) -> Result<(), DaemonError> {
        let trust = Trust::from_key(attested.key());
        let mut tries = 1;
        loop {
            let faults = match verify_gathered(result.directory(), attested, &trust) {
                Ok(_) => return Ok(()),
                Err(faults) => faults,
            };
            let unread = |fault: &VerifyError| {
                matches!(fault, VerifyError::Unreadable { .. } | VerifyError::Directory { .. })
            };
            if tries == READ_TRIES || !faults.iter().any(unread) {
                return Err(DaemonError::Unverified { record: result.result_id().clone(), faults });
            }
            tries += 1;
            std::thread::sleep(READ_AGAIN_AFTER);
        }
    }

    /// Uses the emergency reserve if the disk is full. A replay must not get the id of its
    /// original, whose directory may be another one.
    pub(crate) fn draft_result(
        &self,
        replays: Option<&ReplaySource>,
        id_at: impl Fn(UtcTime) -> ResultId,
    ) -> Result<ResultDraft, SpoolError> {
        // A request that waits for a free id must not hold a ticket for which others wait.
        drop(self.ticket.take());
        let mut reserve_used = false;
        loop {
            let id = id_at(system::now());
            let taken = replays.is_some_and(|of| of.result_id == id);
            let drafted = match taken {
                true => Ok(None),
                false => self.host.spool.draft_result(&id),
            };
            match drafted {
                Ok(Some(result)) => return Ok(result),
                // Result ids contain whole seconds: the next second's id is free.
                Ok(None) => std::thread::sleep(Duration::from_millis(100)),
                Err(error) if error.is_full() && !reserve_used => {
                    reserve_used = true;
                    self.use_reserve();
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the backend of the run; of a request that was never granted one, the one that it asks
/// for, else the default of the policy.
fn backend_name<'a>(input: &RecordInput<'a>, policy: &'a Policy) -> &'a str {
    let granted = input.decided.backend.as_ref().map(|granted| granted.name.as_str());
    let named = match input.subject {
        RecordSubject::Request(request) => request.backend().map(Backend::as_str),
        RecordSubject::Unusable { .. } => None,
    };
    input.started_backend.or(granted).or(named).unwrap_or(policy.default_backend())
}

/// A request that never ran must still get a record.
fn without_decision<'a>(
    input: &RecordInput<'a>,
    undecided: &'a DecisionFacts,
    why: &'a str,
) -> RecordInput<'a> {
    RecordInput { decided: undecided, violations: &[], reason: Some(why), ..*input }
}

struct MinimalRecordNames {
    file_name: String,
    request_id: Option<RequestId>,
}

impl MinimalRecordNames {
    fn of(subject: RecordSubject<'_>) -> Self {
        match subject {
            RecordSubject::Request(request) => {
                let request_id = Some(request.id().clone());
                Self { file_name: format!("{}.md", request.id()), request_id }
            }
            RecordSubject::Unusable { file_name, request_id, .. } => {
                Self { file_name: file_name.to_owned(), request_id: request_id.cloned() }
            }
        }
    }
}

/// Keeps the end, its reason and the uninterpreted bytes of the request. Such a record cannot
/// contradict itself.
fn minimal_input<'a>(
    input: &RecordInput<'a>,
    undecided: &'a DecisionFacts,
    least: &'a MinimalRecordNames,
) -> RecordInput<'a> {
    let bytes = match input.subject {
        RecordSubject::Request(request) => request.bytes(),
        RecordSubject::Unusable { bytes, .. } => bytes,
    };
    let (file_name, request_id) = (least.file_name.as_str(), least.request_id.as_ref());
    RecordInput {
        subject: RecordSubject::Unusable { file_name, bytes, request_id },
        signatures: &[],
        ais: &AisFile::Missing,
        standing: None,
        used: None,
        violations: &[],
        decided: undecided,
        reason: Some(UNVERIFIED_REASON),
        ran: None,
        confinement_ready: None,
        ..*input
    }
}

/// Without its streams and files, the outcome of a run is unknown. The network use stays, so that a
/// tool cannot hide it by filling the disk.
fn without_run<'a>(input: &RecordInput<'a>, why: &'a str) -> RecordInput<'a> {
    RecordInput {
        outcome: if input.ran.is_some() { Outcome::Indeterminate } else { input.outcome },
        reason: Some(input.reason.unwrap_or(why)),
        ran: None,
        confinement_ready: None,
        ..*input
    }
}
