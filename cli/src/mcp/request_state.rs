//! The state of a request from `public/`, `results/` and `drafts/`, not from `approved/`. Nothing
//! is remembered between two calls, so another server of the spool gives the same answer.

use model::{RequestId, ResultId, UtcTime};
use rustix::fs::{AtFlags, statat};
use serde_json::{Value, json};
use spool::{
    HeldRequest, RunningRequest, WaitingRequest, held_requests, running_requests, waiting_requests,
};

use super::reading::open;
use super::recorded_outcome::{RecordedOutcome, recorded_outcome};
use super::server_state::ServerState;
use super::untrusted_markers::UntrustedMarkers;
use crate::commands::inspect::results::never_ran;
use crate::failure::Failure;

model::closed_set! {
    /// The state of a request that is neither in flight nor recorded.
    enum IdleState {
        Held = "held": "submitted, and waiting for an answer, as the daemon reports",
        Waiting = "waiting": "submitted, and waiting for its turn, as the daemon reports",
        Drafted = "drafted": "a draft in drafts/; a person approves and submits it, or has just done so",
        Unknown = "unknown": "no record, and no report of the daemon: never submitted, just claimed, or one of too many waiting requests to report",
        Withdrawn = "withdrawn": "a draft that its agent took back; its inputs were removed",
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum McpRequestState {
    Recorded(RecordedOutcome),
    InFlight(RunningRequest),
    Held(HeldRequest),
    Waiting(WaitingRequest),
    Drafted,
    Withdrawn,
    Unknown,
}

impl McpRequestState {
    /// The state's name and its meaning.
    fn described(&self) -> (&str, &'static str) {
        let idle = match self {
            Self::Recorded(record) => {
                return (&record.outcome, "ended; read_result shows its record");
            }
            Self::InFlight(running) => {
                return (running.step.as_str(), "in progress, as the daemon reports");
            }
            Self::Held(_) => IdleState::Held,
            Self::Waiting(_) => IdleState::Waiting,
            Self::Drafted => IdleState::Drafted,
            Self::Withdrawn => IdleState::Withdrawn,
            Self::Unknown => IdleState::Unknown,
        };
        (idle.as_str(), idle.meaning())
    }

    pub(super) fn as_str(&self) -> &str {
        self.described().0
    }

    pub(super) fn meaning(&self) -> &'static str {
        self.described().1
    }

    /// Returns whether nothing more happens to the request unless a person acts.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Recorded(_) | Self::Withdrawn)
    }

    /// Returns the time since which the request is in this state; that of the draft if unknown.
    pub(super) fn since(&self, id: &RequestId) -> UtcTime {
        let published = match self {
            Self::Recorded(record) => return record.id.at(),
            Self::InFlight(running) => &running.step_since_utc,
            Self::Held(held) => &held.since_utc,
            Self::Waiting(waiting) => &waiting.since_utc,
            Self::Drafted | Self::Withdrawn | Self::Unknown => return id.date(),
        };
        published.parse().unwrap_or_else(|_| id.date())
    }

    pub(super) fn json(&self, state: &ServerState, id: &RequestId) -> Value {
        let (mut result_id, mut details, mut reason) = (None, None, None);
        match self {
            Self::Recorded(record) => {
                result_id = Some(record.id.as_str());
                reason = record.has_reason.then(|| reason_of(state, &record.id)).flatten();
            }
            Self::InFlight(running) => details = Some(json!(running)),
            Self::Held(held) => details = Some(json!(held)),
            Self::Waiting(since) => details = Some(json!({ "since_utc": since.since_utc })),
            Self::Drafted | Self::Withdrawn | Self::Unknown => {}
        }
        json!({
            "request_id": id.as_str(),
            "state": self.as_str(),
            "meaning": self.meaning(),
            "result_id": result_id,
            "reason": reason,
            "details": details,
            "verified": false,
        })
    }
}

/// Reads the queue, then requests in flight, then records: a request moves in that order, so one
/// that moves meanwhile is still found.
pub(super) fn request_state(
    state: &ServerState,
    id: &RequestId,
) -> Result<McpRequestState, Failure> {
    let waiting = waiting_requests(state.spool());
    let mut in_flight = running_requests(state.spool());
    let mut held = held_requests(state.spool());
    let file = format!("{id}.md");
    let recorded = recorded_outcome(state, id)?;
    // A request that never ran may be submitted again. Its old record is then not the end of it.
    let is_pending = in_flight.contains_key(id.as_str())
        || held.contains_key(&file)
        || waiting.iter().any(|one| one.file == file);
    if let Some(recorded) = recorded.filter(|it| !never_ran(&it.outcome) || !is_pending) {
        return Ok(McpRequestState::Recorded(recorded));
    }
    if let Some(running) = in_flight.remove(id.as_str()) {
        return Ok(McpRequestState::InFlight(running));
    }
    if let Some(held) = held.remove(&file) {
        return Ok(McpRequestState::Held(held));
    }
    if let Some(waits) = waiting.into_iter().find(|one| one.file == file) {
        return Ok(McpRequestState::Waiting(waits));
    }
    Ok(if is_in_drafts(state, &file) {
        McpRequestState::Drafted
    } else if is_in_drafts(state, &withdrawn_name(id)) {
        McpRequestState::Withdrawn
    } else {
        McpRequestState::Unknown
    })
}

/// Returns the name of a withdrawn draft in `drafts/`. The daemon takes only names with `.md`.
pub(super) fn withdrawn_name(id: &RequestId) -> String {
    format!("{id}.withdrawn")
}

pub(super) fn is_in_drafts(state: &ServerState, name: &str) -> bool {
    statat(&state.drafts, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// Returns the reason why nothing ran, inside untrusted markers because it may quote the request.
/// `None` if the record may not be shown; `read_result` reports why.
fn reason_of(state: &ServerState, id: &ResultId) -> Option<String> {
    let reason = open(state, id).ok()?.reason()?.to_owned();
    Some(UntrustedMarkers::new().ok()?.wrap("the reason in the record", reason.as_bytes()))
}
