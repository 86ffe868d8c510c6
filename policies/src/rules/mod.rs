//! The rules of a decision: one file for each kind, and their order here. A new rule is a line of
//! [`RuleName`](crate::RuleName), a file here or a function in one, and a call below. Each must leave its
//! verdict, even if another one refused.

mod ais;
mod bounds;
mod gate;
mod permission;

use validator::{Code, Request, Violation};

use crate::approval::{self, Approval};
use crate::evidence::{Evidence, Installed};
use crate::findings::Findings;
use crate::hosts;
use crate::policy::Policy;
use crate::runtime::Runtime;
use gate::Standing;

/// What no approval mends: where a request is beyond the bounds that the policy sets to every one. For
/// whoever drafts; nothing of this host is asked, and nothing is decided.
#[must_use]
pub fn beyond(request: &Request, policy: &Policy) -> Vec<Violation> {
    let mut findings = Findings::new(request);
    bounds::backend(request, &mut findings);
    bounds::spoken(request, policy, &mut findings);
    bounds::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    bounds::constraints(request, policy, &mut findings);
    findings.violations
}

/// What every rule said, and what they found on the way.
pub(crate) struct Judged<'a> {
    pub(crate) chosen: Option<(&'a Runtime, &'a Installed)>,
    /// Whether everything but the approval is content.
    pub(crate) bounds_hold: bool,
    pub(crate) approval: Option<Approval>,
    pub(crate) findings: Findings,
}

/// Asks every rule, those of the approval last.
pub(crate) fn judge<'a>(
    request: &Request,
    policy: &'a Policy,
    evidence: &Evidence<'a>,
) -> Judged<'a> {
    let mut findings = Findings::new(request);
    bounds::backend(request, &mut findings);
    let chosen = bounds::runtime(request, policy, evidence.binaries, &mut findings);
    bounds::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    bounds::constraints(request, policy, &mut findings);
    bounds::layers(policy, &mut findings);
    let bounds_hold = findings.is_clean();
    let before = findings.violations.len();
    let approval = approval::judge(request, policy, evidence, &mut findings);
    // That nobody asked the ledger says nothing of the approval.
    let holds = findings.violations[before..].iter().all(|it| it.code == Code::SpoolReplayed);
    let standing = Standing { approval: approval.as_ref(), holds };
    let runtime = chosen.map(|(runtime, _)| runtime);
    gate::judge(request, policy, runtime, &standing, evidence, &mut findings);
    permission::judge(request, policy, &evidence.permission, &mut findings);
    ais::ask(request, policy, runtime, (&evidence.ais, evidence.now), &mut findings);
    Judged { chosen, bounds_hold, approval, findings }
}
