//! The preview of a decision, for people who read a request before it is approved. It applies the
//! rules of the decision itself, and must never yield an [`crate::Approved`].

use std::collections::BTreeSet;

use validator::{Request, RiskLevel, Violation};

use crate::approval::{self, Approval};
use crate::evidence::DecisionEvidence;
use crate::grant::RunGrant;
use crate::policy::Policy;
use crate::reasons::{RuleVerdict, Verdict};
use crate::rules::{self, RuleResults};

/// The expected verdict of one rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedVerdict {
    /// The verdict is final.
    Final(Verdict),
    /// The rule refuses now, but may pass with more signatures for the same text.
    Pending,
}

impl ExpectedVerdict {
    /// Returns the text of the verdict, or `pending`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Final(verdict) => verdict.as_str(),
            Self::Pending => "pending",
        }
    }
}

/// The decision as it would be now, and the approvals that it still lacks.
#[must_use]
#[derive(Debug)]
pub struct DecisionPreview {
    request: Request,
    rules: Vec<(RuleVerdict, ExpectedVerdict)>,
    violations: Vec<Violation>,
    pending: Vec<Violation>,
    class: RiskLevel,
    class_reason: String,
    signatures_min: usize,
    signers: usize,
    signed: Vec<(String, String)>,
    grant: Option<Box<RunGrant>>,
}

/// Applies every rule without making a decision.
pub fn preview_decision(
    request: Request,
    policy: &Policy,
    evidence: &DecisionEvidence<'_>,
) -> DecisionPreview {
    let RuleResults { chosen, bounds_hold, approval, findings } =
        rules::judge(&request, policy, evidence);
    let (class, class_reason, signatures_min) = approval::requirements(&request, policy);
    let approval = approval.unwrap_or_else(Approval::unapproved);
    let (signers, signed) = (approval.people, approval.signed.clone());
    let grant = chosen
        .filter(|_| bounds_hold)
        .map(|chosen| Box::new(RunGrant::new(&request, policy, &chosen, approval)));
    let pending = findings.pending.iter().map(|(rule, _)| rule);
    let open: BTreeSet<&str> =
        pending.chain(&findings.following).map(|rule| rule.as_str()).collect();
    let rules = findings.rules.iter().map(|row| {
        let is_open = row.verdict == Verdict::Refuse && open.contains(row.rule.as_str());
        let prospect =
            if is_open { ExpectedVerdict::Pending } else { ExpectedVerdict::Final(row.verdict) };
        (row.clone(), prospect)
    });
    let rules = rules.collect();
    let (mut violations, mut pending) = (Vec::new(), Vec::new());
    for (index, violation) in findings.violations.into_iter().enumerate() {
        let is_open = findings.pending.iter().any(|(_, at)| *at == index);
        if is_open { pending.push(violation) } else { violations.push(violation) }
    }
    DecisionPreview {
        request,
        rules,
        violations,
        pending,
        class,
        class_reason,
        signatures_min,
        signers,
        signed,
        grant,
    }
}

impl DecisionPreview {
    /// Returns the request. Nothing is proved about it.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the verdict of every rule, in the order of the record.
    #[must_use]
    pub fn rules(&self) -> &[(RuleVerdict, ExpectedVerdict)] {
        &self.rules
    }

    /// Returns the violations that no further signature can remove.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Returns the violations that further signatures or answers can remove.
    #[must_use]
    pub fn pending(&self) -> &[Violation] {
        &self.pending
    }

    /// Returns the risk class.
    #[must_use]
    pub fn class(&self) -> RiskLevel {
        self.class
    }

    /// Returns the risk class with its reason, as text.
    #[must_use]
    pub fn class_reason(&self) -> &str {
        &self.class_reason
    }

    /// Returns the required number of different signing approvers.
    #[must_use]
    pub fn signatures_min(&self) -> usize {
        self.signatures_min
    }

    /// Returns the number of different approvers who have signed.
    #[must_use]
    pub fn signers(&self) -> usize {
        self.signers
    }

    /// Returns principal and key fingerprint of each signature that counts.
    #[must_use]
    pub fn signed(&self) -> &[(String, String)] {
        &self.signed
    }

    /// Returns the limits of the run, if every rule but those about approval passes.
    #[must_use]
    pub fn grant(&self) -> Option<&RunGrant> {
        self.grant.as_deref()
    }
}
