//! The rules about approvals, in their order. Each must report its verdict even if another one
//! refused.

use validator::{Code, Request, RiskLevel};

use super::model::Approval;
use super::people::People;
use super::votes::{Scrutiny, Votes};
use super::{risk, standing, submitter};
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::grounds::RuleName;
use crate::policy::Policy;

/// Returns the approval if every rule about it passes.
pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    evidence: &Evidence<'_>,
    findings: &mut Findings,
) -> Option<Approval> {
    let rules = &policy.rules.approval;
    let (class, why, min) = asked(request, policy);
    findings.pass(RuleName::ApprovalRisk, why);
    standing::date_order(request, evidence.now, findings);
    let expires = standing::age(request, rules, evidence.now, findings);
    standing::audience(request, rules, evidence.origin, findings);
    standing::single_use(&evidence.ledger, findings);
    let votes = votes(request, policy, evidence);
    standing::rejection(votes.as_ref(), evidence.unread_signatures, findings);
    let known = votes.unwrap_or_default();
    let people = People::among(request, rules, &known, evidence.signers, min);
    let text = if min == 0 {
        people.not_asked(findings);
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
        Some(format!("signed by {} of {min}", people.count_of()))
    };
    let (signed, touches) = (people.signed(), people.touches());
    Some(Approval { text: text?, signed, people: people.count_of(), touches, expires })
}

/// Returns the risk class of a request, the reason for it, and the required number of approvers.
pub(crate) fn asked(request: &Request, policy: &Policy) -> (RiskLevel, String, usize) {
    let (class, why) = risk::class(request, &policy.rules.risk);
    (class, why, policy.rules.approval.signatures_min.of(class))
}

fn votes<'s>(request: &Request, policy: &Policy, evidence: &Evidence<'s>) -> Option<Votes<'s>> {
    let signers = evidence.signers?;
    let user_verification = policy.rules.approval.user_verification;
    let scrutiny = Scrutiny { signers, user_verification, now: evidence.now };
    Some(Votes::count(request, evidence.signatures, &scrutiny))
}

fn no_signers(findings: &mut Findings) {
    let reason = "allowed_signers is not configured, so no signature can be verified";
    let hint = "set allowed_signers in the daemon's configuration";
    findings.lack(RuleName::ApprovalSignature, Code::ApprovalSignature, reason, hint);
}
