//! The decision: may this request run, by whose word, under which bounds? It is a pure function of
//! request, policy and evidence, and must never stop at the first rule that says no: the record
//! states what every rule said.

use model::UtcTime;
use validator::{Code, Request, Violation};

use crate::ais_rule;
use crate::approval::{self, Approval};
use crate::evidence::{Evidence, Installed};
use crate::findings::Findings;
use crate::gate_rule::{self, Standing};
use crate::grant::Grant;
use crate::grounds::{AisFinding, Grounds};
use crate::hosts;
use crate::permission_rule;
use crate::policy::Policy;
use crate::rules;
use crate::runtime::Runtime;

/// The answer.
#[must_use]
#[derive(Debug)]
pub enum Decision {
    /// It may run.
    Approve(Approved),
    /// It may not yet: every rule that says no says so for want of a person's answer that may still
    /// come. Whoever holds requests asks again when something
    /// has changed; for anybody else it is a refusal.
    Hold {
        /// The request, given back.
        request: Request,
        /// What it waits for.
        violations: Vec<Violation>,
        /// What every rule said.
        grounds: Grounds,
    },
    /// It may not.
    Refuse {
        /// The request, given back for its record.
        request: Request,
        /// Everything that stands against it.
        violations: Vec<Violation>,
        /// What every rule said.
        grounds: Grounds,
    },
}

/// The proof that policy lets exactly these bytes run, under this grant.
#[must_use]
#[derive(Debug)]
pub struct Approved {
    request: Request,
    // Boxed, so that a refusal is not as large as an approval.
    grant: Box<Grant>,
    grounds: Grounds,
}

impl Approved {
    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// By whose word and under which bounds.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// Why it may run.
    #[must_use]
    pub fn grounds(&self) -> &Grounds {
        &self.grounds
    }

    /// Whether the approval and the envelope still hold: time passes between the decision and exec.
    ///
    /// # Errors
    ///
    /// The violation `approval.expired` or `ais.ibe-expired`, where one does not.
    pub fn still_holds(&self, now: UtcTime) -> Result<(), Box<Violation>> {
        let ais = self.grounds.ais.as_ref();
        if let Some(end) = ais.and_then(|ais| ais.ended_before(now)) {
            let id = self.request.id();
            let message = format!("{id}: the envelope ended at {end}, now it is {now}");
            return Err(Box::new(Violation::error(Code::Ais("ibe-expired"), message)));
        }
        match self.grant.approval_expires() {
            Some(end) if end < now => {
                let id = self.request.id();
                let message = format!("{id}: the approval was good until {end}, now it is {now}");
                Err(Box::new(Violation::error(Code::ApprovalExpired, message)))
            }
            _ => Ok(()),
        }
    }

    /// The nonce of the AIS envelope, which the start uses up.
    #[must_use]
    pub fn ais_nonce(&self) -> Option<&str> {
        self.grounds.ais.as_ref().and_then(AisFinding::nonce)
    }

    /// The parts, for the next step, which makes a proof of its own of them.
    pub fn into_parts(self) -> (Request, Grant) {
        (self.request, *self.grant)
    }
}

/// Decides about a well-formed request.
pub fn authorise(request: Request, policy: &Policy, evidence: &Evidence<'_>) -> Decision {
    let Judged { chosen, approval, findings, .. } = judge(&request, policy, evidence);
    let clean = findings.is_clean();
    let waits = findings.waits();
    let (grounds, violations) = findings.into_grounds();
    match (chosen, approval) {
        (Some(chosen), Some(approval)) if clean => {
            let grant = Box::new(Grant::new(&request, policy, chosen, approval));
            Decision::Approve(Approved { request, grant, grounds })
        }
        _ if waits => Decision::Hold { request, violations, grounds },
        _ => Decision::Refuse { request, violations, grounds },
    }
}

/// What no approval mends: where a request is beyond the bounds that the policy sets to every one. For
/// whoever drafts; nothing of this host is asked, and nothing is decided.
#[must_use]
pub fn beyond(request: &Request, policy: &Policy) -> Vec<Violation> {
    let mut findings = Findings::new(request);
    rules::backend(request, &mut findings);
    rules::spoken(request, policy, &mut findings);
    rules::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    rules::constraints(request, policy, &mut findings);
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
    rules::backend(request, &mut findings);
    let chosen = rules::runtime(request, policy, evidence.binaries, &mut findings);
    rules::limits(request, policy, &mut findings);
    hosts::judge(request, &policy.rules.network, &mut findings);
    rules::constraints(request, policy, &mut findings);
    rules::layers(policy, &mut findings);
    let bounds_hold = findings.is_clean();
    let before = findings.violations.len();
    let approval = approval::judge(request, policy, evidence, &mut findings);
    // That nobody asked the ledger says nothing of the approval.
    let holds = findings.violations[before..].iter().all(|it| it.code == Code::SpoolReplayed);
    let standing = Standing { approval: approval.as_ref(), holds };
    let runtime = chosen.map(|(runtime, _)| runtime);
    gate_rule::judge(request, policy, runtime, &standing, evidence, &mut findings);
    permission_rule::judge(request, policy, &evidence.permission, &mut findings);
    ais_rule::ask(request, policy, runtime, (&evidence.ais, evidence.now), &mut findings);
    Judged { chosen, bounds_hold, approval, findings }
}
