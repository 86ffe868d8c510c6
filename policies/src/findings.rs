//! The verdicts that rules report while a decision is made. A rule must never take back what another one
//! reported.

use validator::{Code, Request, Violation};

use crate::grounds::{
    AisFinding, GateFinding, Grounds, PermissionFinding, RuleName, RuleVerdict, Verdict,
};

/// The verdicts of the rules so far.
pub(crate) struct Findings {
    request_id: String,
    pub(crate) rules: Vec<RuleVerdict>,
    pub(crate) violations: Vec<Violation>,
    /// Rules that refuse for want of something that may still come, each with its violation's place.
    pub(crate) lacking: Vec<(RuleName, usize)>,
    /// Rules that refuse only because others do: those others report what is wrong with the request.
    pub(crate) following: Vec<RuleName>,
    pub(crate) gate: Option<GateFinding>,
    pub(crate) permission: Option<PermissionFinding>,
    pub(crate) ais: Option<AisFinding>,
    /// The number of violations that a person's answer can take away.
    holding: usize,
}

impl Findings {
    pub(crate) fn new(request: &Request) -> Self {
        let request_id = request.id().to_string();
        Self {
            request_id,
            rules: Vec::new(),
            violations: Vec::new(),
            lacking: Vec::new(),
            following: Vec::new(),
            gate: None,
            permission: None,
            ais: None,
            holding: 0,
        }
    }

    /// Returns whether all violations are for want of a person's answer.
    pub(crate) fn waits(&self) -> bool {
        self.holding > 0 && self.holding == self.violations.len()
    }

    pub(crate) fn into_grounds(self) -> (Grounds, Vec<Violation>) {
        let Self { rules, gate, permission, ais, violations, .. } = self;
        (Grounds { rules, gate, permission, ais }, violations)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.rules.iter().all(|it| it.verdict != Verdict::Refuse)
    }

    fn row(&mut self, rule: &str, verdict: Verdict, reason: String) {
        self.rules.push(RuleVerdict { rule: rule.to_owned(), verdict, reason });
    }

    /// Adds the verdict of a rule of another authority, whose own rule refuses if this one does.
    pub(crate) fn say(&mut self, rule: &str, verdict: Verdict, reason: String) {
        self.row(rule, verdict, reason);
    }

    pub(crate) fn pass(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.row(rule.as_str(), Verdict::Pass, reason.into());
    }

    pub(crate) fn not_applicable(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.row(rule.as_str(), Verdict::NotApplicable, reason.into());
    }

    pub(crate) fn refuse(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        let reason = reason.into();
        let message = format!("{}: {reason}", self.request_id);
        self.violations.push(Violation::error(code, message).hint(hint));
        self.row(rule.as_str(), Verdict::Refuse, reason);
    }

    /// Refuses as others do, and passes when they do.
    pub(crate) fn follow(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.following.push(rule);
        self.row(rule.as_str(), Verdict::Refuse, reason.into());
    }

    /// Refuses as well; but a person can still say yes, and the request waits for it.
    pub(crate) fn hold(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        self.holding += 1;
        self.lack(rule, code, reason, hint);
    }

    /// Refuses as well; but the same text may yet pass, with more signatures beside it.
    pub(crate) fn lack(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        self.lacking.push((rule, self.violations.len()));
        self.refuse(rule, code, reason, hint);
    }
}
