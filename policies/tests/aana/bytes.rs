//! Tests of bytes that are not an event. They are refused by name, never cause a panic, and never
//! produce a message as long as the input.

use policies::aana::{EVENT_BYTES_MAX, GateResult, Route, gate_bytes, gate_pre_tool_call};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{as_json, now};

#[track_caller]
fn refused(result: &GateResult) {
    assert_eq!(result.recommended_action, Route::Refuse);
    assert_eq!(result.hard_blockers, ["schema_validation_failed"]);
    assert_eq!(result.reasons, ["event_failed_schema_validation"]);
    assert!(!result.passes() && !result.validation_errors.is_empty());
    for error in &result.validation_errors {
        assert!(error.message.len() < 2000 && !error.message.contains('\u{1b}'), "{error:?}");
    }
}

const GOOD: &str = r#"{"tool_name":"search_docs","tool_category":"public_read",
    "authorization_state":"none","evidence_refs":[],"risk_domain":"research",
    "proposed_arguments":{},"recommended_route":"accept"}"#;

fn changed(from: &str, to: &str) -> GateResult {
    let text = GOOD.replace(from, to);
    assert_ne!(text, GOOD);
    gate_bytes(text.as_bytes(), now())
}

#[test]
fn ambiguous_json_is_refused() {
    assert!(gate_bytes(GOOD.as_bytes(), now()).passes());
    let arguments = |inner: &str| changed("{}", inner);
    refused(&changed("\"research\"", "\"research\",\"risk_domain\":\"research\""));
    refused(&arguments(r#"{"a":{"b":1,"b":2}}"#));
    refused(&arguments(r#"{"a":9007199254740992}"#));
    refused(&arguments(r#"{"a":1e400}"#));
    refused(&arguments(&format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200))));
    refused(&changed("}", ""));
    refused(&changed("\"accept\"}", "\"accept\"}{}"));
    refused(&changed("search_docs", "\\ud800"));
    refused(&gate_bytes(b"", now()));
    refused(&gate_bytes(b"\xff\xfe", now()));
    refused(&gate_bytes(&GOOD.as_bytes().replace(b"docs", b"doc\xff"), now()));
    assert!(arguments(r#"{"a":9007199254740991}"#).passes());
}

trait JsonReplacement {
    fn replace(&self, from: &[u8], to: &[u8]) -> Vec<u8>;
}

impl JsonReplacement for [u8] {
    fn replace(&self, from: &[u8], to: &[u8]) -> Vec<u8> {
        let at = self.windows(from.len()).position(|it| it == from).unwrap();
        [&self[..at], to, &self[at + from.len()..]].concat()
    }
}

#[test]
fn an_event_has_at_most_a_mebibyte() {
    let sized = |bytes: usize| GOOD.replace("{}", &format!("{{\"a\":\"{}\"}}", "x".repeat(bytes)));
    let payload = EVENT_BYTES_MAX - sized(0).len();
    assert!(gate_bytes(sized(payload).as_bytes(), now()).passes());
    let over = gate_bytes(sized(payload + 1).as_bytes(), now());
    refused(&over);
    assert!(over.validation_errors[0].message.contains("1048576 bytes"), "{over:?}");
}

#[test]
fn error_messages_are_short() {
    let long = "\u{1b}[31m".repeat(50_000);
    let event = json!({ "tool_name": [&long], "tool_category": long, long.clone(): 1, "x": 2 });
    refused(&gate_pre_tool_call(&event, now()));
    let many: Vec<Value> = (0..1000).map(|it| json!({ "zz": it })).collect();
    let result = gate_pre_tool_call(&json!({ "evidence_refs": many }), now());
    refused(&result);
    assert!(result.validation_errors.len() <= 64);
}

#[test]
fn invalid_event_gets_a_complete_result() {
    let output = as_json(&gate_bytes(b"[]", now()));
    for name in [
        "gate_decision",
        "recommended_action",
        "aana_route",
        "runtime_recommended_route",
        "aix",
        "hard_blockers",
        "reasons",
        "validation_errors",
        "contract_version",
        "tool_name",
    ] {
        assert!(output.get(name).is_some(), "{name}");
    }
    assert_eq!(output["aix"]["score"], 0.15);
    assert_eq!(output["validation_errors"][0]["message"], "[] is not of type 'object'");
}

fn any_json() -> impl Strategy<Value = Value> {
    let names = ["tool_name", "evidence_refs", "source_id", "freshness", "a"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let name = proptest::sample::select(names.to_vec());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(name.prop_map(str::to_owned), inner, 0..6)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn other_json_is_refused(value in any_json()) {
        refused(&gate_pre_tool_call(&value, now()));
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        refused(&gate_bytes(&bytes, now()));
    }

    #[test]
    fn any_texts_of_evidence_are_answered(source in ".{1,40}", summary in ".{0,80}", time in ".{0,30}") {
        let event = json!({
            "tool_name": "x", "tool_category": "write", "authorization_state": "confirmed",
            "evidence_refs": [
                { "source_id": source, "summary": summary, "retrieved_at": time, "kind": "approval" },
            ],
            "risk_domain": "research", "proposed_arguments": {}, "recommended_route": "accept",
        });
        let result = gate_pre_tool_call(&event, now());
        prop_assert!(result.validation_errors.is_empty());
    }
}
