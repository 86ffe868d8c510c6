//! Tests of each case in which the gate is stricter than upstream: as data with both results, and
//! as a line of docs/gate.md.

use std::fs;
use std::path::Path;

use policies::aana::Route;
use serde_json::{Value, json};

use super::{as_json, gate};

const STRICTER: &str = include_str!("stricter.json");

fn cases() -> Vec<Value> {
    serde_json::from_str(STRICTER).unwrap()
}

#[test]
fn every_case_matches_the_table() {
    let cases = cases();
    assert!(cases.len() >= 20);
    for case in &cases {
        let result = gate(&case["event"]);
        let output = as_json(&result);
        for (name, expected) in case["here"].as_object().unwrap() {
            assert_eq!(&output[name], expected, "{name} of {}", case["case"]);
        }
        let upstream = |name: &str| case["upstream"][name].as_str().unwrap_or("refuse");
        let upstream_route = Route::named(upstream("recommended_action")).unwrap();
        let stricter = result.recommended_action > upstream_route
            || !result.passes() && upstream("gate_decision") == "pass";
        assert!(stricter, "{} is no stricter here", case["case"]);
    }
}

#[test]
fn the_page_has_every_case() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gate.md");
    let page = fs::read_to_string(path).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let answer = |output: &Value| {
        format!("`{}`, {}", word(&output["recommended_action"]), word(&output["gate_decision"]))
    };
    for case in cases() {
        let (upstream, here) = (answer(&case["upstream"]), answer(&case["here"]));
        let row =
            format!("| {} | {upstream} | {here} | {} |", word(&case["case"]), word(&case["why"]));
        assert!(page.contains(&row), "docs/gate.md lacks the line\n{row}");
    }
}

#[test]
fn too_many_references_are_refused() {
    let event = |count: usize| {
        json!({
            "tool_name": "search_docs", "tool_category": "public_read",
            "authorization_state": "none", "evidence_refs": vec!["s"; count],
            "risk_domain": "research", "proposed_arguments": {}, "recommended_route": "accept",
        })
    };
    assert!(gate(&event(1000)).passes());
    let refused = gate(&event(1001));
    assert_eq!(refused.recommended_action, Route::Refuse);
    assert_eq!(refused.validation_errors[0].path, "evidence_refs");
    assert!(refused.validation_errors[0].message.len() < 300);
}

#[test]
fn a_public_read_without_evidence_is_accepted_and_says_so() {
    let event = json!({
        "tool_name": "search_docs", "tool_category": "public_read", "authorization_state": "none",
        "evidence_refs": [], "risk_domain": "research",
        "proposed_arguments": { "query": "Agent Action Contract v1" }, "recommended_route": "accept",
    });
    let result = gate(&event);
    assert!(result.passes());
    assert_eq!(
        result.reasons,
        ["public_read_allowed_without_identity_auth", "public_read_without_evidence"]
    );
}
