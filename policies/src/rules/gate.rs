//! The AANA gate as one rule of the decision. The request becomes an event that contains only
//! verified facts. The event must never claim more than the approval rules found.

use model::Sha256;
use validator::{Code, Request};

use crate::aana::{AuthorizationState, Event, Fact, GateResult, ProposedRun, Route};
use crate::approval::Approval;
use crate::evidence::{DecisionEvidence, SubmissionOrigin};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::reasons::{GateFinding, GateMode, RuleName};
use crate::runtime::RuntimeRule;

const RULE: RuleName = RuleName::Gate;
/// The maximum number of inputs with a reference of their own, because an event has at most 1 MiB.
/// Further inputs appear only among the arguments.
const INPUT_FACTS_MAX: usize = 256;

/// The blockers that are codes. A test compares them with the source of the gate.
const BLOCKERS: [&str; 19] = [
    "authorization_state_not_supported_by_evidence",
    "contradictory_evidence",
    "evidence_marks_missing_information",
    "evidence_missing_authorization",
    "evidence_pii_leak",
    "evidence_secret_leak",
    "high_risk_write_missing_explicit_confirmation",
    "invalid_retrieved_at",
    "missing_evidence_refs",
    "private_read_not_authenticated",
    "public_read_identity_bound_misclassified",
    "runtime_refusal",
    "schema_validation_failed",
    "stale_evidence",
    "unknown_tool_category",
    "unsafe_redaction_status",
    "write_missing_authorization",
    "write_missing_explicit_confirmation",
    "write_missing_validation_or_confirmation",
];

/// The result of the approval rules, for the event.
pub(crate) struct ApprovalFacts<'a> {
    pub(crate) approval: Option<&'a Approval>,
    /// True if none of them refused.
    pub(crate) holds: bool,
}

pub(crate) fn judge(
    request: &Request,
    policy: &Policy,
    runtime: Option<&RuntimeRule>,
    approval_facts: &ApprovalFacts<'_>,
    evidence: &DecisionEvidence<'_>,
    findings: &mut Findings,
) {
    let Some(runtime) = runtime else {
        findings.not_applicable(RULE, "no runtime was chosen, so no call exists");
        return;
    };
    let mode = policy.rules.gate;
    let state = state(request, policy, approval_facts, evidence);
    let case = GateInput { request, policy, runtime, approval_facts, evidence };
    let result = case.event(state).gate();
    report(&result, mode, || case.event(AuthorizationState::Confirmed).gate().passes(), findings);
    findings.gate = Some(GateFinding { mode, result });
}

fn report(
    result: &GateResult,
    mode: GateMode,
    would_pass: impl FnOnce() -> bool,
    findings: &mut Findings,
) {
    let route = result.recommended_action;
    let why: Vec<&str> =
        result.hard_blockers.iter().chain(&result.reasons).map(String::as_str).collect();
    let reason = format!("{}: {}", route.as_str(), why.join(", "));
    if result.passes() {
        findings.pass(RULE, reason);
        return;
    }
    if mode == GateMode::Shadow {
        findings.pass(RULE, format!("not enforced (aana.mode is shadow): {reason}"));
        return;
    }
    let code = Code::Gate(code_of(result));
    if would_pass() {
        findings.follow_refusal(RULE, format!("{reason}; the missing approvals would satisfy it"));
        return;
    }
    match route {
        Route::Ask | Route::Defer => {
            findings.hold(RULE, code, reason, "provide what the gate requires (docs/gate.md)");
        }
        _ => findings.refuse(RULE, code, reason, "see docs/gate.md for the meaning of each name"),
    }
}

/// Returns the first known blocker, else the route.
fn code_of(result: &GateResult) -> &'static str {
    let known = |blocker: &String| BLOCKERS.iter().find(|known| *known == blocker).copied();
    let first = result.hard_blockers.iter().find_map(known);
    first.unwrap_or_else(|| result.recommended_action.as_str())
}

/// Returns the first state that applies: confirmed, validated, authenticated, claimed.
fn state(
    request: &Request,
    policy: &Policy,
    approval_facts: &ApprovalFacts<'_>,
    evidence: &DecisionEvidence<'_>,
) -> AuthorizationState {
    if approval_facts.holds && approval_facts.approval.is_some() {
        AuthorizationState::Confirmed
    } else if approval_facts.approval.is_some_and(|approval| approval.people > 0) {
        AuthorizationState::Validated
    } else if policy.rules.approval.is_approver(&evidence.submission) {
        AuthorizationState::Authenticated
    } else if request.approved_by().is_empty() {
        AuthorizationState::None
    } else {
        AuthorizationState::UserClaimed
    }
}

struct GateInput<'a> {
    request: &'a Request,
    policy: &'a Policy,
    runtime: &'a RuntimeRule,
    approval_facts: &'a ApprovalFacts<'a>,
    evidence: &'a DecisionEvidence<'a>,
}

impl GateInput<'_> {
    fn event(&self, state: AuthorizationState) -> Event {
        let request = self.request;
        let inputs: Vec<(&str, Sha256)> =
            request.inputs().iter().map(|input| (input.name(), *input.sha256())).collect();
        let facts = self.facts(state);
        Event::of(&ProposedRun {
            request_id: request.id(),
            language: request.language(),
            category: self.runtime.tool_category(),
            domain: self.runtime.risk_domain(),
            state,
            argv: request.argv(),
            inputs: &inputs,
            facts: &facts,
            now: self.evidence.now,
        })
    }

    fn facts(&self, state: AuthorizationState) -> Vec<Fact<'_>> {
        let mut facts = Vec::new();
        let signed = self.approval_facts.approval.map_or(&[][..], |approval| &approval.signed);
        for (principal, _) in signed {
            facts.push(match state {
                AuthorizationState::Confirmed => Fact::Approval { principal },
                _ => Fact::Signature { principal },
            });
        }
        let submitter = match &self.evidence.submission {
            SubmissionOrigin::Invoked { name, .. } => name.as_deref(),
            SubmissionOrigin::Submitted { owner_name, .. } => owner_name.as_deref(),
        };
        let submitter = submitter.unwrap_or("submitter");
        match state {
            AuthorizationState::Confirmed if signed.is_empty() => {
                facts.push(Fact::Approval { principal: submitter });
            }
            AuthorizationState::Authenticated => facts.push(Fact::Owner { name: submitter }),
            AuthorizationState::UserClaimed => {
                facts.push(Fact::Claim { name: self.request.approved_by() });
            }
            _ => {}
        }
        facts.push(Fact::Policy { sha256: self.policy.sha256() });
        facts.push(Fact::Request { sha256: self.request.sha256() });
        let inputs = self.request.inputs().iter().take(INPUT_FACTS_MAX);
        facts.extend(inputs.map(|input| Fact::Input { sha256: *input.sha256() }));
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::BLOCKERS;

    #[test]
    fn every_blocker_of_the_gate_is_a_code() {
        let text = include_str!("../aana/route.rs");
        let named: Vec<&str> = text
            .match_indices(".block(\"")
            .filter_map(|(at, mark)| text[at + mark.len()..].split('"').next())
            .collect();
        assert!(named.len() >= 10, "{named:?}");
        for blocker in named {
            assert!(BLOCKERS.contains(&blocker), "{blocker}");
        }
    }

    #[test]
    fn the_page_of_the_gate_has_every_blocker() {
        let page = include_str!("../../../docs/gate.md");
        for blocker in BLOCKERS {
            assert!(page.contains(&format!("| `{blocker}` |")), "{blocker}");
        }
    }
}
