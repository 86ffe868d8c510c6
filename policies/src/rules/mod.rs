//! The rules of a decision, in the order of the calls below, one file for each kind. A new rule
//! needs a line of [`RuleName`](crate::RuleName), a file or function here, and a call below. Each
//! rule must report its verdict even if another one refused.

mod ais;
mod backend;
mod environment;
mod gate;
mod interpreter;
mod machine;
mod permission;
mod program;
mod resources;

use validator::{Code, Request, Violation};

use crate::approval::{self, Approval};
use crate::chosen_backend::ChosenBackend;
use crate::evidence::DecisionEvidence;
use crate::findings::Findings;
use crate::hosts;
use crate::policy::Policy;
use crate::program::ChosenProgram;
use gate::ApprovalFacts;

/// Returns the violations of the limits that the policy sets to every request, which no approval
/// can remove. It is for authors of drafts: it reads nothing of this host and decides nothing.
#[must_use]
pub fn bound_violations(request: &Request, policy: &Policy) -> Vec<Violation> {
    let mut findings = Findings::new(request);
    if !backend::offered(request, policy, &mut findings) {
        program::offered(request, policy, &mut findings);
    }
    resources::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    resources::constraints(request, policy, &mut findings);
    findings.violations
}

/// The verdict of every rule, and the facts that they found.
pub(crate) struct RuleResults<'a> {
    pub(crate) chosen: Option<ChosenProgram<'a>>,
    /// True if every rule but those about approval passes.
    pub(crate) bounds_hold: bool,
    pub(crate) approval: Option<Approval>,
    pub(crate) findings: Findings,
}

/// Applies every rule, those about approval last.
pub(crate) fn judge<'a>(
    request: &Request,
    policy: &'a Policy,
    evidence: &DecisionEvidence<'a>,
) -> RuleResults<'a> {
    let mut findings = Findings::new(request);
    let chosen = match backend::choose(request, policy, evidence, &mut findings) {
        Some(ChosenBackend::Interpreter(interpreter)) => {
            interpreter::choose(request, interpreter, evidence, &mut findings)
        }
        Some(ChosenBackend::Machine(machine)) => {
            machine::choose(request, machine, evidence, &mut findings)
        }
        None => program::choose(request, policy, evidence, &mut findings),
    };
    resources::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    resources::constraints(request, policy, &mut findings);
    resources::layers(policy, &mut findings);
    let bounds_hold = findings.is_clean();
    let before = findings.violations.len();
    let approval = approval::judge(request, policy, evidence, &mut findings);
    // A ledger that was not queried says nothing about the approval.
    let holds = findings.violations[before..].iter().all(|it| it.code == Code::SpoolReplayed);
    let approval_facts = ApprovalFacts { approval: approval.as_ref(), holds };
    let runtime = chosen.as_ref().map(|chosen| chosen.word.runtime);
    gate::judge(request, policy, runtime, &approval_facts, evidence, &mut findings);
    permission::judge(request, policy, &evidence.permission, &mut findings);
    ais::judge_bundle(request, policy, runtime, (&evidence.ais, evidence.now), &mut findings);
    RuleResults { chosen, bounds_hold, approval, findings }
}
