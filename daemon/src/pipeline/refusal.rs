//! What did not run: its record, and where its files go. Every refusal is told; nothing here uses a request up.

use model::{Outcome, ResultId, Sha256, UtcTime};
use policies::Approved;
use records::Subject;
use spool::{Claimed, ClaimedObject, SpoolError};
use validator::{Refused, Request, Violation};

use super::model::{Decided, PublishedRecord, Step, Story, Told};
use super::passage::Passage;
use crate::model::Halt;

impl Passage<'_> {
    /// Refuses what was never read: its record can say no more than its name and why.
    pub(crate) fn refuse_unread(
        &self,
        name: &str,
        violations: &[Violation],
        object: Option<&ClaimedObject>,
    ) -> Result<PublishedRecord, Halt> {
        // Without bytes the name tells one refusal of the same second from another.
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

    /// Notes in a claim as what it will be told, whatever the disk.
    fn promise(&self, note: impl Fn() -> Result<(), SpoolError>) -> Result<(), SpoolError> {
        match note() {
            Err(error) if error.is_full() => {
                self.use_reserve();
                note()
            }
            noted => noted,
        }
    }

    /// Nothing ran, and not for the request's fault. It is not used up: a person may look into it
    /// and drop the request again.
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
