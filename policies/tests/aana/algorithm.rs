//! A model of the public v1 gate, written from its publication and independent of our code. It
//! works on raw JSON, with the published patterns and the published schema. It must never call
//! anything of the crate under test.

use std::sync::LazyLock;

use jsonschema::Validator;
use regex::Regex;
use serde_json::{Value, json};

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(include_str!("published.schema.json")).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
});
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        r"\bsk-[A-Za-z0-9_-]{12,}\b",
        r"\bAKIA[0-9A-Z]{16}\b",
        r#"(?i:\b(api[_-]?key|secret|token|password)\s*[:=]\s*['"]?[A-Za-z0-9_.\-]{8,})"#,
        r"\b\d{3}-\d{2}-\d{4}\b",
        r"\b(?:\d[ -]*?){13,16}\b",
    ];
    Regex::new(&patterns.join("|")).unwrap()
});
static PERSONAL: LazyLock<Regex> = LazyLock::new(|| {
    let mail = r"(?i:\b[A-Z0-9._%+-]+@[A-Z0-9.-]+\.[A-Z]{2,}\b)";
    let phone = r"\b(?:\+?1[-.\s]?)?\(?\d{3}\)?[-.\s]?\d{3}[-.\s]?\d{4}\b";
    Regex::new(&format!("{mail}|{phone}")).unwrap()
});

/// The model's result: the final route (0 to 3), and whether the gate passes.
#[derive(Debug)]
pub(crate) struct PublishedGateResult {
    pub(crate) route: usize,
    pub(crate) passes: bool,
}

const REFUSED: PublishedGateResult = PublishedGateResult { route: 3, passes: false };

fn rank(state: &str) -> usize {
    ["none", "user_claimed", "authenticated", "validated", "confirmed"]
        .iter()
        .position(|it| *it == state)
        .unwrap_or(0)
}

fn get<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

fn any(text: &str, words: &str) -> bool {
    words.split('|').any(|word| text.contains(word))
}

/// Returns the strongest state that the object references support, by kind or by wording.
fn supported(evidence: &[Value]) -> usize {
    let mut strongest = 0;
    for it in evidence.iter().filter(|it| it.is_object()) {
        let text = format!("{} {}", get(it, "source_id"), get(it, "summary")).to_lowercase();
        let kind = get(it, "kind");
        let claimed = kind == "user_message"
            || get(it, "trust_tier") == "user_claimed"
            || text.contains("user claimed");
        let authenticated = kind == "auth_event" || text.contains("authenticated");
        let validated = match kind {
            "tool_result" => {
                any(&text, "validated|ownership|eligible|policy validation|verified target")
            }
            "policy" => any(&text, "validated|allowed|eligible"),
            _ => false,
        };
        let confirmed = kind == "approval" || any(&text, "confirmed|explicitly confirm");
        let speaks = [true, claimed, authenticated, validated, confirmed];
        strongest = strongest.max(speaks.iter().rposition(|it| *it).unwrap());
    }
    strongest
}

fn completed(reference: &Value) -> Value {
    let mut it = match reference.as_str() {
        Some(source) => json!({
            "source_id": source, "trust_tier": "runtime", "redaction_status": "redacted",
            "summary": "Quickstart evidence reference supplied by the agent runtime.",
        }),
        None => reference.clone(),
    };
    let Some(members) = it.as_object_mut() else { return it };
    let trusted =
        matches!(members.get("trust_tier"), Some(tier) if tier == "verified" || tier == "runtime");
    let defaults = [
        ("kind", "other"),
        ("trust_tier", "unknown"),
        ("redaction_status", "unknown"),
        ("provenance", "runtime"),
    ];
    for (name, value) in defaults {
        members.entry(name).or_insert(value.into());
    }
    if !members.get("freshness").is_some_and(Value::is_object) {
        members.insert("freshness".to_owned(), json!({}));
    }
    let status = if trusted { "fresh" } else { "unknown" };
    let freshness = members["freshness"].as_object_mut().unwrap();
    freshness.entry("status").or_insert(status.into());
    it
}

/// Returns upstream's result, or `None` if upstream would raise an exception.
pub(crate) fn published_gate(event: &Value) -> Option<PublishedGateResult> {
    let mut event = event.clone();
    if !event.is_object() {
        return None;
    }
    let sent = match &event["evidence_refs"] {
        Value::Array(items) => items.clone(),
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::String(text) => text.chars().map(|c| c.to_string().into()).collect(),
        Value::Object(members) => members.keys().map(|it| it.as_str().into()).collect(),
        _ => return None,
    };
    let words = ["none", "user_claimed", "authenticated", "validated", "confirmed"];
    let declared = rank(get(&event, "authorization_state"));
    let enough = match (get(&event, "tool_category"), get(&event, "recommended_route")) {
        ("private_read", "accept") => 2,
        ("write", "accept") => 3,
        _ => 0,
    };
    if declared < enough && supported(&sent) >= enough {
        event["authorization_state"] = words[supported(&sent)].into();
    }
    event["evidence_refs"] = sent.iter().map(completed).collect();
    if !SCHEMA.is_valid(&event) {
        return Some(REFUSED);
    }
    let runtime = ["accept", "ask", "defer", "refuse"]
        .iter()
        .position(|it| *it == get(&event, "recommended_route"))
        .unwrap();
    let (own, blocked) = own_route(&event);
    let route = own.max(runtime);
    Some(PublishedGateResult { route, passes: route == 0 && !blocked })
}

fn own_route(event: &Value) -> (usize, bool) {
    let evidence = event["evidence_refs"].as_array().unwrap();
    let (declared, support) = (rank(get(event, "authorization_state")), supported(evidence));
    let downgraded = declared >= 2 && !evidence.is_empty() && support < declared;
    let state = match (downgraded, declared) {
        (true, _) => support.max(1),
        (false, 0) => support,
        (false, _) => declared,
    };
    let bound = identity_bound(event, evidence);
    let category = if bound { "private_read" } else { get(event, "tool_category") };
    let (mut route, reached) = match (category, state) {
        ("public_read", _) => (0, true),
        ("private_read", 2..) | ("write", 4) => (0, true),
        ("private_read" | "write", 1..) => (1, false),
        _ => (2, false),
    };
    let mut blocked = downgraded || bound || !reached;
    let mut stop = |least: usize| {
        route = route.max(least);
        blocked = true;
    };
    if category != "public_read" && evidence.is_empty() {
        stop(2);
    }
    for it in evidence {
        judge(it, &mut stop);
    }
    (route, blocked)
}

fn judge(it: &Value, stop: &mut impl FnMut(usize)) {
    let names = ["source_id", "summary", "citation_url", "retrieval_url", "provenance"];
    let scanned = names.map(|name| get(it, name)).join(" ");
    let redaction = get(it, "redaction_status");
    if redaction == "sensitive"
        || SECRETS.is_match(&scanned)
        || redaction != "redacted" && PERSONAL.is_match(&scanned)
    {
        stop(3);
    }
    let retrieved = match get(it, "retrieved_at") {
        "" => get(&it["freshness"], "checked_at"),
        stated => stated,
    };
    // The only recent times in the generated events.
    let recent = ["", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00.5+02:00", "2026-11-22"];
    if get(&it["freshness"], "status") == "stale" || !recent.contains(&retrieved) {
        stop(2);
    }
    let summary = get(it, "summary").to_lowercase();
    let missing = "evidence missing|missing evidence|information is missing|record is missing|\
                   not available|unavailable|unknown|insufficient|no evidence";
    let contrary = "contradict|conflict|inconsistent|does not match|disputes|opposes";
    let without = get(it, "source_id").starts_with("counterfactual.missing_authorization")
        || get(it, "kind") == "system_state"
            && any(&summary, "missing authorization|removes verified authorization");
    let contradicts = it["contradicts"].as_array().is_some_and(|it| !it.is_empty());
    if any(&summary, missing) || any(&summary, contrary) || contradicts || without {
        stop(2);
    }
}

fn identity_bound(event: &Value, evidence: &[Value]) -> bool {
    if get(event, "tool_category") != "public_read" {
        return false;
    }
    let keys = "account_id account_key address card_id case_id client_id customer_id employee_id \
                email invoice_id loan_id order_id patient_id payment_id payroll_id phone profile_id \
                student_id subscription_id ticket_id transaction_id user_id";
    let arguments = event["proposed_arguments"].as_object().unwrap();
    if keys.split_whitespace().any(|key| arguments.contains_key(key)) {
        return true;
    }
    let name = get(event, "tool_name").to_lowercase();
    // As upstream serializes it. Non-ASCII characters are escaped, so a word may begin elsewhere.
    let json: String = serde_json::to_string(arguments)
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) })
        .collect();
    let mut text = [&name, get(event, "risk_domain"), get(event, "user_intent"), &json].join("\n");
    for it in evidence {
        for part in ["source_id", "kind", "summary"] {
            text = format!("{text}\n{}", get(it, part));
        }
    }
    let words = r"\b(search|find|list|lookup|catalog|availability|opening hours|public)\b";
    if Regex::new(words).unwrap().is_match(&text.to_lowercase()) {
        return false;
    }
    let parts: Vec<_> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let hints = "account|booking|cart|client|customer|invoice|order|profile|reservation|\
                 subscription|ticket|transaction|user";
    !parts.contains(&"search") && !parts.contains(&"list") && any(&name, hints)
}
