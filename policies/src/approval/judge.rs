//! The rules about approvals, in their order. Each must report its verdict even if another one
//! refused.

use std::borrow::Cow;

use validator::{Request, RiskLevel};

use super::approvers::Approvers;
use super::document::SignedDocument;
use super::model::Approval;
use super::standing::{self, StandingBasis};
use super::verified_signatures::{SignatureCheck, VerifiedSignatures};
use super::{request_rules, risk, submitter};
use crate::evidence::{DecisionEvidence, FoundStanding};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::reasons::RuleName;

/// Returns the approval if every rule about it passes.
pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &DecisionEvidence<'_>,
    findings: &mut Findings,
) -> Option<Approval> {
    let rules = &policy.rules.approval;
    let basis = standing::judge(request, policy, evidence, findings);
    let document = basis
        .found()
        .map_or(SignedDocument::Request(request), |found| SignedDocument::Standing(found.approval));
    let (class, why, min) = match basis.found() {
        Some(found) => standing::requirements(Some(request), found.approval.terms(), policy),
        None => requirements(request, policy),
    };
    findings.pass(RuleName::ApprovalRisk, why);
    request_rules::date_order(document, evidence.now, findings);
    let expires = request_rules::age(document, rules, evidence.now, findings);
    request_rules::audience(request, rules, evidence.host, findings);
    request_rules::single_use(&evidence.ledger, findings);
    let votes = verified_signatures(request, basis.found(), policy, evidence);
    let unread = match basis.found() {
        Some(found) => Cow::Owned([evidence.unread_signatures, found.unread].concat()),
        None => Cow::Borrowed(evidence.unread_signatures),
    };
    request_rules::rejection(votes.as_ref(), &unread, findings);
    let known = votes.unwrap_or_default();
    let people =
        Approvers::new((request.requester(), document), rules, &known, evidence.signers, min);
    let text = if let StandingBasis::Unusable = basis {
        people.report_not_applicable("the standing approval cannot be used", findings);
        findings
            .not_applicable(RuleName::ApprovalSubmitter, "the request uses a standing approval");
        None
    } else if min == 0 {
        people.report_not_applicable("the policy requires no signature", findings);
        submitter::judge(&people, rules, &evidence.submission, findings)
    } else {
        findings.not_applicable(RuleName::ApprovalSubmitter, "the policy requires signatures");
        people.judge(class, findings);
        Some(format!("signed by {} of {min}", people.approver_count()))
    };
    let (signed, touches, standing) = (people.signed(), people.touches(), basis.into_use());
    Some(Approval {
        text: text?,
        signed,
        people: people.approver_count(),
        touches,
        expires,
        standing,
    })
}

/// Returns the risk class of a request, the reason for it, and the required number of approvers.
pub(crate) fn requirements(request: &Request, policy: &Policy) -> (RiskLevel, String, usize) {
    let (class, why) = risk::class(request, &policy.rules.risk);
    (class, why, policy.rules.approval.signatures_min.of(class))
}

/// Counts the signatures of the request, and of the standing approval in its place. A rejection of
/// either counts.
fn verified_signatures<'s>(
    request: &Request,
    standing: Option<&FoundStanding<'_>>,
    policy: &Policy,
    evidence: &DecisionEvidence<'s>,
) -> Option<VerifiedSignatures<'s>> {
    let signers = evidence.signers?;
    let rules = &policy.rules.approval;
    let scrutiny = SignatureCheck {
        signers,
        passkeys: &rules.passkeys,
        user_verification: rules.user_verification,
        now: evidence.now,
    };
    let document = SignedDocument::Request(request);
    let own = VerifiedSignatures::count(document, evidence.signatures, &scrutiny);
    let Some(found) = standing else { return Some(own) };
    let document = SignedDocument::Standing(found.approval);
    let mut votes = VerifiedSignatures::count(document, found.signatures, &scrutiny);
    votes.rejections.extend(own.rejections);
    votes.requesters.extend(own.requesters);
    votes.too_many |= own.too_many;
    Some(votes)
}
