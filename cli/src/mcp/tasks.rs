//! Tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663). A task is a request, and its
//! id is the id of the request. Its state is read from the spool at each call, so that another
//! server answers for it after a restart. An answer to the question of a task approves nothing.

use std::time::Duration;

use model::{Outcome, RequestId, escape_line};
use rmcp::model::{
    CallToolResult, DetailedTask, InputRequest, InputRequests, InputResponses, JsonObject, Task,
    TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::reading;
use super::recorded_outcome::RecordedOutcome;
use super::request_state::{McpRequestState, is_in_drafts, request_state};
use super::resources::internal;
use super::server_state::ServerState;
use super::withdrawal::withdraw;
use crate::failure::Failure;

/// A request is in no published list for a moment while the daemon claims it.
pub(super) const LOOKS_MAX: u32 = 4;
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(300);
/// The suggested interval of polls while a person decides, and while the daemon works.
const PERSON_POLL_MS: u64 = 5_000;
const DAEMON_POLL_MS: u64 = 1_000;

model::closed_set! {
    /// A question to the person at the client. Its name is the key of the request in the task.
    enum TaskQuestion {
        Draft = "draft": "It runs only after an approver has signed and submitted it (toolexec review, approve, submit), or under a standing approval. Decline to withdraw the draft.",
        Held = "held": "It was submitted and waits for an approval or a permission; `toolexec show` names it. Only an approver can reject it, and only an operator can cancel it (toolexec reject, cancel).",
    }
}

impl TaskQuestion {
    /// Returns the question that is open in this state of a request.
    fn of(found: &McpRequestState) -> Option<Self> {
        match found {
            McpRequestState::Drafted => Some(Self::Draft),
            McpRequestState::Held(_) => Some(Self::Held),
            _ => None,
        }
    }

    /// Returns the name of the file in `drafts/` that marks the question as answered. The extension
    /// forbids to ask again under the same key.
    fn marker(self, id: &RequestId) -> String {
        format!("{id}.answered-{}", self.as_str())
    }

    fn requests(self, id: &RequestId) -> Option<InputRequests> {
        let message = format!("{id} waits for a decision. {}", self.meaning());
        let request = json!({
            "method": "elicitation/create",
            "params": {
                "message": message,
                "requestedSchema": { "type": "object", "properties": {} },
            },
        });
        let request: InputRequest = serde_json::from_value(request).ok()?;
        Some([(self.as_str().to_owned(), request)].into())
    }
}

/// Returns whether the client knows tasks.
pub(super) fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|can| can.supports_tasks())
}

/// Returns whether the client shows questions to a person.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|can| can.elicitation.is_some())
}

/// Returns the id of a request from the id of a task.
pub(super) fn parse_id(task_id: &str) -> Result<RequestId, ErrorData> {
    task_id.parse().map_err(|_| unknown(task_id))
}

fn unknown(task_id: &str) -> ErrorData {
    let message = format!("{}: no such task; help: use the id of a draft", escape_line(task_id));
    ErrorData::invalid_params(message, None)
}

/// Returns the task of a draft that was just written.
pub(super) fn drafted(id: &RequestId) -> Task {
    base(id, &McpRequestState::Drafted)
}

/// Returns the state of the task's request. A request that cannot be found is an error.
pub(super) async fn find(
    state: &ServerState,
    id: &RequestId,
) -> Result<McpRequestState, ErrorData> {
    for look in 1..=LOOKS_MAX {
        let found = request_state(state, id).map_err(|failure| internal(&failure))?;
        if found != McpRequestState::Unknown {
            return Ok(found);
        }
        if look < LOOKS_MAX {
            sleep(LOOK_INTERVAL).await;
        }
    }
    Err(unknown(id.as_str()))
}

/// Returns the task with its result, its error or its question. `can_ask` is true if the client
/// shows questions to a person.
pub(super) fn described(
    state: &ServerState,
    id: &RequestId,
    found: &McpRequestState,
    can_ask: bool,
) -> DetailedTask {
    let question = TaskQuestion::of(found).filter(|_| can_ask);
    let question = question.filter(|question| !is_in_drafts(state, &question.marker(id)));
    let payload = match (found, question.and_then(|question| question.requests(id))) {
        (McpRequestState::Recorded(recorded), _) => recorded_payload(state, recorded),
        (McpRequestState::Withdrawn, _) => TaskPayload::Cancelled,
        (_, Some(input_requests)) => TaskPayload::InputRequired { input_requests },
        (_, None) => TaskPayload::Working,
    };
    DetailedTask::new(base(id, found), payload)
}

/// The files of a request are kept until an operator removes them, so a task has no time to live.
fn base(id: &RequestId, found: &McpRequestState) -> Task {
    let (created, since) = (id.date().to_string(), found.since(id).to_string());
    let poll_ms = match TaskQuestion::of(found) {
        Some(_) => PERSON_POLL_MS,
        None => DAEMON_POLL_MS,
    };
    Task::new(id.as_str(), TaskStatus::Working, created, since)
        .with_status_message(status_message(id, found))
        .with_poll_interval_ms(poll_ms)
}

fn status_message(id: &RequestId, found: &McpRequestState) -> String {
    let (name, meaning) = (escape_line(found.as_str()), found.meaning());
    match found {
        McpRequestState::Drafted => {
            format!("{id}: {name}: {meaning}; tasks/cancel withdraws it until then")
        }
        McpRequestState::Held(held) => {
            let codes = held.waits_for.iter().map(|reason| escape_line(&reason.code));
            let codes = codes.collect::<Vec<_>>().join(", ");
            format!("{id}: {name}: {codes}; {meaning}; only an operator can cancel it")
        }
        McpRequestState::Waiting(_) | McpRequestState::InFlight(_) => {
            format!("{id}: {name}: {meaning}; only an operator can cancel it")
        }
        McpRequestState::Recorded(recorded) => {
            format!("{id}: {name}: {meaning}; the result is {}", recorded.id)
        }
        McpRequestState::Withdrawn | McpRequestState::Unknown => {
            format!("{id}: {name}: {meaning}")
        }
    }
}

/// Returns the answer of `read_result`. An outcome other than `ok` is an error of the tool, and a
/// record that may not be shown is an error of the protocol.
fn recorded_payload(state: &ServerState, recorded: &RecordedOutcome) -> TaskPayload {
    let shown = reading::open(state, &recorded.id).and_then(|readable| {
        let blocks = reading::overview_blocks(&readable)?;
        Ok((readable.outcome().to_owned(), blocks))
    });
    match shown {
        Ok((outcome, _)) if outcome == Outcome::Cancelled.as_str() => TaskPayload::Cancelled,
        Ok((outcome, blocks)) => {
            let result = match outcome == Outcome::Ok.as_str() {
                true => CallToolResult::success(blocks),
                false => CallToolResult::error(blocks),
            };
            TaskPayload::Completed { result: object(&result) }
        }
        Err(failure) => TaskPayload::Failed { error: object(&internal(&failure)) },
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        // Both results and errors are objects.
        _ => JsonObject::new(),
    }
}

/// Withdraws the draft. Anything later than a draft is left as it is, which the extension permits:
/// the client only signals its intent.
pub(super) fn cancel(
    state: &ServerState,
    id: &RequestId,
    found: &McpRequestState,
) -> Result<(), ErrorData> {
    match found {
        McpRequestState::Drafted => withdraw(state, id).map_err(|failure| internal(&failure)),
        _ => Ok(()),
    }
}

/// Marks the open question as answered. To decline the question about a draft withdraws the draft.
/// Other keys are ignored.
pub(super) fn answer(
    state: &ServerState,
    id: &RequestId,
    found: &McpRequestState,
    responses: &InputResponses,
) -> Result<(), ErrorData> {
    let Some(question) = TaskQuestion::of(found) else { return Ok(()) };
    let Some(response) = responses.get(question.as_str()) else { return Ok(()) };
    mark(state, &question.marker(id)).map_err(|failure| internal(&failure))?;
    match response["action"] == "decline" {
        true => cancel(state, id, found),
        false => Ok(()),
    }
}

/// Makes an empty file in `drafts/`.
fn mark(state: &ServerState, name: &str) -> Result<(), Failure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    match openat(&state.drafts, name, flags, Mode::RUSR | Mode::RGRP) {
        Ok(_) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => {
            let help = "ask a person to check drafts/ of the spool";
            Err(Failure::Message(format!("{name}: {errno}; help: {help}")))
        }
    }
}
