//! Shared parts of this crate's tests: a request that differs from a valid one only as a test
//! states, and evidence for it. It must never make a decision itself.

use std::collections::HashSet;

use model::{HostAudience, UtcTime};
use policies::{
    AisEvidence, AisFile, AllowedSigners, Decision, DecisionEvidence, EnvironmentEvidence,
    InstalledRuntimes, LedgerEvidence, Policy, RuleVerdict, SignatureFile, SubmissionOrigin,
    Verdict,
};
use validator::{Draft, FileLocation, OwnerUid, Request, Violation};

pub(crate) const NOW: &str = "2026-02-09T17:00:00Z";
pub(crate) const ID: &str = "TR-20260209-160501Z-stats";

pub(crate) const REQUEST: &str = r#"---
request_type: tool_request
schema_version: 1
request_id: "TR-20260209-160501Z-stats"
created_utc: "2026-02-09T16:05:01Z"
requested_by: "human"
approved_by: "alice"
approved_utc: "2026-02-09T16:12:00Z"
purpose: "A sum."
language: "python"
network: "none"
network_allowlist: []
cpu_limit: "2"
memory_limit_mb: 1024
time_limit_sec: 120
inputs: []
outputs_expected: []
constraints:
  - "No network unless allowlisted"
  - "No writes outside /out"
  - "No persistence"
---

## Command

python -c 'print(1 + 1)'

## Input Files

None.

## Output Expectations

None.

## Risk Assessment

- Risk level: low
- Justification: it adds two numbers.
- Data sensitivity: public
- Network rationale: the service has the newest table.
"#;

pub(crate) fn time(text: &str) -> UtcTime {
    text.parse().expect("a time of the test")
}

/// Returns the valid request with these replacements. Each must occur.
pub(crate) fn text(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(REQUEST.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "the request has no {old}");
        text.replacen(old, new, 1)
    })
}

pub(crate) fn request_of(bytes: &[u8]) -> Request {
    let name = format!("{ID}.md");
    let draft = Draft::new(bytes.to_vec(), &name, OwnerUid::new(1000)).expect("small enough");
    let checked = draft.check(FileLocation::Elsewhere, time(NOW));
    match checked.verdict {
        Ok(request) => request,
        Err(_) => panic!("not a request: {:#?}", checked.violations),
    }
}

pub(crate) fn request(changes: &[(&str, &str)]) -> Request {
    request_of(text(changes).as_bytes())
}

pub(crate) fn invoked() -> SubmissionOrigin {
    SubmissionOrigin::Invoked { uid: 1000, name: Some("alice".to_owned()) }
}

pub(crate) fn dropped() -> SubmissionOrigin {
    SubmissionOrigin::Submitted { owner: OwnerUid::new(1000), owner_name: Some("alice".to_owned()) }
}

pub(crate) fn found() -> InstalledRuntimes {
    [("python", "/usr/bin/python3.11"), ("node", "/usr/bin/node")].into_iter().collect()
}

pub(crate) fn shipped(name: &str) -> Policy {
    Policy::shipped(name).expect("a shipped profile")
}

/// Returns a shipped profile with these replacements. Each must occur.
pub(crate) fn changed(name: &str, changes: &[(&str, &str)]) -> String {
    let text = Policy::shipped_text(name).expect("a shipped profile").to_owned();
    changes.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{name} has no {old}");
        text.replacen(old, new, 1)
    })
}

pub(crate) fn policy(name: &str, changes: &[(&str, &str)]) -> Policy {
    let text = changed(name, changes);
    Policy::parse(text.as_bytes(), "test.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// The evidence of a decision, sufficient unless a test changes it.
pub(crate) struct DecisionScene {
    pub(crate) submission: SubmissionOrigin,
    pub(crate) signatures: Vec<SignatureFile>,
    pub(crate) unread_signatures: Vec<String>,
    pub(crate) signers: Option<AllowedSigners>,
    pub(crate) origin: Option<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) ledger: LedgerEvidence,
    pub(crate) permission: policies::PermissionEvidence,
    pub(crate) binaries: InstalledRuntimes,
    pub(crate) environment: EnvironmentEvidence,
    pub(crate) now: UtcTime,
}

impl Default for DecisionScene {
    fn default() -> Self {
        Self {
            submission: invoked(),
            signatures: Vec::new(),
            unread_signatures: Vec::new(),
            signers: None,
            origin: None,
            labels: Vec::new(),
            ledger: LedgerEvidence::Unused,
            permission: policies::PermissionEvidence::NotQueried,
            binaries: found(),
            environment: EnvironmentEvidence::Unnamed,
            now: time(NOW),
        }
    }
}

impl DecisionScene {
    pub(crate) fn host(&self) -> HostAudience<'_> {
        HostAudience::of(self.origin.as_deref()).with_labels(&self.labels)
    }

    pub(crate) fn decide(&self, request: Request, policy: &Policy) -> Decision {
        let (digests, nonces_used) = (policies::ais::EnvironmentDigests::default(), HashSet::new());
        let ais = AisEvidence {
            file: &AisFile::Missing,
            trust: None,
            supply: &digests,
            nonces_used: Some(&nonces_used),
        };
        self.decide_with(ais, request, policy)
    }

    pub(crate) fn decide_with(
        &self,
        ais: AisEvidence<'_>,
        request: Request,
        policy: &Policy,
    ) -> Decision {
        let evidence = DecisionEvidence {
            submission: self.submission.clone(),
            signatures: &self.signatures,
            unread_signatures: &self.unread_signatures,
            signers: self.signers.as_ref(),
            host: self.host(),
            ledger: self.ledger.clone(),
            standing: policies::StandingEvidence::NotQueried,
            permission: self.permission,
            ais,
            binaries: &self.binaries,
            environment: &self.environment,
            now: self.now,
        };
        policies::authorise(request, policy, &evidence)
    }
}

pub(crate) fn approved(decision: Decision) -> policies::Approved {
    match decision {
        Decision::Approve(approved) => approved,
        Decision::Refuse { violations, .. } => panic!("refused: {violations:#?}"),
        Decision::Hold { violations, .. } => panic!("held: {violations:#?}"),
    }
}

pub(crate) fn accepts(decision: Decision) {
    drop(approved(decision));
}

pub(crate) fn refused(decision: Decision) -> (Vec<Violation>, Vec<RuleVerdict>) {
    match decision {
        Decision::Refuse { violations, rationale, .. } => (violations, rationale.rules),
        Decision::Approve(approved) => panic!("approved: {:#?}", approved.rationale().rules),
        Decision::Hold { violations, .. } => panic!("held: {violations:#?}"),
    }
}

/// Expects a refusal or a held request, for tests that check only the violations.
pub(crate) fn unapproved(decision: Decision) -> (Vec<Violation>, Vec<RuleVerdict>) {
    match decision {
        Decision::Refuse { violations, rationale, .. }
        | Decision::Hold { violations, rationale, .. } => (violations, rationale.rules),
        Decision::Approve(approved) => panic!("approved: {:#?}", approved.rationale().rules),
    }
}

pub(crate) fn held(decision: Decision) -> (Vec<Violation>, Vec<RuleVerdict>) {
    match decision {
        Decision::Hold { violations, rationale, .. } => (violations, rationale.rules),
        Decision::Refuse { violations, .. } => panic!("refused: {violations:#?}"),
        Decision::Approve(approved) => panic!("approved: {:#?}", approved.rationale().rules),
    }
}

pub(crate) fn codes(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(|it| it.code.as_str().into_owned()).collect()
}

pub(crate) fn verdict(rules: &[RuleVerdict], name: &str) -> Verdict {
    let of_name: Vec<&RuleVerdict> = rules.iter().filter(|it| it.rule == name).collect();
    assert_eq!(of_name.len(), 1, "rule {name} in {rules:#?}");
    of_name[0].verdict
}

pub(crate) fn reason<'a>(rules: &'a [RuleVerdict], name: &str) -> &'a str {
    &rules.iter().find(|it| it.rule == name).expect("the rule").reason
}
