//! An event that passed its schema, parsed: every text is a known value, and a reference has the
//! contract's default for each missing field. Nothing here decides.

use serde_json::{Map, Value};

use super::vocabulary::{
    AuthorizationState, EvidenceKind, Freshness, RedactionStatus, RiskDomain, Route, ToolCategory,
    TrustTier,
};

/// The planned call of an agent, as its runtime describes it.
pub(super) struct Call<'a> {
    pub(super) tool_name: &'a str,
    pub(super) category: ToolCategory,
    pub(super) declared: AuthorizationState,
    pub(super) domain: RiskDomain,
    pub(super) route: Route,
    pub(super) user_intent: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) references: Vec<Reference<'a>>,
}

pub(super) struct Reference<'a> {
    pub(super) source_id: &'a str,
    pub(super) kind: EvidenceKind,
    pub(super) trust: TrustTier,
    pub(super) redaction: RedactionStatus,
    pub(super) summary: &'a str,
    /// The summary in lower case, for the search of markers.
    pub(super) summary_lower: String,
    /// Source and summary in lower case, for the search of authority words.
    pub(super) authority_text: String,
    pub(super) provenance: &'a str,
    pub(super) freshness: Freshness,
    /// The time at which it was retrieved or checked, if stated.
    pub(super) retrieved_at: Option<&'a str>,
    pub(super) citation_url: &'a str,
    pub(super) retrieval_url: &'a str,
    /// True if it names something that it contradicts.
    pub(super) contradicts: bool,
    /// True if it is a bare text, which names only a source.
    pub(super) bare: bool,
    /// True if it states every field that the contract requires, none by default.
    pub(super) complete: bool,
}

const BARE_SUMMARY: &str = "Quickstart evidence reference supplied by the agent runtime.";
const BARE_PROVENANCE: &str = "runtime_quickstart";

impl<'a> Call<'a> {
    /// Reads an event that is valid by its schema. Returns `None` if it is not.
    pub(super) fn read(event: &'a Value) -> Option<Self> {
        let text = |name| event.get(name).and_then(Value::as_str);
        let references = event.get("evidence_refs")?.as_array()?;
        Some(Self {
            tool_name: text("tool_name")?,
            category: ToolCategory::named(text("tool_category")?)?,
            declared: AuthorizationState::named(text("authorization_state")?)?,
            domain: RiskDomain::named(text("risk_domain")?)?,
            route: Route::named(text("recommended_route")?)?,
            user_intent: text("user_intent").unwrap_or_default(),
            arguments: event.get("proposed_arguments")?.as_object()?,
            references: references.iter().map(Reference::read).collect::<Option<_>>()?,
        })
    }
}

impl<'a> Reference<'a> {
    fn read(reference: &'a Value) -> Option<Self> {
        match reference {
            Value::String(source_id) => Some(Self::bare(source_id)),
            Value::Object(members) => Self::typed(members),
            _ => None,
        }
    }

    fn bare(source_id: &'a str) -> Self {
        let texts = LowercaseTexts::of(source_id, BARE_SUMMARY);
        Self {
            source_id,
            kind: EvidenceKind::Other,
            trust: TrustTier::Runtime,
            redaction: RedactionStatus::Redacted,
            summary: BARE_SUMMARY,
            summary_lower: texts.summary,
            authority_text: texts.authority,
            provenance: BARE_PROVENANCE,
            freshness: Freshness::Fresh,
            retrieved_at: None,
            citation_url: "",
            retrieval_url: "",
            contradicts: false,
            bare: true,
            complete: false,
        }
    }

    fn typed(members: &'a Map<String, Value>) -> Option<Self> {
        let text = |name| members.get(name).and_then(Value::as_str);
        let freshness = members.get("freshness").and_then(Value::as_object);
        let fresh = |name| freshness.and_then(|it| it.get(name)).and_then(Value::as_str);
        let hours = |name| freshness.and_then(|it| it.get(name)).and_then(Value::as_f64);
        let too_old =
            hours("age_hours").zip(hours("max_age_hours")).is_some_and(|(age, max)| age > max);
        let trust = text("trust_tier").map_or(Some(TrustTier::Unknown), TrustTier::named)?;
        let by_trust = match trust {
            TrustTier::Verified | TrustTier::Runtime => Freshness::Fresh,
            _ => Freshness::Unknown,
        };
        let (source_id, summary) = (text("source_id")?, text("summary").unwrap_or_default());
        let texts = LowercaseTexts::of(source_id, summary);
        let given = |text: &&str| !text.is_empty();
        Some(Self {
            source_id,
            kind: text("kind").map_or(Some(EvidenceKind::Other), EvidenceKind::named)?,
            trust,
            redaction: text("redaction_status")
                .map_or(Some(RedactionStatus::Unknown), RedactionStatus::named)?,
            summary,
            summary_lower: texts.summary,
            authority_text: texts.authority,
            provenance: text("provenance").unwrap_or("runtime"),
            freshness: match fresh("status").map_or(Some(by_trust), Freshness::named)? {
                _ if too_old => Freshness::Stale,
                stated => stated,
            },
            retrieved_at: text("retrieved_at").filter(given).or(fresh("checked_at").filter(given)),
            citation_url: text("citation_url").unwrap_or_default(),
            retrieval_url: text("retrieval_url").unwrap_or_default(),
            contradicts: members
                .get("contradicts")
                .and_then(Value::as_array)
                .is_some_and(|it| !it.is_empty()),
            bare: false,
            complete: ["kind", "trust_tier", "redaction_status", "provenance"]
                .iter()
                .all(|name| text(name).is_some())
                && fresh("status").is_some(),
        })
    }
}

struct LowercaseTexts {
    summary: String,
    authority: String,
}

impl LowercaseTexts {
    fn of(source_id: &str, summary: &str) -> Self {
        let summary = summary.to_lowercase();
        Self { authority: format!("{} {summary}", source_id.to_lowercase()), summary }
    }
}
