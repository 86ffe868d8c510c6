//! Records of requests that did not run, and the archive of their files. Every refusal is recorded.
//! A refusal does not use up the request.

use model::{Outcome, ResultId, Sha256, UtcTime};
use policies::Approved;
use records::Subject;
use spool::{Claimed, ClaimedObject, SpoolError};
use validator::{Refused, Request, Violation};

use super::model::{Decided, PublishedRecord, Step, Story, Told};
use super::passage::Passage;
use crate::model::Halt;

impl Passage<'_> {
    /// Refuses a file that could not be read; its record states only the name and the reason.
    pub(crate) fn refuse_unread(
        &self,
        name: &str,
        violations: &[Violation],
        object: Option<&ClaimedObject>,
    ) -> Result<PublishedRecord, Halt> {
        // Without bytes, only the name distinguishes two refusals of the same second.
        let of_name = Sha256::of(name.as_bytes());
        let result = self.draft_result(None, |at| ResultId::for_refused(at, &of_name))?;
        if let Some(object) = object {
            self.promise(|| object.note_result(result.result_id()))?;
        }
        let decided = Decided::nothing();
        let subject = Subject::Unusable { file_name: name, bytes: b"", request_id: None };
        let story = Story {
            outcome: Outcome::Refused,
            violations,
            decided: &decided,
            ..Story::of(subject, &[])
        };
        self.tell(&story, result)
    }

    /// Writes the result id into the claim, with the emergency reserve if the disk is full.
    fn promise(&self, note: impl Fn() -> Result<(), SpoolError>) -> Result<(), SpoolError> {
        match note() {
            Err(error) if error.is_full() => {
                self.use_reserve();
                note()
            }
            noted => noted,
        }
    }

    /// Records a `setup_error`: nothing ran, and the request is not the cause. The request is not
    /// used up and can be submitted again.
    pub(super) fn not_set_up(
        &self,
        approved: &Approved,
        claimed: Claimed,
        violations: Vec<Violation>,
        reason: &str,
    ) -> Result<Told, Halt> {
        let id = approved.request().id();
        let result = self.draft_result(claimed.replays(), |at| ResultId::for_request(at, id))?;
        self.promise(|| claimed.note_result(result.result_id()))?;
        let decided = Decided::by(approved);
        let story = Story {
            outcome: Outcome::SetupError,
            reason: Some(reason),
            violations: &violations,
            decided: &decided,
            ..Story::of_request(approved.request(), &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(Told::of(published, -1, violations, originals))
    }

    /// Refuses a file that is not a well-formed request.
    pub(super) fn refuse_draft<T>(
        &self,
        refused: &Refused,
        claimed: Claimed,
        violations: Vec<Violation>,
    ) -> Result<Step<T>, Halt> {
        let result = self.draft_result(claimed.replays(), |at| refused_id(refused, at))?;
        self.promise(|| claimed.note_result(result.result_id()))?;
        let decided = Decided::nothing();
        let story = Story {
            outcome: Outcome::Refused,
            violations: &violations,
            decided: &decided,
            ..Story::of_draft(refused, &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(Step::end(Told::of(published, -1, violations, originals)))
    }

    /// Refuses a well-formed request.
    pub(super) fn refuse(
        &self,
        request: &Request,
        claimed: Claimed,
        violations: Vec<Violation>,
        decided: &Decided,
    ) -> Result<Told, Halt> {
        let result =
            self.draft_result(claimed.replays(), |at| ResultId::for_request(at, request.id()))?;
        self.promise(|| claimed.note_result(result.result_id()))?;
        let story = Story {
            outcome: Outcome::Refused,
            violations: &violations,
            decided,
            ..Story::of_request(request, &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(Told::of(published, -1, violations, originals))
    }
}

fn refused_id(refused: &Refused, at: UtcTime) -> ResultId {
    match refused.request_id() {
        Some(id) => ResultId::for_request(at, id),
        None => ResultId::for_refused(at, &refused.sha256()),
    }
}
