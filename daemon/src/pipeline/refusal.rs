//! Records of requests that did not run, and the archive of their files. Every refusal is recorded;
//! none uses up the request.

use model::{Outcome, ResultId, Sha256, UtcTime};
use policies::Approved;
use records::RecordSubject;
use spool::{Claimed, ClaimedObject, SpoolError};
use validator::{RefusedDraft, Request, Violation};

use super::model::{DecisionFacts, PipelineStep, PublishedRecord, RecordInput, RecordedRequest};
use super::request_context::RequestContext;
use crate::model::DaemonError;

impl RequestContext<'_> {
    /// Refuses a file that could not be read; its record states only the name and the reason.
    pub(crate) fn refuse_unreadable(
        &self,
        name: &str,
        violations: &[Violation],
        object: Option<&ClaimedObject>,
    ) -> Result<PublishedRecord, DaemonError> {
        // Without bytes, only the name distinguishes two refusals of the same second.
        let of_name = Sha256::of(name.as_bytes());
        let result = self.draft_result(None, |at| ResultId::for_refused(at, &of_name))?;
        if let Some(object) = object {
            self.note_result_id(|| object.note_result(result.result_id()))?;
        }
        let decided = DecisionFacts::undecided();
        let subject = RecordSubject::Unusable { file_name: name, bytes: b"", request_id: None };
        let input = RecordInput {
            outcome: Outcome::Refused,
            violations,
            decided: &decided,
            ..RecordInput::of(subject, &[])
        };
        self.record(&input, result)
    }

    /// Writes the result id into the claim, with the emergency reserve if the disk is full.
    pub(super) fn note_result_id(
        &self,
        note: impl Fn() -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        match note() {
            Err(error) if error.is_full() => {
                self.use_reserve();
                note()
            }
            noted => noted,
        }
    }

    /// Records a `setup_error`: nothing ran, and the request is neither the cause nor used up.
    pub(super) fn record_setup_error(
        &self,
        approved: &Approved,
        claimed: Claimed,
        violations: Vec<Violation>,
        reason: &str,
    ) -> Result<RecordedRequest, DaemonError> {
        let id = approved.request().id();
        let result = self.draft_result(claimed.replays(), |at| ResultId::for_request(at, id))?;
        self.note_result_id(|| claimed.note_result(result.result_id()))?;
        let decided = DecisionFacts::by(approved);
        let input = RecordInput {
            outcome: Outcome::SetupError,
            reason: Some(reason),
            violations: &violations,
            decided: &decided,
            ..RecordInput::of_request(approved.request(), &claimed)
        };
        let published = self.record(&input, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(RecordedRequest::of(published, -1, violations, originals))
    }

    /// Refuses a file that is not a well-formed request.
    pub(super) fn refuse_draft<T>(
        &self,
        refused: &RefusedDraft,
        claimed: Claimed,
        violations: Vec<Violation>,
    ) -> Result<PipelineStep<T>, DaemonError> {
        let result = self.draft_result(claimed.replays(), |at| refused_id(refused, at))?;
        self.note_result_id(|| claimed.note_result(result.result_id()))?;
        let decided = DecisionFacts::undecided();
        let input = RecordInput {
            outcome: Outcome::Refused,
            violations: &violations,
            decided: &decided,
            ..RecordInput::of_draft(refused, &claimed)
        };
        let published = self.record(&input, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(PipelineStep::end(RecordedRequest::of(published, -1, violations, originals)))
    }

    pub(super) fn refuse(
        &self,
        request: &Request,
        claimed: Claimed,
        violations: Vec<Violation>,
        decided: &DecisionFacts,
    ) -> Result<RecordedRequest, DaemonError> {
        let result =
            self.draft_result(claimed.replays(), |at| ResultId::for_request(at, request.id()))?;
        self.note_result_id(|| claimed.note_result(result.result_id()))?;
        let input = RecordInput {
            outcome: Outcome::Refused,
            violations: &violations,
            decided,
            ..RecordInput::of_request(request, &claimed)
        };
        let published = self.record(&input, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(RecordedRequest::of(published, -1, violations, originals))
    }
}

fn refused_id(refused: &RefusedDraft, at: UtcTime) -> ResultId {
    match refused.request_id() {
        Some(id) => ResultId::for_request(at, id),
        None => ResultId::for_refused(at, &refused.sha256()),
    }
}
