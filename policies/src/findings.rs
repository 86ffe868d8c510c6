//! The verdicts that the rules report while a decision is made. A rule must never withdraw the
//! verdict of another rule.

use validator::{Code, Request, Violation};

use crate::reasons::{
    AisFinding, GateFinding, PermissionFinding, Rationale, RuleName, RuleVerdict, Verdict,
};

pub(crate) struct Findings {
    id: String,
    pub(crate) rules: Vec<RuleVerdict>,
    pub(crate) violations: Vec<Violation>,
    /// Rules that refuse for lack of something that can still arrive, with the violation's index.
    pub(crate) pending: Vec<(RuleName, usize)>,
    /// Rules that refuse only because others do. The others report the problem of the request.
    pub(crate) following: Vec<RuleName>,
    pub(crate) gate: Option<GateFinding>,
    pub(crate) permission: Option<PermissionFinding>,
    pub(crate) ais: Option<AisFinding>,
    /// The number of violations that a person's answer can remove.
    holding: usize,
}

impl Findings {
    pub(crate) fn new(request: &Request) -> Self {
        Self::for_id(request.id().as_str())
    }

    /// For a document of this id.
    pub(crate) fn for_id(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            rules: Vec::new(),
            violations: Vec::new(),
            pending: Vec::new(),
            following: Vec::new(),
            gate: None,
            permission: None,
            ais: None,
            holding: 0,
        }
    }

    /// Returns whether a person's answer could remove every violation.
    pub(crate) fn could_be_answered(&self) -> bool {
        self.holding > 0 && self.holding == self.violations.len()
    }

    pub(crate) fn into_rationale(self) -> (Rationale, Vec<Violation>) {
        let Self { rules, gate, permission, ais, violations, .. } = self;
        (Rationale { rules, gate, permission, ais }, violations)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.violations.is_empty() && self.rules.iter().all(|it| it.verdict != Verdict::Refuse)
    }

    fn push(&mut self, rule: &str, verdict: Verdict, reason: String) {
        self.rules.push(RuleVerdict { rule: rule.to_owned(), verdict, reason });
    }

    /// Adds the verdict of a check that belongs to another rule, which refuses if the check does.
    pub(crate) fn add_check(&mut self, rule: &str, verdict: Verdict, reason: String) {
        self.push(rule, verdict, reason);
    }

    pub(crate) fn pass(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.push(rule.as_str(), Verdict::Pass, reason.into());
    }

    pub(crate) fn not_applicable(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.push(rule.as_str(), Verdict::NotApplicable, reason.into());
    }

    pub(crate) fn refuse(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        let reason = reason.into();
        let message = format!("{}: {reason}", self.id);
        self.violations.push(Violation::error(code, message).hint(hint));
        self.push(rule.as_str(), Verdict::Refuse, reason);
    }

    /// Refuses because other rules refuse; passes when they pass.
    pub(crate) fn follow_refusal(&mut self, rule: RuleName, reason: impl Into<String>) {
        self.following.push(rule);
        self.push(rule.as_str(), Verdict::Refuse, reason.into());
    }

    /// Refuses until a person answers. The request waits for the answer.
    pub(crate) fn hold(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        self.holding += 1;
        self.refuse_pending(rule, code, reason, hint);
    }

    /// Refuses until more signatures for the same text arrive.
    pub(crate) fn refuse_pending(
        &mut self,
        rule: RuleName,
        code: Code,
        reason: impl Into<String>,
        hint: &str,
    ) {
        self.pending.push((rule, self.violations.len()));
        self.refuse(rule, code, reason, hint);
    }
}
