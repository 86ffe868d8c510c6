//! Subscriptions to tasks: `notifications/tasks` for each change of a named task, with all that
//! `tasks/get` would return. The spool is read again and again, as for the other waits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use model::RequestId;
use rmcp::model::{
    ClientCapabilities, ConstString, CustomNotification, CustomResult, DetailedTask,
    NotificationMetaObject, ProtocolVersion, ServerNotification,
    SubscriptionsAcknowledgedNotificationMethod, SubscriptionsListenRequestMethod,
    SubscriptionsListenResult, TaskStatusNotification, TaskStatusNotificationParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;
use tokio::time::sleep;

use super::request_state::{McpRequestState, request_state};
use super::resources::internal;
use super::server::{LISTENS_MAX, McpServer};
use super::server_state::ServerState;
use super::tasks::{LOOK_INTERVAL, LOOKS_MAX, can_ask, described, knows_tasks};
use crate::failure::Failure;

/// Limit of tasks in one subscription. Each of them is read again and again.
const TASKS_MAX: usize = 64;
/// The pause after a look at all tasks, as a multiple of its duration, and the limits of the pause.
const PAUSE_FACTOR: u32 = 16;
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Sends the changes of the named tasks until all of them have ended or the client cancels.
pub(super) async fn listen(
    server: &McpServer,
    params: Option<&Value>,
    context: &RequestContext<RoleServer>,
) -> Result<CustomResult, ErrorData> {
    let _place = admit(server, context)?;
    let named = named_tasks(params)?;
    let tasks = existing(server, named).await.map_err(|failure| internal(&failure))?;
    acknowledge(context, &tasks).await?;
    watch(server, tasks, context).await?;
    let ended = SubscriptionsListenResult::complete(context.id.clone());
    let ended = serde_json::to_value(ended).map_err(|error| internal(&not_written(&error)))?;
    Ok(CustomResult::new(ended))
}

fn not_written(error: &serde_json::Error) -> Failure {
    Failure::Message(format!("subscription: {error}; help: report this as a bug"))
}

/// Refuses clients that cannot take the notifications, and too many subscriptions at once.
fn admit<'s>(
    server: &'s McpServer,
    context: &RequestContext<RoleServer>,
) -> Result<SemaphorePermit<'s>, ErrorData> {
    let version = context.protocol_version();
    if version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
        return Err(ErrorData::method_not_found::<SubscriptionsListenRequestMethod>());
    }
    if !knows_tasks(context) {
        let required = ClientCapabilities::builder().enable_tasks().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    server.listens.try_acquire().map_err(|_| {
        let message = format!(
            "too many subscriptions at once, at most {LISTENS_MAX}; help: name several tasks in one"
        );
        ErrorData::invalid_request(message, None)
    })
}

/// Returns the ids that the client names. One that cannot be an id of a task is left out, as the
/// acknowledgement shows.
fn named_tasks(params: Option<&Value>) -> Result<Vec<RequestId>, ErrorData> {
    let named = params.and_then(|params| params.pointer("/notifications/taskIds"));
    let named = named.and_then(|named| serde_json::from_value::<Vec<String>>(named.clone()).ok());
    let Some(named) = named else {
        let message = "taskIds: not a list of texts; help: give a list of task ids";
        return Err(ErrorData::invalid_params(message, None));
    };
    if named.len() > TASKS_MAX {
        let message = format!(
            "taskIds: {} tasks, at most {TASKS_MAX}; help: use another subscription for the others",
            named.len()
        );
        return Err(ErrorData::invalid_params(message, None));
    }
    let mut tasks: Vec<RequestId> = named.iter().filter_map(|id| id.parse().ok()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    Ok(tasks)
}

/// Returns the tasks whose requests can be found.
async fn existing(server: &McpServer, named: Vec<RequestId>) -> Result<Vec<RequestId>, Failure> {
    let mut existing = Vec::new();
    for look in 1..=LOOKS_MAX {
        let asked = named.clone();
        existing = server.read_blocking(move |state| found(state, asked)).await?;
        if existing.len() == named.len() || look == LOOKS_MAX {
            break;
        }
        sleep(LOOK_INTERVAL).await;
    }
    Ok(existing)
}

fn found(state: &ServerState, ids: Vec<RequestId>) -> Result<Vec<RequestId>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        if request_state(state, &id)? != McpRequestState::Unknown {
            found.push(id);
        }
    }
    Ok(found)
}

/// The first message of every subscription: it names the tasks that are watched.
async fn acknowledge(
    context: &RequestContext<RoleServer>,
    tasks: &[RequestId],
) -> Result<(), ErrorData> {
    let ids: Vec<&str> = tasks.iter().map(RequestId::as_str).collect();
    let params = json!({ "notifications": { "taskIds": ids } });
    // The library's own notification cannot name tasks.
    let method = SubscriptionsAcknowledgedNotificationMethod::VALUE;
    let mut notification = CustomNotification::new(method, Some(params));
    notification.extensions.insert(subscription(context));
    send(context, ServerNotification::CustomNotification(notification)).await
}

async fn watch(
    server: &McpServer,
    mut tasks: Vec<RequestId>,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let can_ask = can_ask(context);
    let mut sent: BTreeMap<String, DetailedTask> = BTreeMap::new();
    let mut pause = Duration::ZERO;
    while !tasks.is_empty() {
        tokio::select! {
            () = sleep(pause) => {}
            () = context.ct.cancelled() => return Ok(()),
        }
        let asked = tasks.clone();
        let looking = server.read_blocking(move |state| look(state, &asked, can_ask)).await;
        let look = looking.map_err(|failure| internal(&failure))?;
        pause = (look.elapsed * PAUSE_FACTOR).clamp(PAUSE_MIN, PAUSE_MAX);
        for task in look.tasks {
            let id = task.task.task_id.clone();
            if sent.get(&id) == Some(&task) {
                continue;
            }
            if task.status().is_terminal() {
                // It has the result, and is not compared again.
                tasks.retain(|watched| watched.as_str() != id);
                sent.remove(&id);
                notify(context, task).await?;
            } else {
                notify(context, task.clone()).await?;
                sent.insert(id, task);
            }
        }
    }
    Ok(())
}

/// The tasks of a subscription at one time, and the duration of reading them.
struct TaskLook {
    tasks: Vec<DetailedTask>,
    elapsed: Duration,
}

fn look(state: &ServerState, ids: &[RequestId], can_ask: bool) -> Result<TaskLook, Failure> {
    let begun = Instant::now();
    let mut tasks = Vec::new();
    for id in ids {
        let found = request_state(state, id)?;
        // A request is in no published list for a moment while the daemon claims it.
        if found != McpRequestState::Unknown {
            tasks.push(described(state, id, &found, can_ask));
        }
    }
    Ok(TaskLook { tasks, elapsed: begun.elapsed() })
}

async fn notify(context: &RequestContext<RoleServer>, task: DetailedTask) -> Result<(), ErrorData> {
    let mut notification = TaskStatusNotification::new(TaskStatusNotificationParams::new(task));
    notification.extensions.insert(subscription(context));
    send(context, ServerNotification::TaskStatusNotification(notification)).await
}

/// Names the subscription of a message by the id of its request.
fn subscription(context: &RequestContext<RoleServer>) -> NotificationMetaObject {
    let mut meta = NotificationMetaObject::new();
    meta.set_subscription_id(context.id.clone());
    meta
}

async fn send(
    context: &RequestContext<RoleServer>,
    notification: ServerNotification,
) -> Result<(), ErrorData> {
    context.peer.send_notification(notification).await.map_err(|error| {
        let message = format!("subscription: not sent: {error}; help: subscribe again");
        ErrorData::internal_error(message, None)
    })
}
