//! The rules about approvals, in their order. Each must report its verdict even if another one
//! refused.

use validator::{Code, Request, RiskLevel};

use super::approvers::Approvers;
use super::model::Approval;
use super::verified_signatures::{SignatureCheck, VerifiedSignatures};
use super::{request_rules, risk, submitter};
use crate::evidence::DecisionEvidence;
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
    let (class, why, min) = requirements(request, policy);
    findings.pass(RuleName::ApprovalRisk, why);
    request_rules::date_order(request, evidence.now, findings);
    let expires = request_rules::age(request, rules, evidence.now, findings);
    request_rules::audience(request, rules, evidence.origin, findings);
    request_rules::single_use(&evidence.ledger, findings);
    let votes = verified_signatures(request, policy, evidence);
    request_rules::rejection(votes.as_ref(), evidence.unread_signatures, findings);
    let known = votes.unwrap_or_default();
    let people = Approvers::new(request, rules, &known, evidence.signers, min);
    let text = if min == 0 {
        people.report_not_required(findings);
        submitter::judge(&people, rules, &evidence.submission, findings)
    } else {
        findings.not_applicable(RuleName::ApprovalSubmitter, "the policy requires signatures");
        if evidence.signers.is_none() {
            no_signers(findings);
        } else {
            people.signatures(findings);
        }
        people.revoked(findings);
        people.self_approval(findings);
        people.count(class, findings);
        people.principal(findings);
        Some(format!("signed by {} of {min}", people.approver_count()))
    };
    let (signed, touches) = (people.signed(), people.touches());
    Some(Approval { text: text?, signed, people: people.approver_count(), touches, expires })
}

/// Returns the risk class of a request, the reason for it, and the required number of approvers.
pub(crate) fn requirements(request: &Request, policy: &Policy) -> (RiskLevel, String, usize) {
    let (class, why) = risk::class(request, &policy.rules.risk);
    (class, why, policy.rules.approval.signatures_min.of(class))
}

fn verified_signatures<'s>(
    request: &Request,
    policy: &Policy,
    evidence: &DecisionEvidence<'s>,
) -> Option<VerifiedSignatures<'s>> {
    let signers = evidence.signers?;
    let user_verification = policy.rules.approval.user_verification;
    let scrutiny = SignatureCheck { signers, user_verification, now: evidence.now };
    Some(VerifiedSignatures::count(request, evidence.signatures, &scrutiny))
}

fn no_signers(findings: &mut Findings) {
    let reason = "allowed_signers is not configured, so no signature can be verified";
    let hint = "set allowed_signers in the daemon's configuration";
    findings.refuse_pending(RuleName::ApprovalSignature, Code::ApprovalSignature, reason, hint);
}
