//! The decision: may this request run, by whose word, under which bounds? It is a pure function of
//! request, policy and evidence, and must never stop at the first rule that says no: the record
//! states what every rule said.

use model::UtcTime;
use validator::{Code, Request, Violation};

use crate::evidence::Evidence;
use crate::grant::Grant;
use crate::grounds::{AisFinding, Grounds};
use crate::policy::Policy;
use crate::rules::{self, Judged};

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
    let Judged { chosen, approval, findings, .. } = rules::judge(&request, policy, evidence);
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
