//! The tools `request_status` and `wait_for_result`: where a request is, as far as `public/` and `results/`
//! say. What waits in `approved/` is not looked at, and what the daemon told is told as its word.

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
/// At once, of one server.
pub(super) const WAITS_MAX: usize = 8;
/// So many times as long as a look took nobody looks again: all waits together leave the server half of
/// its time.
const PAUSE_FACTOR: u32 = 2 * 8;
/// While nothing changes, this often it is said that it is still waited for.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
const WAIT_SEC_MAX: u64 = 600;

/// Where a request is.
#[derive(Clone, PartialEq, Eq)]
enum Stand {
    /// It has a record.
    Recorded(Recorded),
    /// In the daemon's hands, by its word.
    InFlight(Step, Value),
    /// It waits for somebody's answer, by the daemon's word.
    Held(Value),
    /// It waits for its turn, by the daemon's word.
    Waiting(WaitsSince),
    /// A draft of this name lies in `drafts/`.
    Drafted,
    /// Nothing says.
    Unknown,
}

impl Stand {
    fn as_str(&self) -> &str {
        match self {
            Self::Recorded(record) => &record.outcome,
            Self::InFlight(step, _) => step.as_str(),
            Self::Held(_) => "held",
            Self::Waiting(_) => "waiting",
            Self::Drafted => "drafted",
            Self::Unknown => "unknown",
        }
    }

    fn meaning(&self) -> &'static str {
        match self {
            Self::Recorded(_) => "it has ended; read_result shows its record",
            Self::InFlight(..) => "the daemon is at work on it, by its own word",
            Self::Held(_) => {
                "it was promoted and waits for somebody's answer, by the daemon's word"
            }
            Self::Waiting(_) => "it was promoted and waits for its turn, by the daemon's word",
            Self::Drafted => {
                "its draft lies in drafts/; a person approves and promotes it, or has just done so"
            }
            Self::Unknown => {
                "no record, and nobody tells of it: it was never promoted, was taken this very moment, or \
                 so many wait that not all are told"
            }
        }
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
            "meaning": self.meaning(),
            "result_id": result_id,
            "reason": reason,
            "told": told,
            "verified": false,
        })
    }
}

/// First what waits, then what is in flight, then the records: a request goes that way, so that one which
/// moves on meanwhile is seen further on.
fn look(desk: &Desk, id: &RequestId) -> Result<Stand, Failure> {
    let waiting = waiting_in(desk.spool());
    let mut in_flight = running_in(desk.spool());
    let mut held = held_in(desk.spool());
    let file = format!("{id}.md");
    let recorded = recorded(desk, id)?;
    // What was refused may be mended and dropped again: that record is not the end of it then.
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

/// Why nothing ran, fenced: the sentence may quote the request. Of a record that may not be shown there is
/// none; `read_result` says what is wrong with it.
fn reason_of(desk: &Desk, id: &ResultId) -> Option<String> {
    let reason = open(desk, id).ok()?.reason()?.to_owned();
    Some(Fence::new().ok()?.around("why, by the record", reason.as_bytes()))
}

pub(super) fn status(desk: &Desk, asked: &Id) -> Result<Value, Failure> {
    let id = request_id(asked)?;
    let mut answer = look(desk, &id)?.json(desk, &id);
    answer["daemon"] = daemon(desk);
    Ok(answer)
}

/// By its own word alone: whether it lives cannot be seen from here.
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
            request.ok_or_else(|| Failure::Said(format!("{id}: names no request; give a TR-… id")))
        }
    }
}

/// Until there is a record, the time is over, or the client wants it no longer.
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
                return Err(Failure::Said("the client waits no longer".into()));
            }
        }
    }
}

/// To a client that asked for it.
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
        // The answer will not reach it either, and says so itself.
        tracing::debug!("progress: {error}");
    }
}
