//! What the decision would be: for people who read a request before its approvals are there. It asks
//! the very rules of the decision, and it must never yield an [`crate::Approved`].

use std::collections::BTreeSet;

use validator::{Request, RiskLevel, Violation};

use crate::approval::{self, Approval};
use crate::evidence::Evidence;
use crate::grant::Grant;
use crate::grounds::{RuleVerdict, Verdict};
use crate::policy::Policy;
use crate::rules::{self, Judged};

/// What one rule would say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Prospect {
    /// The same as now.
    Settled(Verdict),
    /// It refuses now, and need not when more signatures lie beside the same text.
    Open,
}

impl Prospect {
    /// The verdict's own word, or `pending`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settled(verdict) => verdict.as_str(),
            Self::Open => "pending",
        }
    }
}

/// The decision as it would be now, and what it waits for.
#[must_use]
#[derive(Debug)]
pub struct Outlook {
    request: Request,
    rules: Vec<(RuleVerdict, Prospect)>,
    violations: Vec<Violation>,
    lacking: Vec<Violation>,
    class: RiskLevel,
    class_reason: String,
    signatures_min: usize,
    signers: usize,
    signed: Vec<(String, String)>,
    grant: Option<Box<Grant>>,
}

/// Asks every rule, and decides nothing.
pub fn foresee(request: Request, policy: &Policy, evidence: &Evidence<'_>) -> Outlook {
    let Judged { chosen, bounds_hold, approval, findings } =
        rules::judge(&request, policy, evidence);
    let (class, class_reason, signatures_min) = approval::asked(&request, policy);
    let approval = approval.unwrap_or_else(Approval::nobodys);
    let (signers, signed) = (approval.people, approval.signed.clone());
    let grant = chosen
        .filter(|_| bounds_hold)
        .map(|chosen| Box::new(Grant::new(&request, policy, chosen, approval)));
    let lacking = findings.lacking.iter().map(|(rule, _)| rule);
    let open: BTreeSet<&str> =
        lacking.chain(&findings.following).map(|rule| rule.as_str()).collect();
    let rules = findings.rules.iter().map(|row| {
        let is_open = row.verdict == Verdict::Refuse && open.contains(row.rule.as_str());
        let prospect = if is_open { Prospect::Open } else { Prospect::Settled(row.verdict) };
        (row.clone(), prospect)
    });
    let rules = rules.collect();
    let (mut violations, mut lacking) = (Vec::new(), Vec::new());
    for (index, violation) in findings.violations.into_iter().enumerate() {
        let is_open = findings.lacking.iter().any(|(_, at)| *at == index);
        if is_open { lacking.push(violation) } else { violations.push(violation) }
    }
    Outlook {
        request,
        rules,
        violations,
        lacking,
        class,
        class_reason,
        signatures_min,
        signers,
        signed,
        grant,
    }
}

impl Outlook {
    /// The request, for which nothing is proved.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What every rule says, in the order of the record.
    #[must_use]
    pub fn rules(&self) -> &[(RuleVerdict, Prospect)] {
        &self.rules
    }

    /// What stands against the request whoever else signs it.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// What it still lacks.
    #[must_use]
    pub fn lacking(&self) -> &[Violation] {
        &self.lacking
    }

    /// The risk class.
    #[must_use]
    pub fn class(&self) -> RiskLevel {
        self.class
    }

    /// The risk class and why it is that one, in words.
    #[must_use]
    pub fn class_reason(&self) -> &str {
        &self.class_reason
    }

    /// How many different people must have signed.
    #[must_use]
    pub fn signatures_min(&self) -> usize {
        self.signatures_min
    }

    /// How many different people have signed.
    #[must_use]
    pub fn signers(&self) -> usize {
        self.signers
    }

    /// Principal and key fingerprint of each signature that counts.
    #[must_use]
    pub fn signed(&self) -> &[(String, String)] {
        &self.signed
    }

    /// The bounds under which it would run, where everything but the approval is content.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        self.grant.as_deref()
    }
}
