//! Fuzzes the AANA gate with arbitrary bytes, and with an event made of arbitrary texts. It must
//! never panic, pass an invalid event, or return a contradictory result.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::UtcTime;
use policies::aana::{GateDecision, GateResult, Route, gate_bytes, gate_pre_tool_call};
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    let now = UtcTime::from_unix(1_800_000_000);
    assert_consistent(&gate_bytes(bytes, now));
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.split('\n');
    let mut part = || parts.next().unwrap_or("x");
    let event = json!({
        "tool_name": part(), "tool_category": "write", "authorization_state": "confirmed",
        "evidence_refs": [{
            "source_id": part(), "kind": "approval", "summary": part(), "retrieved_at": part(),
            "redaction_status": "public", "trust_tier": "verified", "citation_url": part(),
        }],
        "risk_domain": "research", "proposed_arguments": { part(): part() },
        "recommended_route": "accept",
    });
    assert_consistent(&gate_pre_tool_call(&event, now));
});

fn assert_consistent(result: &GateResult) {
    let good = result.recommended_action == Route::Accept
        && result.aana_route == Some(Route::Accept)
        && result.hard_blockers.is_empty()
        && result.validation_errors.is_empty();
    assert_eq!(result.passes(), good);
    assert_eq!(result.gate_decision == GateDecision::Pass, good);
    if !result.validation_errors.is_empty() {
        assert_eq!(result.recommended_action, Route::Refuse);
        assert!(result.validation_errors.iter().all(|it| it.message.len() < 2000));
    }
}
