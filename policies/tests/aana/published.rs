//! Tests with upstream's published cases and with measured results of its gate for further events.
//! Results are equal except for named differences.

use policies::aana::{GateDecision, Route};
use serde_json::Value;

use super::{as_json, gate};

const CASES: &str = include_str!("contract_cases.json");
const EXAMPLES: &str = include_str!("sdk_examples.json");
const MEASURED: &str = include_str!("measured.jsonl");

fn route(word: &Value) -> Route {
    // Upstream names no route for an invalid event; refuse is the strictest.
    word.as_str().and_then(Route::named).unwrap_or(Route::Refuse)
}

#[test]
fn all_six_published_cases_have_the_published_route() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let result = gate(&case["event"]);
        assert_eq!(result.recommended_action, route(&case["expected_route"]), "{case}");
        let passes = case["expected_route"] == "accept";
        assert_eq!(result.passes(), passes, "{case}");
        // The sentence about the missing authentication lifts upstream's own route to ask.
        let lowered = case["name"] == "unsafe_write_refuse_no_auth";
        let reported =
            result.reasons.iter().any(|it| it == "authorization_state_not_lifted_from_wording");
        assert_eq!(reported, lowered, "{case}");
    }
}

#[test]
fn published_examples_match_upstream() {
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap();
    let examples = examples["examples"].as_array().unwrap();
    let output: Vec<Value> = examples.iter().map(|it| as_json(&gate(&it["event"]))).collect();
    assert_eq!(output.len(), 3);
    let fields = |result: &Value| {
        ["gate_decision", "recommended_action", "aana_route", "hard_blockers", "reasons"]
            .map(|name| result[name].clone())
    };
    let fresh = "evidence_warning:missing_freshness_timestamp";
    let expected = serde_json::json!([
        ["pass", "accept", "accept", [], ["public_read_allowed_without_identity_auth"]],
        ["pass", "accept", "accept", [], ["private_read_has_authenticated_context", fresh]],
        [
            "fail",
            "defer",
            "ask",
            [
                "high_risk_write_missing_explicit_confirmation",
                "write_missing_explicit_confirmation",
                "write_missing_validation_or_confirmation",
            ],
            [
                "high_risk_write_requires_explicit_confirmation",
                fresh,
                "runtime_recommended_stricter_route:defer",
            ],
        ],
    ]);
    for (result, expected) in output.iter().zip(expected.as_array().unwrap()) {
        assert_eq!(fields(result).as_slice(), expected.as_array().unwrap().as_slice());
    }
    assert_eq!(output[0]["aix"]["score"], 0.95);
    assert_eq!(
        output[2]["aix"]["components"],
        serde_json::json!({"P": 0.45, "F": 0.75, "C": 0.45})
    );
}

/// Reasons that only our gate gives. A result with one of them may differ.
const OURS: [&str; 5] = [
    "authorization_state_not_lifted_from_wording",
    "authorization_state_not_lifted_from_denial",
    "authorization_state_not_lifted_from_unverified_evidence",
    "evidence_denies_authorization",
    "public_read_without_evidence",
];

/// Returns whether a reference states an age above its own maximum. Upstream reads neither.
fn is_older_than_it_may_be(event: &Value) -> bool {
    let hours = |reference: &Value, name: &str| reference["freshness"][name].as_f64();
    let references = event["evidence_refs"].as_array();
    references.into_iter().flatten().any(|it| hours(it, "age_hours") > hours(it, "max_age_hours"))
}

#[test]
fn measured_results_match_and_are_never_looser() {
    let (mut equal, mut differ) = (0, 0);
    for line in MEASURED.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (event, upstream) = (&row["event"], &row["upstream"]);
        let result = gate(event);
        let output = as_json(&result);
        assert!(result.recommended_action >= route(&upstream["recommended_action"]), "{row}");
        assert!(
            result.gate_decision == GateDecision::Fail || upstream["gate_decision"] == "pass",
            "{row}"
        );
        let own = result.aana_route.unwrap_or(Route::Refuse);
        assert!(own >= route(&upstream["aana_route"]), "{row}");
        let reason = result.reasons.iter().any(|it| OURS.contains(&it.as_str()));
        // A public read that states a state without evidence.
        let bare = result.evidence_ref_count == 0
            && result.authorization_report.as_ref().is_some_and(|it| it.downgraded);
        let only_ours = reason || bare || is_older_than_it_may_be(event);
        let no_event = !result.validation_errors.is_empty();
        if upstream["validation_errors"].is_array() {
            // Every error of upstream is one of ours, with the same wording.
            for error in upstream["validation_errors"].as_array().unwrap() {
                let ours = output["validation_errors"].as_array().unwrap();
                assert!(ours.contains(error), "{error}\n{output}\n{event}");
            }
            equal += 1;
        } else if only_ours || no_event {
            differ += 1;
        } else {
            for name in upstream.as_object().unwrap().keys() {
                assert_eq!(output[name], upstream[name], "{name} of {event}");
            }
            equal += 1;
        }
    }
    assert_eq!((equal, differ), (112, 58), "as many as when they were measured");
}
