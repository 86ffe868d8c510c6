//! Standing approvals: the admission of a submitted one, and the one that a request names. Must
//! never store a document that its policy, host or signers do not admit.

use std::sync::Arc;

use ::model::{ResultId, UtcTime};
use policies::standing::StandingUses;
use policies::{
    AdmissionEvidence, FoundStanding, REJECT_NAMESPACE, SignatureFile, SshSignature,
    StandingEvidence, admission_violations, counts_for_standing, rejected_by,
};
use records::RecordSubject;
use spool::{Claimed, StoredStanding, SubmissionState};
use validator::{Code, Draft, Request, StandingApproval, Violation};

use super::model::{DecisionFacts, RecordInput, RecordedRequest};
use super::request_context::RequestContext;
use crate::held_requests;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::DaemonError;
use crate::system;

/// The uses of the standing approval that a request names, if this host has it; or the reasons why
/// the one next to the request may not be admitted.
pub(super) type StandingLookup = Result<Option<StandingUses>, Vec<Violation>>;

/// The end of the submission of a standing approval.
pub(crate) enum StandingOutcome {
    /// It is stored, or revoked.
    Stored(SubmissionState),
    /// It was refused, with a record.
    Refused(RecordedRequest),
}

impl RequestContext<'_> {
    /// Stores a submitted standing approval, or revokes it if a person rejected it.
    ///
    /// # Errors
    /// [`DaemonError`]: the daemon's disk or key failed.
    pub(crate) fn admit_standing(
        &self,
        draft: &Draft,
        claimed: Claimed,
    ) -> Result<StandingOutcome, DaemonError> {
        let now = system::now();
        let approval = match self.read_standing(draft, now)? {
            Ok(approval) => Arc::new(approval),
            Err(violations) => return self.refuse_standing(draft, claimed, violations),
        };
        let mut found = self.with_stored_signatures(approval, &claimed, now)?;
        let reference = found.approval.reference();
        let revoked = self.host.spool.standing_revoked_by(&reference.sha256)?;
        let rejected = self.rejected_by(&found, now);
        let (proof, event) = match (revoked, rejected) {
            (Some(by), rejected) => {
                if rejected.is_some() {
                    self.keep_counting(&mut found, now);
                    self.host.spool.keep_rejection(&found)?;
                }
                let problem = format!("{}: was revoked by {by}", reference.id);
                return self.refuse_standing(draft, claimed, vec![standing_violation(&problem)]);
            }
            (None, Some(by)) => {
                self.keep_counting(&mut found, now);
                (self.host.spool.revoke_standing(&found, &by, now)?, LogEvent::StandingRevoked)
            }
            (None, None) => {
                let mut violations = self.admission_violations(&found, now)?;
                violations.extend(rejection_without_effect(&claimed));
                if !violations.is_empty() {
                    return self.refuse_standing(draft, claimed, violations);
                }
                self.keep_counting(&mut found, now);
                (self.host.spool.admit_standing(&found, now)?, LogEvent::StandingAdmitted)
            }
        };
        let terms = found.approval.terms();
        let fields = LogEventFields { request: Some(terms.id.as_str()), ..Default::default() };
        log_event::log(event, &fields);
        let published = match event {
            LogEvent::StandingAdmitted => self.host.spool.publish_standing(&found.approval),
            _ => self.host.spool.unpublish_standing(&terms.id),
        };
        held_requests::warn_if_failed(published);
        Ok(StandingOutcome::Stored(self.host.spool.finish_standing(claimed, &proof)?))
    }

    /// Reads a submitted document. One that was admitted before stays readable, also by a stricter
    /// version: it must be possible to revoke it.
    fn read_standing(
        &self,
        draft: &Draft,
        now: UtcTime,
    ) -> Result<Result<StandingApproval, Vec<Violation>>, DaemonError> {
        let (bytes, name) = (draft.bytes(), draft.file_name());
        let violations = match StandingApproval::read(bytes, name, now) {
            Ok(approval) => return Ok(Ok(approval)),
            Err(violations) => violations,
        };
        let Ok(approval) = StandingApproval::read_recorded(bytes, name, now) else {
            return Ok(Err(violations));
        };
        let admitted = self.host.spool.admitted_standing(&approval.terms().id)?;
        let is_known = admitted == Some(approval.sha256());
        Ok(if is_known { Ok(approval) } else { Err(violations) })
    }

    fn rejected_by(&self, found: &StoredStanding, now: UtcTime) -> Option<String> {
        let signers = self.rules.trust.signers()?;
        rejected_by(&found.approval, &found.signatures, (signers, &self.rules.policy), now)
    }

    /// Leaves out files that do not count: with too many of them, later signatures would not count
    /// either.
    fn keep_counting(&self, found: &mut StoredStanding, now: UtcTime) {
        let StoredStanding { approval, signatures, .. } = found;
        if let Some(signers) = self.rules.trust.signers() {
            let voters = (signers, self.rules.policy.as_ref());
            signatures.retain(|file| counts_for_standing(approval, file, voters, now));
        }
    }

    /// Adds the signatures that the store has, so that a rejection counts for ever.
    fn with_stored_signatures(
        &self,
        approval: Arc<StandingApproval>,
        claimed: &Claimed,
        now: UtcTime,
    ) -> Result<StoredStanding, DaemonError> {
        let mut signatures = claimed.signatures().to_vec();
        let mut unread = claimed.unread_signatures().to_vec();
        if let Some(stored) = self.host.spool.stored_standing(&approval.reference(), now)? {
            let is_new =
                |it: &SignatureFile| !claimed.signatures().iter().any(|one| one.bytes == it.bytes);
            signatures.extend(stored.signatures.into_iter().filter(is_new));
            unread.extend(stored.unread);
        }
        Ok(StoredStanding { approval, signatures, unread })
    }

    fn admission_violations(
        &self,
        found: &StoredStanding,
        now: UtcTime,
    ) -> Result<Vec<Violation>, DaemonError> {
        let reference = found.approval.reference();
        let admitted = self.host.spool.admitted_standing(&reference.id)?;
        if admitted.is_some_and(|sha256| sha256 != reference.sha256) {
            let problem = format!("{}: admitted before with other bytes", reference.id);
            return Ok(vec![standing_violation(&problem).hint("give it a new standing_id")]);
        }
        let evidence = AdmissionEvidence {
            signatures: &found.signatures,
            unread_signatures: &found.unread,
            signers: self.rules.trust.signers(),
            host: self.host.audience(),
            now,
        };
        Ok(admission_violations(&found.approval, &self.rules.policy, &evidence))
    }

    fn refuse_standing(
        &self,
        draft: &Draft,
        claimed: Claimed,
        violations: Vec<Violation>,
    ) -> Result<StandingOutcome, DaemonError> {
        let result = self.draft_result(None, |at| ResultId::for_refused(at, &draft.sha256()))?;
        self.note_result_id(|| claimed.note_result(result.result_id()))?;
        let decided = DecisionFacts::undecided();
        let subject = RecordSubject::Unusable {
            file_name: draft.file_name(),
            bytes: draft.bytes(),
            request_id: None,
        };
        let input = RecordInput {
            violations: &violations,
            decided: &decided,
            ..RecordInput::of(subject, claimed.signatures())
        };
        let published = self.record(&input, result)?;
        let originals = self.host.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(StandingOutcome::Refused(RecordedRequest::of(published, -1, violations, originals)))
    }

    /// Looks up the standing approval that a request names, and keeps it for the record. One
    /// next to the caller's own request is admitted first.
    ///
    /// Returns the reasons if that one may not be admitted.
    ///
    /// # Errors
    /// [`DaemonError`]: the store or the ledger cannot be read.
    pub(super) fn find_standing(
        &self,
        request: &Request,
        claimed: &mut Claimed,
        now: UtcTime,
    ) -> Result<StandingLookup, DaemonError> {
        let Some(reference) = request.standing() else { return Ok(Ok(None)) };
        if claimed.replays().is_some() {
            // A replay uses nothing up, and is decided by the record of its original.
            let beside = self.host.spool.standing_beside(claimed, reference, now)?;
            return Ok(Ok(beside.map(|found| {
                claimed.keep_standing(found);
                StandingUses::none(now)
            })));
        }
        let mut state = self.host.spool.standing(reference, now)?;
        let beside = self.host.spool.standing_beside(claimed, reference, now)?;
        if let Some(beside) = &beside
            && let Some(by) = self.rejected_by(beside, now)
            && self.host.spool.standing_revoked_by(&reference.sha256)?.is_none()
        {
            let _stored = self.host.spool.revoke_standing(beside, &by, now)?;
            state = self.host.spool.standing(reference, now)?;
        }
        if let Some(beside) = beside.filter(|_| state.is_none()) {
            let violations = self.admission_violations(&beside, now)?;
            if !violations.is_empty() {
                return Ok(Err(violations));
            }
            let _stored = self.host.spool.admit_standing(&beside, now)?;
            state = self.host.spool.standing(reference, now)?;
        }
        Ok(Ok(state.map(|state| {
            claimed.keep_standing(state.stored);
            state.uses
        })))
    }
}

/// Returns the evidence about the standing approval that was kept.
pub(super) fn evidence(
    kept: Option<&StoredStanding>,
    uses: Option<StandingUses>,
) -> StandingEvidence<'_> {
    match (kept, uses) {
        (Some(kept), Some(uses)) => StandingEvidence::Found(FoundStanding {
            approval: &kept.approval,
            signatures: &kept.signatures,
            unread: &kept.unread,
            uses,
        }),
        _ => StandingEvidence::Missing,
    }
}

/// A rejection that does not count must not look like one that does.
fn rejection_without_effect(claimed: &Claimed) -> Option<Violation> {
    let is_rejection = |file: &&SignatureFile| {
        SshSignature::parse(&file.bytes).is_ok_and(|it| it.namespace() == REJECT_NAMESPACE)
    };
    let file = claimed.signatures().iter().find(is_rejection)?;
    let message = format!("{}: this rejection does not count", ::model::escape_line(&file.name));
    let hint = "sign it with a key that allowed_signers lists for this namespace";
    Some(Violation::error(Code::ApprovalSignature, message).hint(hint))
}

fn standing_violation(problem: &str) -> Violation {
    Violation::error(Code::ApprovalStanding, problem)
}
