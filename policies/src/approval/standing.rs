//! The rule about standing approvals: whether one may be stored on this host, and whether a request
//! is a use of it. It must never lower what policy requires of a request that uses none.

use std::sync::Arc;

use model::{HostAudience, UtcTime, escape_line};
use validator::{
    CLOCK_SKEW_SEC, Code, Request, RiskLevel, StandingApproval, StandingTerms, Violation,
};

use super::approvers::Approvers;
use super::document::SignedDocument;
use super::model::SignatureFile;
use super::signers::AllowedSigners;
use super::verified_signatures::{SignatureCheck, VerifiedSignatures};
use super::{request_rules, risk};
use crate::evidence::{DecisionEvidence, FoundStanding, StandingEvidence};
use crate::findings::Findings;
use crate::model::StandingRules;
use crate::policy::Policy;
use crate::reasons::RuleName;
use crate::standing::{StandingUse, check_use, compare};

const RULE: RuleName = RuleName::ApprovalStanding;
/// A message names at most this many differences.
const DIFFERENCES_SHOWN: usize = 8;
const DAY_SEC: i64 = 24 * 60 * 60;

/// The document on which the approval of a request rests.
pub(super) enum StandingBasis<'e> {
    /// The request uses no standing approval.
    Request,
    /// It uses this one.
    Standing(&'e FoundStanding<'e>, Option<StandingUse>),
    /// It names one that is missing here, or that policy does not allow.
    Unusable,
}

impl<'e> StandingBasis<'e> {
    pub(super) fn found(&self) -> Option<&'e FoundStanding<'e>> {
        match self {
            Self::Standing(found, _) => Some(found),
            Self::Request | Self::Unusable => None,
        }
    }

    pub(super) fn into_use(self) -> Option<StandingUse> {
        match self {
            Self::Standing(_, found) => found,
            Self::Request | Self::Unusable => None,
        }
    }
}

/// Compares a request with the standing approval that it names.
pub(super) fn judge<'e>(
    request: &Request,
    policy: &Policy,
    evidence: &'e DecisionEvidence<'_>,
    findings: &mut Findings,
) -> StandingBasis<'e> {
    let Some(named) = request.standing() else {
        findings.not_applicable(RULE, "the request uses none");
        return StandingBasis::Request;
    };
    let Some(rules) = &policy.rules.approval.standing else {
        let reason = "x-standing: the policy allows no standing approval";
        let hint = "have the request approved by itself, or set approval.standing in the policy";
        findings.refuse(RULE, Code::ApprovalStanding, reason, hint);
        return StandingBasis::Unusable;
    };
    let found = match &evidence.standing {
        StandingEvidence::Found(found) if found.approval.reference() == *named => found,
        StandingEvidence::NotQueried => {
            let reason = "x-standing: not yet checked; the run looks it up";
            let hint = "submit the request; the run checks it";
            findings.refuse_pending(RULE, Code::ApprovalStanding, reason, hint);
            return StandingBasis::Unusable;
        }
        StandingEvidence::Missing | StandingEvidence::Found(_) => {
            let reason = format!("x-standing: this host has not admitted {named}");
            let hint = "submit the standing approval with its signatures first";
            findings.refuse(RULE, Code::ApprovalStanding, reason, hint);
            return StandingBasis::Unusable;
        }
    };
    StandingBasis::Standing(found, judge_use(request, rules, (found, evidence.host), findings))
}

fn judge_use(
    request: &Request,
    rules: &StandingRules,
    (found, host): (&FoundStanding<'_>, HostAudience<'_>),
    findings: &mut Findings,
) -> Option<StandingUse> {
    let terms = found.approval.terms();
    let mut problems = beyond_policy(terms, rules);
    let binding = compare(found.approval, request, host);
    let binding = binding.map_err(|differences| {
        problems.extend(differences.iter().map(ToString::to_string));
    });
    let used = check_use(terms, &found.uses).map_err(|refusal| {
        problems.push(refusal.as_str().to_owned());
    });
    let (Ok(binding), Ok(number), true) = (binding, used, problems.is_empty()) else {
        let reason = format!("{}: {}", terms.id, listed(&problems));
        let hint =
            "keep the bounds of the standing approval, or have the request approved by itself";
        findings.refuse(RULE, Code::ApprovalStanding, reason, hint);
        return None;
    };
    findings.pass(RULE, format!("within {}; use {number} of {}", terms.id, terms.uses_max));
    Some(StandingUse::new(Arc::clone(found.approval), binding))
}

fn listed(problems: &[String]) -> String {
    let shown: Vec<String> =
        problems.iter().take(DIFFERENCES_SHOWN).map(|it| escape_line(it)).collect();
    match problems.len().saturating_sub(DIFFERENCES_SHOWN) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Returns the bounds of a standing approval that exceed those of policy.
fn beyond_policy(terms: &StandingTerms, rules: &StandingRules) -> Vec<String> {
    let mut problems = Vec::new();
    // The time from the signature counts, so that none begins years later.
    let from = terms.approved.unwrap_or(terms.created).min(terms.not_before);
    let seconds = terms.not_after.unix().saturating_sub(from.unix());
    let seconds_max = i64::try_from(rules.days_max).unwrap_or(i64::MAX).saturating_mul(DAY_SEC);
    if seconds > seconds_max {
        let days = rules.days_max;
        problems.push(format!("not_after_utc: later than approval.standing.days_max ({days})"));
    }
    if terms.uses_max > rules.uses_max {
        let (stated, max) = (terms.uses_max, rules.uses_max);
        problems.push(format!("uses_max: {stated} is above approval.standing.uses_max ({max})"));
    }
    if terms.runs_code_of_inputs && !rules.any_program {
        problems.push("runs_code_of_inputs: approval.standing.any_program is false".to_owned());
    }
    problems
}

/// Returns the risk class, its reason, and the number of approvers of the standing approval. The
/// class is that of its widest run, or of the request if that is higher.
pub(super) fn requirements(
    request: Option<&Request>,
    terms: &StandingTerms,
    policy: &Policy,
) -> (RiskLevel, String, usize) {
    let widest = risk::widest_class(terms, &policy.rules.risk);
    let of_request = request.map(|request| risk::class(request, &policy.rules.risk));
    let (class, why) = match of_request {
        Some(found) if found.0 > widest.0 => found,
        _ => widest,
    };
    // A person must read it, also if policy requires no signature of a single run.
    (class, why, policy.rules.approval.signatures_min.of(class).max(1))
}

/// The facts about a standing approval that is submitted.
#[derive(Debug)]
pub struct AdmissionEvidence<'a> {
    /// The signature files next to it.
    pub signatures: &'a [SignatureFile],
    /// Each signature file that was not read, as a message. Any may be a rejection.
    pub unread_signatures: &'a [String],
    /// The keys whose signatures count, if any are configured.
    pub signers: Option<&'a AllowedSigners>,
    /// The names of this host.
    pub host: HostAudience<'a>,
    /// The present time.
    pub now: UtcTime,
}

/// Returns the reasons why a standing approval may not be stored on this host; none if it may.
#[must_use]
pub fn admission_violations(
    standing: &StandingApproval,
    policy: &Policy,
    evidence: &AdmissionEvidence<'_>,
) -> Vec<Violation> {
    let terms = standing.terms();
    let mut findings = Findings::for_id(terms.id.as_str());
    let Some(rules) = &policy.rules.approval.standing else {
        let reason = "the policy allows no standing approval";
        let hint = "set approval.standing in the policy";
        findings.refuse(RULE, Code::ApprovalStanding, reason, hint);
        return findings.violations;
    };
    let mut problems = beyond_policy(terms, rules);
    if !evidence.host.includes(&terms.audience) {
        problems.push("x-audience: this host is another".to_owned());
    }
    if evidence.now >= terms.not_after {
        problems.push("not_after_utc: has passed".to_owned());
    }
    let approved = terms.approved.unwrap_or(terms.created);
    let age = evidence.now.unix().saturating_sub(approved.unix());
    let age_max = policy.rules.approval.age_sec_max;
    let age_max = age_max.map(|max| i64::try_from(max).unwrap_or(i64::MAX));
    if age_max.is_some_and(|max| age > max.saturating_add(CLOCK_SKEW_SEC)) {
        problems.push("approved_utc: older than approval.age_sec_max".to_owned());
    }
    if !problems.is_empty() {
        let hint = "correct the standing approval, and have it signed again";
        findings.refuse(RULE, Code::ApprovalStanding, listed(&problems), hint);
    }
    let document = SignedDocument::Standing(standing);
    request_rules::date_order(document, evidence.now, &mut findings);
    let votes = evidence.signers.map(|signers| {
        let check = SignatureCheck {
            signers,
            passkeys: &policy.rules.approval.passkeys,
            user_verification: policy.rules.approval.user_verification,
            now: evidence.now,
        };
        VerifiedSignatures::count(document, evidence.signatures, &check)
    });
    request_rules::rejection(votes.as_ref(), evidence.unread_signatures, &mut findings);
    let known = votes.unwrap_or_default();
    let (class, _, min) = requirements(None, terms, policy);
    // The requester is known for each request that uses it.
    let people = Approvers::of_standing(document, &known, evidence.signers, min);
    people.judge(class, &mut findings);
    findings.violations
}

/// Returns who has validly rejected the standing approval, if anyone. One rejection counts however
/// many other files there are.
#[must_use]
pub fn rejected_by(
    standing: &StandingApproval,
    signatures: &[SignatureFile],
    (signers, policy): (&AllowedSigners, &Policy),
    now: UtcTime,
) -> Option<String> {
    signatures.iter().find_map(|file| {
        let votes = votes_of(standing, file, (signers, policy), now);
        let voter = votes.rejections.first()?;
        let name = voter.names().next().unwrap_or("?");
        Some(format!("{} with key {}", escape_line(name), voter.fingerprint))
    })
}

/// Returns whether a signature file counts for or against the standing approval.
#[must_use]
pub fn counts_for_standing(
    standing: &StandingApproval,
    file: &SignatureFile,
    (signers, policy): (&AllowedSigners, &Policy),
    now: UtcTime,
) -> bool {
    let votes = votes_of(standing, file, (signers, policy), now);
    !votes.approvals.is_empty() || !votes.rejections.is_empty()
}

fn votes_of<'s>(
    standing: &StandingApproval,
    file: &SignatureFile,
    (signers, policy): (&'s AllowedSigners, &Policy),
    now: UtcTime,
) -> VerifiedSignatures<'s> {
    let passkeys = &policy.rules.approval.passkeys;
    let check = SignatureCheck { signers, passkeys, user_verification: false, now };
    let document = SignedDocument::Standing(standing);
    VerifiedSignatures::count(document, std::slice::from_ref(file), &check)
}
