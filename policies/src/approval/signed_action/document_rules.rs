//! The rules about one document of a signed action, by the code that judges submitted documents.

use model::UtcTime;
use validator::{
    Draft, DraftCheck, FileLocation, OwnerUid, Request, Severity, StandingApproval, Violation,
};

use super::counted::{CountedDocument, SignedActionEvidence, SignedActionRefusal, refusal};
use super::model::{ActionTarget, SignedActionKind};
use crate::approval::approvers::Approvers;
use crate::approval::document::SignedDocument;
use crate::approval::judge::requirements;
use crate::approval::request_rules;
use crate::approval::signers::AllowedSigners;
use crate::approval::standing::{AdmissionEvidence, admission_violations, rejected_by};
use crate::approval::verified_signatures::{SignatureCheck, VerifiedSignatures};
use crate::findings::Findings;

/// Checks that the signature of an action counts for a document. The signature is verified.
///
/// # Errors
/// The first reason why it does not count.
pub(super) fn check(
    kind: SignedActionKind,
    document: &CountedDocument,
    signers: &AllowedSigners,
    evidence: &SignedActionEvidence<'_>,
) -> Result<(), SignedActionRefusal> {
    match (kind, &document.target) {
        (SignedActionKind::Approve, ActionTarget::Request(_)) => {
            check_request(document, signers, evidence)
        }
        (SignedActionKind::Approve, ActionTarget::Standing(_)) => {
            check_standing(document, evidence)
        }
        (SignedActionKind::Reject, ActionTarget::Request(_)) => check_rejection(document, evidence),
        // It is about the bytes, complete or not. Without its own signatures none is admitted.
        (SignedActionKind::Reject, ActionTarget::Standing(_)) => Ok(()),
        (SignedActionKind::Revoke, _) => check_revocation(document, signers, evidence),
        (SignedActionKind::Hold | SignedActionKind::Release | SignedActionKind::Cancel, _) => {
            Err(refusal(format!("{kind}: takes no document")))
        }
    }
}

/// A rejection is about the bytes, complete or not. A draft that could run without a signature must
/// not be submitted with its rejection alone: its key may be revoked before the request is claimed.
fn check_rejection(
    document: &CountedDocument,
    evidence: &SignedActionEvidence<'_>,
) -> Result<(), SignedActionRefusal> {
    // A date in the future makes a draft malformed only now, so all times have passed here.
    let at_last = UtcTime::from_unix(i64::MAX);
    let Ok(request) = read_request(document, at_last) else { return Ok(()) };
    let (_, _, min) = requirements(&request, evidence.policy);
    if min > 0 && request.standing().is_none() {
        return Ok(());
    }
    let id = request.id();
    Err(refusal(format!(
        "{id}: needs no signature of its own, so it is not submitted; help: remove the draft"
    )))
}

/// Applies the rules about a signature file of a request to this one file, as if one were required.
/// The request may lack others.
fn check_request(
    document: &CountedDocument,
    signers: &AllowedSigners,
    evidence: &SignedActionEvidence<'_>,
) -> Result<(), SignedActionRefusal> {
    let (policy, now) = (evidence.policy, evidence.now);
    let request = read_request(document, now)?;
    if let Some(standing) = request.standing() {
        let id = request.id();
        return Err(refusal(format!("{id}: uses {standing}; help: it needs no signature")));
    }
    let signed = SignedDocument::Request(&request);
    let rules = &policy.rules.approval;
    let (class, _, _) = requirements(&request, policy);
    let check = SignatureCheck {
        signers,
        passkeys: &rules.passkeys,
        user_verification: rules.user_verification,
        now,
    };
    let files = std::slice::from_ref(&document.signature);
    let found = VerifiedSignatures::count(signed, files, &check);
    let mut findings = Findings::new(&request);
    request_rules::date_order(signed, now, &mut findings);
    request_rules::age(signed, rules, now, &mut findings);
    let people = Approvers::new((request.requester(), signed), rules, &found, Some(signers), 1);
    people.judge(class, &mut findings);
    findings.violations.into_iter().next().map_or(Ok(()), |first| Err(first.into()))
}

fn read_request(document: &CountedDocument, now: UtcTime) -> Result<Request, SignedActionRefusal> {
    let name = document.target.file_name();
    // No rule of this check depends on the owner.
    let draft = Draft::new(document.bytes.clone(), &name, OwnerUid::new(0))
        .map_err(|error| refusal(format!("{}: {error}", document.target)))?;
    let DraftCheck { violations, verdict } = draft.check(FileLocation::Spool, now);
    verdict.map_err(|_| malformed(&document.target, violations))
}

fn malformed(target: &ActionTarget, violations: Vec<Violation>) -> SignedActionRefusal {
    let first = violations.into_iter().find(|it| it.severity == Severity::Error);
    let why = first.map_or_else(|| "not well-formed".to_owned(), |it| it.message);
    refusal(format!("{target}: {why}; help: find every error with `toolexec lint`"))
}

fn check_standing(
    document: &CountedDocument,
    evidence: &SignedActionEvidence<'_>,
) -> Result<(), SignedActionRefusal> {
    let CountedDocument { target, bytes, signature } = document;
    let standing = StandingApproval::read(bytes, &target.file_name(), evidence.now)
        .map_err(|violations| malformed(target, violations))?;
    let evidence_of_file = AdmissionEvidence {
        signatures: std::slice::from_ref(signature),
        unread_signatures: &[],
        signers: evidence.signers,
        host: evidence.host,
        now: evidence.now,
    };
    let violations = admission_violations(&standing, evidence.policy, &evidence_of_file);
    violations.into_iter().next().map_or(Ok(()), |first| Err(first.into()))
}

fn check_revocation(
    document: &CountedDocument,
    signers: &AllowedSigners,
    evidence: &SignedActionEvidence<'_>,
) -> Result<(), SignedActionRefusal> {
    let CountedDocument { target, bytes, signature } = document;
    let standing = StandingApproval::read_recorded(bytes, &target.file_name(), evidence.now)
        .map_err(|violations| malformed(target, violations))?;
    let files = std::slice::from_ref(signature);
    match rejected_by(&standing, files, (signers, evidence.policy), evidence.now) {
        Some(_) => Ok(()),
        None => Err(refusal(format!("{target}: its signature does not count as a rejection"))),
    }
}
