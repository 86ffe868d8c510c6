//! Events for property tests: valid ones with the words, numbers and times that matter, and the
//! same with one broken field.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub(crate) const ROUTES: [&str; 4] = ["accept", "ask", "defer", "refuse"];
const CATEGORIES: [&str; 4] = ["public_read", "private_read", "write", "unknown"];
const STATES: [&str; 5] = ["none", "user_claimed", "authenticated", "validated", "confirmed"];
const KINDS: [&str; 9] = [
    "user_message",
    "assistant_message",
    "tool_result",
    "policy",
    "auth_event",
    "approval",
    "system_state",
    "audit_record",
    "other",
];
const TOOLS: [&str; 9] = [
    "toolexec.run.python",
    "search_docs",
    "get_order",
    "list_users",
    "delete_database",
    "PayBill",
    "find-ticket",
    "calculate",
    "user.\u{e9}list",
];
const CLEAN: [&str; 10] = [
    "A note.",
    "The user confirmed it.",
    "explicitly confirm",
    "ownership",
    "validated",
    "allowed",
    "user claimed it",
    "public data",
    "find it",
    "TR-20260209-160501Z-python-stats",
];
/// Words that deny, report a gap, or leak.
const DENYING: [&str; 17] = [
    "User has NOT confirmed.",
    "Nobody is authenticated",
    "approval revoked",
    "missing authorization",
    "Removes verified authorization",
    "evidence missing",
    "unknown",
    "no conflict found",
    "does not match; confirmed",
    "opposes",
    "4111 1111 1111 1111",
    "123-45-6789",
    concat!("s", "k-abcdefghijkl-mnop"),
    concat!("AK", "IA0123456789ABCDEF"),
    concat!("pass", "word: hunter2hunter2"),
    "bob@example.org",
    "(555) 123-4567",
];
const TIMES: [&str; 5] = [
    "2026-11-20T10:00:00Z",
    "2026-11-20T10:00:00.5+02:00",
    "2020-01-01T00:00:00Z",
    "yesterday",
    "2026-11-22",
];

fn words(clean_only: bool) -> BoxedStrategy<&'static str> {
    if clean_only {
        select(&CLEAN[..]).boxed()
    } else {
        prop_oneof![4 => select(&CLEAN[..]), 1 => select(&DENYING[..])].boxed()
    }
}

/// Generates a reference. A clean one has no denial, gap or leak.
pub(crate) fn reference(clean: bool) -> impl Strategy<Value = Value> {
    let redaction: &[&str] = if clean {
        &["public", "redacted"]
    } else {
        &["public", "redacted", "sensitive", "unknown"]
    };
    let freshness: &[&str] =
        if clean { &["fresh"] } else { &["fresh", "fresh", "stale", "unknown"] };
    let times = if clean { &TIMES[..1] } else { &TIMES[..] };
    let sources = if clean {
        &["a", "b", "session.confirmed"][..]
    } else {
        &["a", "b", "session.confirmed", "counterfactual.missing_authorization.1"][..]
    };
    let typed = (
        (select(sources), proptest::option::of(select(&KINDS[..]))),
        proptest::option::of(select(
            &["verified", "runtime", "user_claimed", "unverified", "unknown"][..],
        )),
        proptest::option::of(select(redaction.to_vec())),
        proptest::option::of(words(clean)),
        proptest::option::of(select(freshness.to_vec())),
        proptest::option::weighted(0.3, select(times.to_vec())),
        proptest::option::weighted(0.1, Just(json!(["a"]))),
    );
    let typed = typed.prop_map(
        move |((source, kind), trust, redaction, summary, status, time, contradicts)| {
            let mut members = Map::new();
            members.insert("source_id".to_owned(), source.into());
            let texts = [
                ("kind", kind),
                ("trust_tier", trust),
                ("redaction_status", redaction),
                ("summary", summary),
                ("retrieved_at", time),
            ];
            for (name, text) in texts {
                members.extend(text.map(|text| (name.to_owned(), text.into())));
            }
            let status = status.map(|it| ("freshness".to_owned(), json!({ "status": it })));
            members.extend(status);
            let contradicts = contradicts.filter(|_| !clean);
            members.extend(contradicts.map(|it| ("contradicts".to_owned(), it)));
            Value::Object(members)
        },
    );
    prop_oneof![
        9 => typed,
        1 => select(&["TR-1", "user_confirmed", "x authenticated"][..]).prop_map(Value::from),
    ]
}

pub(crate) fn event() -> impl Strategy<Value = Value> {
    let arguments = select(vec![
        json!({}),
        json!({ "account_id": "redacted" }),
        json!({ "argv": ["python3", "list.py"], "inputs": {} }),
        json!({ "q": "\u{2014}find" }),
        json!({ "opening hours": 1.5 }),
    ]);
    (
        select(&TOOLS[..]),
        select(&CATEGORIES[..]),
        select(&STATES[..]),
        prop_oneof![
            proptest::collection::vec(reference(true), 0..3),
            proptest::collection::vec(reference(false), 0..4),
        ],
        select(&["research", "finance", "public_information", "security", "unknown"][..]),
        arguments,
        prop_oneof![Just("accept"), select(&ROUTES[..])],
        proptest::option::weighted(0.2, words(true)),
        any::<bool>(),
    )
        .prop_map(
            |(tool, category, state, mut evidence, domain, arguments, route, intent, approved)| {
                if approved {
                    let mut approval = json!({
                        "source_id": "a", "kind": "approval", "trust_tier": "verified",
                        "redaction_status": "redacted", "provenance": "approvals",
                        "freshness": { "status": "fresh" },
                    });
                    // With a summary that affirms nothing it supports only a declared state.
                    if intent.is_some() {
                        approval["summary"] = "A note.".into();
                    }
                    evidence.push(approval);
                }
                let mut event = json!({
                    "tool_name": tool, "tool_category": category, "authorization_state": state,
                    "evidence_refs": evidence, "risk_domain": domain,
                    "proposed_arguments": arguments, "recommended_route": route,
                });
                if let Some(intent) = intent {
                    event["user_intent"] = intent.into();
                }
                event
            },
        )
}

/// Generates values that almost no field accepts.
fn junk() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(5),
        json!(1.5),
        json!(true),
        json!(""),
        json!([]),
        json!({}),
        json!("bogus"),
        json!([1]),
        json!({ "status": "bogus", "zz": 1, "age_hours": "1" }),
        json!(["x", ""]),
    ])
}

/// Generates an event in which a field, its own or of its first reference, may be broken.
pub(crate) fn broken_event() -> impl Strategy<Value = Value> {
    let fields = [
        "tool_name",
        "tool_category",
        "authorization_state",
        "evidence_refs",
        "risk_domain",
        "proposed_arguments",
        "recommended_route",
        "schema_version",
        "authorization_subject",
        "request_id",
        "zz",
    ];
    let inner = [
        "source_id",
        "kind",
        "trust_tier",
        "freshness",
        "provenance",
        "supports",
        "contradicts",
        "citation_url",
        "zz",
    ];
    let change = (
        any::<bool>(),
        proptest::option::of(junk()),
        select(fields.to_vec()),
        select(inner.to_vec()),
    );
    (event(), proptest::collection::vec(change, 0..3)).prop_map(|(mut event, changes)| {
        for (inside, value, field, inner) in changes {
            let reference = event["evidence_refs"].get_mut(0).filter(|_| inside);
            let (members, name) = match reference.and_then(Value::as_object_mut) {
                Some(reference) => (reference, inner),
                None => (event.as_object_mut().unwrap(), field),
            };
            match value {
                Some(value) => members.insert(name.to_owned(), value),
                None => members.remove(name),
            };
        }
        event
    })
}
