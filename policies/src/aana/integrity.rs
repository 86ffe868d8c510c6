//! The reliability of evidence: leaks, age, denials and gaps. The findings of one reference must
//! never depend on another.

use std::collections::HashSet;

use model::UtcTime;
use serde::Serialize;
use validator::CLOCK_SKEW_SEC;

use super::call::Reference;
use super::vocabulary::{EvidenceKind, Freshness, RedactionStatus, ToolCategory, TrustTier};
use super::{leak, timestamp, wording};

/// The maximum age of evidence in seconds; older evidence is stale.
const AGE_SEC_MAX: i64 = 7 * 24 * 3600;

const MISSING: [&str; 9] = [
    "evidence missing",
    "missing evidence",
    "information is missing",
    "record is missing",
    "not available",
    "unavailable",
    "unknown",
    "insufficient",
    "no evidence",
];
const CONTRADICTORY: [&str; 6] =
    ["contradict", "conflict", "inconsistent", "does not match", "disputes", "opposes"];
/// The source prefix of evidence that was constructed without an authorization.
const WITHOUT_AUTHORIZATION: &str = "counterfactual.missing_authorization";
const MISSING_AUTHORIZATION: [&str; 2] =
    ["missing authorization", "removes verified authorization"];

/// The severity of an issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueLevel {
    /// The issue stops the action.
    Error,
    /// The issue is reported.
    Warning,
}

/// An issue of the evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Issue {
    /// The severity. It decides which list of codes contains the code.
    pub level: IssueLevel,
    /// The stable name, as upstream has it.
    pub code: &'static str,
    /// The path: `$.evidence_refs[0].retrieved_at`.
    pub path: String,
    /// A sentence for people, without any text of the event.
    pub message: &'static str,
}

/// The findings of all references.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EvidenceIntegrity {
    /// The version of these rules upstream.
    pub evidence_safety_version: &'static str,
    /// The number of references in the event; every one is checked.
    pub checked_ref_count: usize,
    /// Their sources, each once.
    pub used_source_ids: Vec<String>,
    /// The sources of references that state that something is missing or unknown, each once.
    pub missing_evidence_source_ids: Vec<String>,
    /// The sources of references that contradict something, by field or wording, each once.
    pub contradictory_evidence_source_ids: Vec<String>,
    /// The sources of references with a `citation_url`, each once.
    pub citation_source_ids: Vec<String>,
    /// The same as `used_source_ids`, because every reference has a provenance, if only by default.
    pub provenance_source_ids: Vec<String>,
    /// The issues, by reference and in upstream's order.
    pub issues: Vec<Issue>,
    /// The errors' codes, each once.
    pub error_codes: Vec<&'static str>,
    /// The warnings' codes, each once.
    pub warning_codes: Vec<&'static str>,
    /// True if an issue is an error.
    pub has_errors: bool,
    /// True if an issue is a warning.
    pub has_warnings: bool,
}

/// The findings of one reference, regardless of its use.
pub(super) struct ReferenceFindings {
    /// The errors of its redaction, its text, its stated age, and its time.
    errors: [IssueParts; 4],
    missing: bool,
    contradicts: bool,
    /// True if it reports a missing authorization, in upstream's words.
    pub(super) lacks_authorization: bool,
    /// True if it reports that an authority was refused, withdrawn or never given.
    pub(super) denies_authority: bool,
}

impl ReferenceFindings {
    pub(super) fn of(reference: &Reference<'_>, now: UtcTime) -> Self {
        let has_any = |words: &[&str]| words.iter().any(|it| reference.summary_lower.contains(it));
        let system = reference.kind == EvidenceKind::SystemState;
        Self {
            errors: [
                redaction(reference),
                leaked(reference),
                stated_age(reference),
                age(reference, now),
            ],
            missing: has_any(&MISSING),
            contradicts: reference.contradicts || has_any(&CONTRADICTORY),
            lacks_authorization: reference.source_id.starts_with(WITHOUT_AUTHORIZATION)
                || system && has_any(&MISSING_AUTHORIZATION),
            denies_authority: wording::denies_authority(reference),
        }
    }

    /// Returns whether it speaks against the action or is unreliable.
    pub(super) fn denies(&self) -> bool {
        self.missing
            || self.contradicts
            || self.lacks_authorization
            || self.denies_authority
            || self.errors.iter().any(Option::is_some)
    }
}

type IssueParts = Option<(&'static str, &'static str, &'static str)>;

fn redaction(reference: &Reference<'_>) -> IssueParts {
    let sensitive = reference.redaction == RedactionStatus::Sensitive;
    sensitive.then_some((
        "unsafe_redaction_status",
        ".redaction_status",
        "The reference contains private values; redact them.",
    ))
}

fn leaked(reference: &Reference<'_>) -> IssueParts {
    let text = [
        reference.source_id,
        reference.summary,
        reference.citation_url,
        reference.retrieval_url,
        reference.provenance,
    ]
    .join(" ");
    if leak::secret(&text) {
        return Some(("evidence_secret_leak", "", "Something in it looks like a secret."));
    }
    let seen = reference.redaction != RedactionStatus::Redacted && leak::personal(&text);
    seen.then_some((
        "evidence_pii_leak",
        "",
        "Something in it looks like personal data that was not redacted.",
    ))
}

fn stated_age(reference: &Reference<'_>) -> IssueParts {
    let stale = reference.freshness == Freshness::Stale;
    stale.then_some(("stale_evidence", ".freshness.status", "The reference is stated as stale."))
}

fn age(reference: &Reference<'_>, now: UtcTime) -> IssueParts {
    let retrieved = reference.retrieved_at?;
    let Some(at) = timestamp::parse(retrieved) else {
        return Some(("invalid_retrieved_at", ".retrieved_at", "This is not an ISO 8601 time."));
    };
    let age_sec = now.unix() - at.unix();
    if age_sec > AGE_SEC_MAX {
        Some(("stale_evidence", ".retrieved_at", "It was retrieved more than a week ago."))
    } else if age_sec < -CLOCK_SKEW_SEC {
        Some(("invalid_retrieved_at", ".retrieved_at", "This time is in the future."))
    } else {
        None
    }
}

impl EvidenceIntegrity {
    pub(super) fn of(
        references: &[Reference<'_>],
        examined: &[ReferenceFindings],
        category: ToolCategory,
    ) -> Self {
        let mut issues = Vec::new();
        if category != ToolCategory::PublicRead && references.is_empty() {
            issues.push(Issue {
                level: IssueLevel::Error,
                code: "missing_evidence_refs",
                path: "$.evidence_refs".to_owned(),
                message: "No evidence supports this action.",
            });
        }
        for (number, (reference, examined)) in references.iter().zip(examined).enumerate() {
            collect_issues(&mut issues, number, reference, examined, category);
        }
        let codes = |level| {
            let codes = issues.iter().filter(|it: &&Issue| it.level == level).map(|it| it.code);
            each_once(codes)
        };
        let (error_codes, warning_codes) = (codes(IssueLevel::Error), codes(IssueLevel::Warning));
        let named = |counts: fn(&Reference<'_>, &ReferenceFindings) -> bool| {
            sources(references, examined, counts)
        };
        Self {
            evidence_safety_version: "0.1",
            checked_ref_count: references.len(),
            used_source_ids: named(|_, _| true),
            missing_evidence_source_ids: named(|_, it| it.missing),
            contradictory_evidence_source_ids: named(|_, it| it.contradicts),
            citation_source_ids: named(|reference, _| !reference.citation_url.is_empty()),
            provenance_source_ids: named(|_, _| true),
            has_errors: !error_codes.is_empty(),
            has_warnings: !warning_codes.is_empty(),
            issues,
            error_codes,
            warning_codes,
        }
    }
}

/// Collects all issues of one reference, in upstream's order.
fn collect_issues(
    issues: &mut Vec<Issue>,
    number: usize,
    reference: &Reference<'_>,
    examined: &ReferenceFindings,
    category: ToolCategory,
) {
    let path = format!("$.evidence_refs[{number}]");
    let error = |found: IssueParts| found.map(|it| (IssueLevel::Error, it));
    let sensitive = matches!(category, ToolCategory::PrivateRead | ToolCategory::Write);
    let warning =
        |found: IssueParts| found.filter(|_| sensitive).map(|it| (IssueLevel::Warning, it));
    let [redaction, leak, stated, age] = examined.errors;
    let [trust, unredacted, unstated, undated] = weaknesses(reference);
    let found = [
        warning(trust),
        error(redaction).or(warning(unredacted)),
        error(leak),
        error(stated).or(warning(unstated)),
        error(age).or(warning(undated)),
    ];
    for (level, (code, place, message)) in found.into_iter().flatten() {
        issues.push(Issue { level, code, path: format!("{path}{place}"), message });
    }
}

/// Returns the sources of the references that satisfy a condition, each once.
fn sources<'a>(
    references: &[Reference<'a>],
    examined: &[ReferenceFindings],
    counts: impl Fn(&Reference<'_>, &ReferenceFindings) -> bool,
) -> Vec<String> {
    let mut seen = HashSet::new();
    let counted = references.iter().zip(examined).filter(|(reference, it)| counts(reference, it));
    let names = counted.map(|(reference, _)| reference.source_id);
    names.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

/// Returns the weaknesses for a private read or a write: trust, redaction, freshness, time.
fn weaknesses(reference: &Reference<'_>) -> [IssueParts; 4] {
    let weak = matches!(reference.trust, TrustTier::Unknown | TrustTier::Unverified);
    let unredacted = reference.redaction == RedactionStatus::Unknown;
    let unknown = reference.freshness == Freshness::Unknown;
    [
        weak.then_some(("weak_trust_tier", ".trust_tier", "This reference is not verified.")),
        unredacted.then_some((
            "unknown_redaction_status",
            ".redaction_status",
            "It does not state whether private values were removed.",
        )),
        unknown.then_some((
            "unknown_freshness",
            ".freshness.status",
            "It does not state whether it is still valid.",
        )),
        reference.retrieved_at.is_none().then_some((
            "missing_freshness_timestamp",
            ".retrieved_at",
            "It does not state when it was retrieved.",
        )),
    ]
}

fn each_once<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}
