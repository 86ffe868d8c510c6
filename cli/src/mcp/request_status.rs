//! The tools `request_status` and `wait_for_result`: the state of a request from `public/` and
//! `results/`, not from `approved/`. Facts that the daemon published are labelled as its report.

use std::time::Duration;

use model::{RequestId, ResultId};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use spool::{
    RunningStep, WaitingRequest, held_requests, published_status, running_requests,
    waiting_requests,
};
use tokio::time::{Instant, sleep};

use super::arguments::{AnyId, WaitArguments};
use super::reading::open;
use super::recorded_outcome::{RecordedOutcome, recorded_outcome};
use super::server_state::ServerState;
use super::untrusted_markers::UntrustedMarkers;
use crate::commands::inspect::results::request_of;
use crate::failure::Failure;

const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Limit of simultaneous waits per server.
pub(super) const WAITS_MAX: usize = 8;
/// The pause after a poll, as a multiple of its duration. All waits leave half of the time free.
const PAUSE_FACTOR: u32 = 2 * 8;
/// Interval of progress messages while the state stays the same.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
const WAIT_SEC_MAX: u64 = 600;

model::closed_set! {
    /// The state of a request that is neither in flight nor recorded.
    enum IdleState {
        Held = "held": "submitted, and waiting for an answer, as the daemon reports",
        Waiting = "waiting": "submitted, and waiting for its turn, as the daemon reports",
        Drafted = "drafted": "a draft in drafts/; a person approves and submits it, or has just done so",
        Unknown = "unknown": "no record, and no report of the daemon: never submitted, just claimed, or one of too many waiting requests to report",
    }
}

#[derive(Clone, PartialEq, Eq)]
enum McpRequestState {
    Recorded(RecordedOutcome),
    InFlight(RunningStep, Value),
    Held(Value),
    Waiting(WaitingRequest),
    Drafted,
    Unknown,
}

impl McpRequestState {
    /// The state's name and its meaning.
    fn described(&self) -> (&str, &'static str) {
        let idle = match self {
            Self::Recorded(record) => {
                return (&record.outcome, "ended; read_result shows its record");
            }
            Self::InFlight(step, _) => {
                return (step.as_str(), "in progress, as the daemon reports");
            }
            Self::Held(_) => IdleState::Held,
            Self::Waiting(_) => IdleState::Waiting,
            Self::Drafted => IdleState::Drafted,
            Self::Unknown => IdleState::Unknown,
        };
        (idle.as_str(), idle.meaning())
    }

    fn as_str(&self) -> &str {
        self.described().0
    }

    fn json(&self, state: &ServerState, id: &RequestId) -> Value {
        let (mut result_id, mut details, mut reason) = (None, None, None);
        match self {
            Self::Recorded(record) => {
                result_id = Some(record.id.as_str());
                reason = record.has_reason.then(|| reason_of(state, &record.id)).flatten();
            }
            Self::InFlight(_, report) | Self::Held(report) => details = Some(report.clone()),
            Self::Waiting(since) => details = Some(json!({ "since_utc": since.since_utc })),
            Self::Drafted | Self::Unknown => {}
        }
        json!({
            "request_id": id.as_str(),
            "state": self.as_str(),
            "meaning": self.described().1,
            "result_id": result_id,
            "reason": reason,
            "details": details,
            "verified": false,
        })
    }
}

/// Reads the queue, then requests in flight, then records: a request moves in that order, so one
/// that moves meanwhile is still found.
fn request_state(state: &ServerState, id: &RequestId) -> Result<McpRequestState, Failure> {
    let waiting = waiting_requests(state.spool());
    let mut in_flight = running_requests(state.spool());
    let mut held = held_requests(state.spool());
    let file = format!("{id}.md");
    let recorded = recorded_outcome(state, id)?;
    // A refused request may be fixed and submitted again. Its old record is then not the end of it.
    let is_pending = in_flight.contains_key(id.as_str())
        || held.contains_key(&file)
        || waiting.iter().any(|one| one.file == file);
    if let Some(recorded) = recorded.filter(|it| it.outcome != "refused" || !is_pending) {
        return Ok(McpRequestState::Recorded(recorded));
    }
    if let Some(running) = in_flight.remove(id.as_str()) {
        return Ok(McpRequestState::InFlight(running.step, json!(running)));
    }
    if let Some(held) = held.remove(&file) {
        return Ok(McpRequestState::Held(json!(held)));
    }
    if let Some(waits) = waiting.into_iter().find(|one| one.file == file) {
        return Ok(McpRequestState::Waiting(waits));
    }
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let is_drafted = rustix::fs::statat(&state.drafts, &file, flags).is_ok();
    Ok(if is_drafted { McpRequestState::Drafted } else { McpRequestState::Unknown })
}

/// Returns the reason why nothing ran, inside untrusted markers because it may quote the request.
/// `None` if the record may not be shown; `read_result` reports why.
fn reason_of(state: &ServerState, id: &ResultId) -> Option<String> {
    let reason = open(state, id).ok()?.reason()?.to_owned();
    Some(UntrustedMarkers::new().ok()?.wrap("the reason in the record", reason.as_bytes()))
}

pub(super) fn status(state: &ServerState, any_id: &AnyId) -> Result<Value, Failure> {
    let id = request_id(any_id)?;
    let mut answer = request_state(state, &id)?.json(state, &id);
    answer["daemon"] = daemon(state);
    Ok(answer)
}

/// Returns the status that the daemon published. The daemon may have died since.
fn daemon(state: &ServerState) -> Value {
    match published_status(state.spool()) {
        Ok(status) => json!({
            "state": status.state,
            "at_utc": status.at_utc,
            "admission_stopped": status.admission_stopped,
            "queue": status.counts,
            "policy": status.policy,
        }),
        Err(error) => json!({ "state": null, "status_error": error.to_string() }),
    }
}

fn request_id(any_id: &AnyId) -> Result<RequestId, Failure> {
    match any_id {
        AnyId::Request(id) => Ok(id.clone()),
        AnyId::Result(id) => {
            let request = request_of(id.as_str()).and_then(|request| request.parse().ok());
            request
                .ok_or_else(|| Failure::Message(format!("{id}: no request; help: give a TR-… id")))
        }
    }
}

/// Waits until the request has a record, the time is over, or the client cancels.
pub(super) async fn wait(
    state: &ServerState,
    arguments: &WaitArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Failure> {
    let id = request_id(&arguments.id)?;
    let longest = Duration::from_secs(arguments.timeout_sec.min(WAIT_SEC_MAX));
    let begun = Instant::now();
    let mut reported: Option<(Instant, McpRequestState)> = None;
    loop {
        let looked = Instant::now();
        let current = request_state(state, &id)?;
        let pause = POLL_INTERVAL.max(looked.elapsed() * PAUSE_FACTOR);
        let is_over = matches!(current, McpRequestState::Recorded(_)) || begun.elapsed() >= longest;
        let is_news = reported.as_ref().is_none_or(|(at, last)| {
            last.as_str() != current.as_str() || at.elapsed() >= PROGRESS_INTERVAL
        });
        if is_news || is_over {
            progress(context, &current, begun.elapsed(), longest).await;
            reported = Some((Instant::now(), current.clone()));
        }
        if is_over {
            let mut answer = current.json(state, &id);
            answer["timed_out"] = (!matches!(current, McpRequestState::Recorded(_))).into();
            answer["waited_sec"] = begun.elapsed().as_secs().into();
            return Ok(answer);
        }
        tokio::select! {
            () = sleep(pause.min(longest.saturating_sub(begun.elapsed()))) => {}
            () = context.ct.cancelled() => {
                return Err(Failure::Message("the client cancelled the call".into()));
            }
        }
    }
}

/// Sends a progress notification, if the client asked for it.
async fn progress(
    context: &RequestContext<RoleServer>,
    current: &McpRequestState,
    elapsed: Duration,
    longest: Duration,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let message = format!("{} after {} s", current.as_str(), elapsed.as_secs());
    let notification = ProgressNotificationParam::new(token, elapsed.as_secs_f64())
        .with_total(longest.as_secs_f64())
        .with_message(message);
    if let Err(error) = context.peer.notify_progress(notification).await {
        // The answer will fail as well and reports the error itself.
        tracing::debug!("progress: {error}");
    }
}
