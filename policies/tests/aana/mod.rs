//! Tests of the gate of the AANA Agent Action Contract v1: the published cases, measured results of
//! upstream, a model of its published algorithm, and properties of every event.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod algorithm;
mod bytes;
mod events;
mod ours;
mod properties;
mod published;
mod schema;
mod stricter;
mod unproved;

use model::UtcTime;
use policies::aana::{GateDecision, GateResult, Route, gate_pre_tool_call};
use serde_json::Value;

/// Returns the time of the measurement of upstream.
fn now() -> UtcTime {
    "2026-11-22T14:40:00Z".parse().unwrap()
}

fn gate(event: &Value) -> GateResult {
    let result = gate_pre_tool_call(event, now());
    let passes = result.gate_decision == GateDecision::Pass;
    assert_eq!(result.passes(), passes, "{event}");
    if passes {
        assert_eq!(result.recommended_action, Route::Accept, "{event}");
        assert!(result.hard_blockers.is_empty() && result.aana_route == Some(Route::Accept));
    }
    assert_eq!(result.aix.decision, result.recommended_action);
    assert_eq!(result.aix.hard_blockers, result.hard_blockers);
    result
}

/// Returns the strictness: passing is the least strict, accepted but blocked follows.
fn strictness(result: &GateResult) -> (bool, Route) {
    (!result.passes(), result.recommended_action)
}

fn as_json(result: &GateResult) -> Value {
    serde_json::to_value(result).unwrap()
}
