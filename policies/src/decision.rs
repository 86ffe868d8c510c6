//! The decision: may this request run, who approved it, and under which limits? It is a pure
//! function of request, policy and evidence. It must never stop at the first rule that refuses,
//! because the record contains the verdict of every rule.

use model::UtcTime;
use validator::{Code, Request, Violation};

use crate::evidence::DecisionEvidence;
use crate::grant::RunGrant;
use crate::policy::Policy;
use crate::reasons::{AisFinding, Rationale};
use crate::rules::{self, RuleResults};

/// The result of a decision.
#[must_use]
#[derive(Debug)]
pub enum Decision {
    /// The request may run.
    Approve(Approved),
    /// The request waits: each refusing rule lacks an answer that a person can still give. The
    /// daemon decides again when something has changed; other callers treat it as a refusal.
    Hold {
        /// The request, from which the next decision can be made.
        request: Request,
        /// The missing answers.
        violations: Vec<Violation>,
        /// The verdict of every rule.
        rationale: Rationale,
    },
    /// The request may not run.
    Refuse {
        /// The request, for its record.
        request: Request,
        /// The objections of the rules; each has a code.
        violations: Vec<Violation>,
        /// The verdict of every rule.
        rationale: Rationale,
    },
}

/// The proof that policy lets exactly these bytes run, under this grant.
#[must_use]
#[derive(Debug)]
pub struct Approved {
    request: Request,
    // Boxed, so that a refusal is not as large as an approval.
    grant: Box<RunGrant>,
    rationale: Rationale,
}

impl Approved {
    /// Returns the request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the approval and the limits of the run.
    pub fn grant(&self) -> &RunGrant {
        &self.grant
    }

    /// Returns the reasons of the decision.
    #[must_use]
    pub fn rationale(&self) -> &Rationale {
        &self.rationale
    }

    /// Checks that the approval and the envelope are still valid: time passes between the decision
    /// and exec.
    ///
    /// # Errors
    /// The violation `approval.expired` or `ais.ibe-expired`.
    pub fn still_holds(&self, now: UtcTime) -> Result<(), Box<Violation>> {
        let ais = self.rationale.ais.as_ref();
        if let Some(end) = ais.and_then(|ais| ais.ended_before(now)) {
            let id = self.request.id();
            let message = format!("{id}: the AIS envelope expired at {end}; now {now}");
            let violation = Violation::error(Code::Ais("ibe-expired"), message)
                .hint("make a new envelope with `toolexec ais envelope`");
            return Err(Box::new(violation));
        }
        match self.grant.approval_expires() {
            Some(end) if end < now => {
                let id = self.request.id();
                let message = format!("{id}: the approval expired at {end}; now {now}");
                let violation = Violation::error(Code::ApprovalExpired, message)
                    .hint("approve the request again");
                Err(Box::new(violation))
            }
            _ => Ok(()),
        }
    }

    /// Returns the nonce of the AIS envelope. The start of the run uses it up.
    #[must_use]
    pub fn ais_nonce(&self) -> Option<&str> {
        self.rationale.ais.as_ref().and_then(AisFinding::nonce)
    }

    /// Splits the value for the next step, which makes its own proof of the parts.
    pub fn into_parts(self) -> (Request, RunGrant) {
        (self.request, *self.grant)
    }
}

/// Decides about a well-formed request.
pub fn authorise(request: Request, policy: &Policy, evidence: &DecisionEvidence<'_>) -> Decision {
    let RuleResults { chosen, approval, findings, .. } = rules::judge(&request, policy, evidence);
    let clean = findings.is_clean();
    let waits = findings.could_be_answered();
    let (rationale, violations) = findings.into_rationale();
    match (chosen, approval) {
        (Some(chosen), Some(approval)) if clean => {
            let grant = Box::new(RunGrant::new(&request, policy, &chosen, approval));
            Decision::Approve(Approved { request, grant, rationale })
        }
        _ if waits => Decision::Hold { request, violations, rationale },
        _ => Decision::Refuse { request, violations, rationale },
    }
}
