//! The tools `request_status` and `wait_for_result`. Facts that the daemon published are labelled
//! as its report.

use std::time::Duration;

use model::RequestId;
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use spool::published_status;
use tokio::time::{Instant, sleep};

use super::arguments::WaitArguments;
use super::references::AnyId;
use super::request_state::{McpRequestState, request_state};
use super::server_state::ServerState;
use super::untrusted_markers::UntrustedMarkers;
use crate::clock;
use crate::commands::inspect::results::request_of;
use crate::failure::Failure;
use crate::output::progress::{OutputFollower, ProgressMoment, running_figures};

const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Limit of simultaneous waits per server.
pub(super) const WAITS_MAX: usize = 8;
/// The pause after a poll, as a multiple of its duration. All waits leave half of the time free.
const PAUSE_FACTOR: u32 = 2 * 8;
/// Interval of progress messages while the state stays the same.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
const WAIT_SEC_MAX: u64 = 600;
/// Limit of output lines in one progress message, the newest. The record has all of them.
const OUTPUT_LINES_MAX: usize = 20;

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
    let mut output = LiveOutput::begin(state, &id, arguments.output)?;
    let mut reported: Option<(Instant, String)> = None;
    loop {
        let looked = Instant::now();
        let current = request_state(state, &id)?;
        let pause = POLL_INTERVAL.max(looked.elapsed() * PAUSE_FACTOR);
        let is_over = current.is_final() || begun.elapsed() >= longest;
        let is_news = reported
            .as_ref()
            .is_none_or(|(at, last)| last != current.as_str() || at.elapsed() >= PROGRESS_INTERVAL);
        if is_news || is_over {
            let lines = output.as_mut().and_then(LiveOutput::newest);
            let text = progress_text(&current, begun.elapsed(), lines.as_deref());
            report_progress(context, text, begun.elapsed(), longest).await;
            reported = Some((Instant::now(), current.as_str().to_owned()));
        }
        if is_over {
            let mut answer = current.json(state, &id);
            answer["timed_out"] = (!current.is_final()).into();
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

/// Returns the step, its figures, and the marked output, if there is any.
fn progress_text(state: &McpRequestState, waited: Duration, output: Option<&str>) -> String {
    let mut text = format!("{} after {} s", state.as_str(), waited.as_secs());
    if let McpRequestState::InFlight(running) = state {
        text.push_str(&format!(": {}", running_figures(running, clock::now())));
    }
    if let Some(output) = output {
        text.push('\n');
        text.push_str(output);
    }
    text
}

/// The output of a running tool for progress messages.
struct LiveOutput {
    follower: OutputFollower,
    markers: UntrustedMarkers,
}

impl LiveOutput {
    /// Returns `None` if the call does not ask for output.
    fn begin(state: &ServerState, id: &RequestId, asked: bool) -> Result<Option<Self>, Failure> {
        if !asked {
            return Ok(None);
        }
        let follower = OutputFollower::new(&state.spool().join("results"), id.as_str());
        Ok(Some(Self { follower, markers: UntrustedMarkers::new()? }))
    }

    /// Returns the newest lines since the last call, between untrusted markers.
    fn newest(&mut self) -> Option<String> {
        let lines = self.follower.lines(ProgressMoment::Now);
        let first = lines.len().saturating_sub(OUTPUT_LINES_MAX);
        let newest = lines.get(first..).filter(|newest| !newest.is_empty())?;
        let what = format!("the newest {} lines of the running tool's output", newest.len());
        Some(self.markers.wrap(&what, newest.join("\n").as_bytes()))
    }
}

/// Sends a progress notification, if the client asked for it.
async fn report_progress(
    context: &RequestContext<RoleServer>,
    message: String,
    elapsed: Duration,
    longest: Duration,
) {
    let Some(token) = context.meta.get_progress_token() else { return };
    let notification = ProgressNotificationParam::new(token, elapsed.as_secs_f64())
        .with_total(longest.as_secs_f64())
        .with_message(message);
    if let Err(error) = context.peer.notify_progress(notification).await {
        // The answer will fail as well and reports the error itself.
        tracing::debug!("progress: {error}");
    }
}
