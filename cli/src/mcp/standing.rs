//! The tools `request_status` and `wait_for_result`: the state of a request according to `public/`
//! and `results/`. `approved/` is not read. Everything the daemon published is labelled as reported
//! by the daemon.

use std::time::Duration;

use model::{RequestId, ResultId};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use spool::{Step, WaitsSince, held_in, running_in, told_status, waiting_in};
use tokio::time::{Instant, sleep};

use super::arguments::{Id, WaitArguments};
use super::desk::Desk;
use super::fence::Fence;
use super::reading::open;
use super::recorded::{Recorded, recorded};
use crate::commands::look::results::request_of;
use crate::failure::Failure;

const LOOK_INTERVAL: Duration = Duration::from_millis(300);
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
        Held = "held": "promoted, and waiting for an answer, as the daemon reports",
        Waiting = "waiting": "promoted, and waiting for its turn, as the daemon reports",
        Drafted = "drafted": "a draft in drafts/; a person approves and promotes it, or has just done so",
        Unknown = "unknown": "no record, and no report of the daemon: never promoted, just claimed, or one of too many waiting requests to report",
    }
}

/// The state of a request.
#[derive(Clone, PartialEq, Eq)]
enum Stand {
    /// The request has a record.
    Recorded(Recorded),
    /// The daemon reports that it is working on the request.
    InFlight(Step, Value),
    /// The daemon reports that the request waits for an approval or permission.
    Held(Value),
    /// The daemon reports that the request is queued.
    Waiting(WaitsSince),
    /// `drafts/` contains a draft with this id.
    Drafted,
    /// No information about the request exists.
    Unknown,
}

impl Stand {
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

    fn json(&self, desk: &Desk, id: &RequestId) -> Value {
        let (mut result_id, mut told, mut reason) = (None, None, None);
        match self {
            Self::Recorded(record) => {
                result_id = Some(record.id.as_str());
                reason = record.has_reason.then(|| reason_of(desk, &record.id)).flatten();
            }
            Self::InFlight(_, said) | Self::Held(said) => told = Some(said.clone()),
            Self::Waiting(since) => told = Some(json!({ "since_utc": since.since_utc })),
            Self::Drafted | Self::Unknown => {}
        }
        json!({
            "request_id": id.as_str(),
            "state": self.as_str(),
            "meaning": self.described().1,
            "result_id": result_id,
            "reason": reason,
            "told": told,
            "verified": false,
        })
    }
}

/// Returns the state of a request. Reads the queue, then requests in flight, then records: a
/// request moves in that order, so one that moves meanwhile is still found.
fn look(desk: &Desk, id: &RequestId) -> Result<Stand, Failure> {
    let waiting = waiting_in(desk.spool());
    let mut in_flight = running_in(desk.spool());
    let mut held = held_in(desk.spool());
    let file = format!("{id}.md");
    let recorded = recorded(desk, id)?;
    // A refused request may be fixed and submitted again. Its old record is then not the end of it.
    let is_told = in_flight.contains_key(id.as_str())
        || held.contains_key(&file)
        || waiting.iter().any(|one| one.file == file);
    if let Some(recorded) = recorded.filter(|it| it.outcome != "refused" || !is_told) {
        return Ok(Stand::Recorded(recorded));
    }
    if let Some(running) = in_flight.remove(id.as_str()) {
        return Ok(Stand::InFlight(running.step, json!(running)));
    }
    if let Some(held) = held.remove(&file) {
        return Ok(Stand::Held(json!(held)));
    }
    if let Some(waits) = waiting.into_iter().find(|one| one.file == file) {
        return Ok(Stand::Waiting(waits));
    }
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let is_drafted = rustix::fs::statat(&desk.drafts, &file, flags).is_ok();
    Ok(if is_drafted { Stand::Drafted } else { Stand::Unknown })
}

/// Returns the reason why nothing ran, inside untrusted markers because it may quote the request.
/// `None` if the record may not be shown; `read_result` reports why.
fn reason_of(desk: &Desk, id: &ResultId) -> Option<String> {
    let reason = open(desk, id).ok()?.reason()?.to_owned();
    Some(Fence::new().ok()?.around("the reason in the record", reason.as_bytes()))
}

pub(super) fn status(desk: &Desk, asked: &Id) -> Result<Value, Failure> {
    let id = request_id(asked)?;
    let mut answer = look(desk, &id)?.json(desk, &id);
    answer["daemon"] = daemon(desk);
    Ok(answer)
}

/// Returns the status that the daemon published. Whether the daemon is alive cannot be determined
/// from here.
fn daemon(desk: &Desk) -> Value {
    match told_status(desk.spool()) {
        Ok(told) => json!({
            "state": told.state,
            "told_utc": told.at_utc,
            "admission_stopped": told.admission_stopped,
            "queue": told.counts,
            "policy": told.policy,
        }),
        Err(error) => json!({ "state": null, "not_told": error.to_string() }),
    }
}

fn request_id(asked: &Id) -> Result<RequestId, Failure> {
    match asked {
        Id::Request(id) => Ok(id.clone()),
        Id::Result(id) => {
            let request = request_of(id.as_str()).and_then(|request| request.parse().ok());
            request.ok_or_else(|| Failure::Said(format!("{id}: no request; help: give a TR-… id")))
        }
    }
}

/// Waits until the request has a record, the time is over, or the client cancels.
pub(super) async fn wait(
    desk: &Desk,
    asked: &WaitArguments,
    context: &RequestContext<RoleServer>,
) -> Result<Value, Failure> {
    let id = request_id(&asked.id)?;
    let longest = Duration::from_secs(asked.timeout_sec.min(WAIT_SEC_MAX));
    let begun = Instant::now();
    let mut told: Option<(Instant, Stand)> = None;
    loop {
        let looked = Instant::now();
        let stand = look(desk, &id)?;
        let pause = LOOK_INTERVAL.max(looked.elapsed() * PAUSE_FACTOR);
        let is_over = matches!(stand, Stand::Recorded(_)) || begun.elapsed() >= longest;
        let is_news = told.as_ref().is_none_or(|(at, last)| {
            last.as_str() != stand.as_str() || at.elapsed() >= PROGRESS_INTERVAL
        });
        if is_news || is_over {
            progress(context, &stand, begun.elapsed(), longest).await;
            told = Some((Instant::now(), stand.clone()));
        }
        if is_over {
            let mut answer = stand.json(desk, &id);
            answer["timed_out"] = (!matches!(stand, Stand::Recorded(_))).into();
            answer["waited_sec"] = begun.elapsed().as_secs().into();
            return Ok(answer);
        }
        tokio::select! {
            () = sleep(pause.min(longest.saturating_sub(begun.elapsed()))) => {}
            () = context.ct.cancelled() => {
                return Err(Failure::Said("the client cancelled the call".into()));
            }
        }
    }
}

/// Sends a progress notification, if the client asked for it.
async fn progress(
    context: &RequestContext<RoleServer>,
    stand: &Stand,
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
