//! The AANA Agent Action Contract v1 (seed 001): the event that an agent's runtime emits before a
//! tool call, and the gate that answers accept, ask, defer or refuse. It must never be looser than
//! the public v1 gate on any event. It differs on purpose in what counts as proof: neither wording
//! nor an unverified reference lifts a state.
//!
//! `docs/gate.md` describes the contract for users. [`Event`] is the event of a tool request.

mod authority;
mod call;
mod event;
mod integrity;
mod leak;
mod model;
mod quote;
mod result;
mod risk_hints;
mod route;
mod schema;
mod timestamp;
mod vocabulary;
mod wording;

use ::model::UtcTime;
use serde_json::Value;

pub use self::model::ValidationError;
pub use authority::AuthorizationReport;
pub use event::{Event, Fact, ProposedRun};
pub use integrity::{EvidenceIntegrity, Issue, IssueLevel};
pub use result::{Aix, AixComponents, GateResult};
pub use vocabulary::{
    AuthorizationState, EvidenceKind, Freshness, GateDecision, RedactionStatus, RiskDomain, Route,
    SubjectType, ToolCategory, TrustTier,
};

use call::Call;
use integrity::ReferenceFindings;

/// The maximum size of an event in bytes.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// The schema of events (JSON Schema, draft 2020-12). It describes the form that
/// [`gate_pre_tool_call`] requires, with one exception: a typed reference may lift a state that is
/// too low for the route.
pub const EVENT_SCHEMA: &str = include_str!("event.schema.json");

/// Reads an event and judges it. The result is a refusal if the bytes are not JSON, are more than
/// [`EVENT_BYTES_MAX`], repeat a name, or contain a number that readers round.
pub fn gate_bytes(event: &[u8], now: UtcTime) -> GateResult {
    match validator::read_json(event, EVENT_BYTES_MAX) {
        Ok(event) => gate_pre_tool_call(&event, now),
        Err(error) => GateResult::unreadable(format!("the event cannot be read: {error}")),
    }
}

/// Judges an event. It is a pure function of the event and of the present time, from which the age
/// of evidence is computed. An event that violates its schema is refused.
pub fn gate_pre_tool_call(event: &Value, now: UtcTime) -> GateResult {
    let name = event.get("tool_name").and_then(Value::as_str);
    let errors = schema::errors(event);
    if !errors.is_empty() {
        let forbidden = schema::forbidden(
            event.get("tool_category").and_then(Value::as_str).and_then(ToolCategory::named),
            event.get("recommended_route"),
            event.get("authorization_state"),
        );
        let errors = schema::merged(errors, forbidden);
        return GateResult::invalid_event(name.map(str::to_owned), errors, None);
    }
    // The event is valid by its schema, so it can be read. A failure must not pass it either.
    let Some(mut call) = Call::read(event) else {
        return GateResult::unreadable("the event's schema and its reader differ");
    };
    let examined: Vec<ReferenceFindings> =
        call.references.iter().map(|it| ReferenceFindings::of(it, now)).collect();
    let (authority, lifted) = authority::judge(&mut call, &examined);
    let (state, route) = (call.declared.as_str().into(), call.route.as_str().into());
    let errors = schema::forbidden(Some(call.category), Some(&route), Some(&state));
    if !errors.is_empty() {
        let reason = authority.not_lifted.map(authority::LiftObjection::as_str);
        return GateResult::invalid_event(name.map(str::to_owned), errors, reason);
    }
    GateResult::of(route::judge(call, &examined, authority, lifted))
}
