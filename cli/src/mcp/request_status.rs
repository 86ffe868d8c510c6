//! The tools `request_status` and `wait_for_result`: the state of a request according to `public/`
//! and `results/`. `approved/` is not read. Everything the daemon published is labelled as reported
//! by the daemon.

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
/// The pause after a poll, as a multiple of its duration. All waits together leave the server half
/// of its time.
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

/// The state of a request.
#[derive(Clone, PartialEq, Eq)]
enum McpRequestState {
    /// The request has a record.
    Recorded(RecordedOutcome),
    /// The daemon reports that it is working on the request.
    InFlight(RunningStep, Value),
    /// The daemon reports that the request waits for an approval or permission.
    Held(Value),
    /// The daemon reports that the request is queued.
    Waiting(WaitingRequest),
    /// `drafts/` contains a draft with this id.
    Drafted,
    /// No information about the request exists.
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

    fn json(&self, desk: &ServerState, id: &RequestId) -> Value {
        let (mut result_id, mut details, mut reason) = (None, None, None);
        match self {
            Self::Recorded(record) => {
                result_id = Some(record.id.as_str());
                reason = record.has_reason.then(|| reason_of(desk, &record.id)).flatten();
            }
            Self::InFlight(_, said) | Self::Held(said) => details = Some(said.clone()),
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

/// Returns the state of a request. Reads the queue, then requests in flight, then records: a
/// request moves in that order, so one that moves meanwhile is still found.
fn request_state(desk: &ServerState, id: &RequestId) -> Result<McpRequestState, Failure> {
    let waiting = waiting_requests(desk.spool());
    let mut in_flight = running_requests(desk.spool());
    let mut held = held_requests(desk.spool());
    let file = format!("{id}.md");
    let recorded = recorded_outcome(desk, id)?;
    // A refused request may be fixed and submitted again. Its old record is then not the end of it.
    let is_told = in_flight.contains_key(id.as_str())
        || held.contains_key(&file)
        || waiting.iter().any(|one| one.file == file);
    if let Some(recorded) = recorded.filter(|it| it.outcome != "refused" || !is_told) {
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
    let is_drafted = rustix::fs::statat(&desk.drafts, &file, flags).is_ok();
    Ok(if is_drafted { McpRequestState::Drafted } else { McpRequestState::Unknown })
}

/// Returns the reason why nothing ran, inside untrusted markers because it may quote the request.
/// `None` if the record may not be shown; `read_result` reports why.
fn reason_of(desk: &ServerState, id: &ResultId) -> Option<String> {
    let reason = open(desk, id).ok()?.reason()?.to_owned();
    Some(UntrustedMarkers::new().ok()?.wrap("the reason in the record", reason.as_bytes()))
}

pub(super) fn status(desk: &ServerState, asked: &AnyId) -> Result<Value, Failure> {
    let id = request_id(asked)?;
    let mut answer = request_state(desk, &id)?.json(desk, &id);
    answer["daemon"] = daemon(desk);
    Ok(answer)
}

/// Returns the status that the daemon published. Whether the daemon is alive cannot be determined
/// from here.
fn daemon(desk: &ServerState) -> Value {
    match published_status(desk.spool()) {
        Ok(told) => json!({
            "state": told.state,
            "at_utc": told.at_utc,
            "admission_stopped": told.admission_stopped,
            "queue": told.counts,
            "policy": told.policy,
        }),
        Err(error) => json!({ "state": null, "status_error": error.to_string() }),
    }
}

fn request_id(asked: &AnyId) -> Result<RequestId, Failure> {
    match asked {
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
    desk: &ServerState,
    asked: &WaitArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Failure> {
    let id = request_id(&asked.id)?;
    let longest = Duration::from_secs(asked.timeout_sec.min(WAIT_SEC_MAX));
    let begun = Instant::now();
    let mut told: Option<(Instant, McpRequestState)> = None;
    loop {
        let looked = Instant::now();
        let stand = request_state(desk, &id)?;
        let pause = POLL_INTERVAL.max(looked.elapsed() * PAUSE_FACTOR);
        let is_over = matches!(stand, McpRequestState::Recorded(_)) || begun.elapsed() >= longest;
        let is_news = told.as_ref().is_none_or(|(at, last)| {
            last.as_str() != stand.as_str() || at.elapsed() >= PROGRESS_INTERVAL
        });
        if is_news || is_over {
            progress(context, &stand, begun.elapsed(), longest).await;
            details = Some((Instant::now(), stand.clone()));
        }
        if is_over {
            let mut answer = stand.json(desk, &id);
            answer["timed_out"] = (!matches!(stand, McpRequestState::Recorded(_))).into();
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
    stand: &McpRequestState,
    elapsed: Duration,
    longest: Duration,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let message = format!("{} after {} s", stand.as_str(), elapsed.as_secs());
    let told = ProgressNotificationParam::new(token, elapsed.as_secs_f64())
        .with_total(longest.as_secs_f64())
        .with_message(message);
    if let Err(error) = context.peer.notify_progress(told).await {
        // The answer will fail as well and reports the error itself.
        tracing::debug!("progress: {error}");
    }
}
