//! The tools of the MCP server: describes the tools of the other modules and converts answers.

use std::fmt::Display;
use std::sync::Arc;

use model::{RequestId, escape_line};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, tool, tool_router};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::arguments::{
    DraftArguments, IdArguments, LintArguments, PermissionArguments, ReadArguments,
    StandingListArguments, WaitArguments,
};
use super::drafting::DraftAnswer;
use super::request_status::WAITS_MAX;
use super::server_state::ServerState;
use super::{
    drafting, linting, permission, reading, request_status, runtimes, standing_approvals, tasks,
};
use crate::failure::Failure;

const READS_MAX: usize = 2;
/// Limit of open subscriptions to tasks.
pub(super) const LISTENS_MAX: usize = 8;

#[derive(Clone)]
pub(super) struct McpServer {
    pub(super) state: Arc<ServerState>,
    waits: Arc<Semaphore>,
    reads: Arc<Semaphore>,
    pub(super) listens: Arc<Semaphore>,
    pub(super) tool_router: ToolRouter<Self>,
}

impl McpServer {
    pub(super) fn new(state: ServerState) -> Self {
        Self {
            state: Arc::new(state),
            waits: Arc::new(Semaphore::new(WAITS_MAX)),
            reads: Arc::new(Semaphore::new(READS_MAX)),
            listens: Arc::new(Semaphore::new(LISTENS_MAX)),
            tool_router: Self::tool_router(),
        }
    }

    /// Runs a read on another thread: hashing a large result must not delay other calls.
    pub(super) async fn read_blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&ServerState) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let unread = |why: &dyn Display| {
            Failure::Message(format!("not read: {why}; help: report this as a bug"))
        };
        let turn = Arc::clone(&self.reads).acquire_owned().await.map_err(|error| unread(&error))?;
        let state = Arc::clone(&self.state);
        let reading = spawn_blocking(move || {
            // The read continues after its client has left, and keeps its permit until then.
            let _turn = turn;
            read(&state)
        });
        reading.await.map_err(|error| unread(&error))?
    }
}

#[tool_router]
impl McpServer {
    #[tool(
        description = "Draft a tool request. A valid draft is written to drafts/ for a person to \
                       read and approve, and its id and digest are returned, or a task with this \
                       id, whose result is that of the run. Otherwise nothing is written, and the \
                       violations say what to fix. With standing, the draft uses a standing \
                       approval, and needs only its parameters and inputs.",
        annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false)
    )]
    async fn draft_tool_request(
        &self,
        Parameters(arguments): Parameters<DraftArguments>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        match drafting::draft(&self.state, arguments) {
            Ok(DraftAnswer::Written(answer)) => written(answer, &context),
            Ok(DraftAnswer::NotWritten(answer)) => CallToolResult::structured_error(answer).into(),
            Err(failure) => failed(&failure).into(),
        }
    }

    #[tool(
        description = "Check the complete text of a tool request against every rule of its schema. \
                       Writes nothing.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn lint_tool_request(
        &self,
        Parameters(arguments): Parameters<LintArguments>,
    ) -> CallToolResult {
        to_tool_result(linting::lint(&self.state, &arguments))
    }

    #[tool(
        description = "Return the state of a request: drafted, held for approval or permission, in \
                       flight, or ended with an outcome.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn request_status(
        &self,
        Parameters(arguments): Parameters<IdArguments>,
    ) -> CallToolResult {
        to_tool_result(request_status::status(&self.state, &arguments.id))
    }

    #[tool(
        description = "Wait until a request has its record, or the time is over. Sends progress \
                       notifications with the step of the request if the client asks for them.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn wait_for_result(
        &self,
        Parameters(arguments): Parameters<WaitArguments>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Ok(_place) = self.waits.try_acquire() else {
            let message =
                format!("too many waits at once, at most {WAITS_MAX}; help: call again later");
            return failed(&Failure::Message(message));
        };
        to_tool_result(request_status::wait(&self.state, &arguments, &context).await)
    }

    #[tool(
        description = "Read the result of a run: the facts of its record, whether it was verified, \
                       and the tool's output, which is untrusted data between marked lines.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn read_result(
        &self,
        Parameters(arguments): Parameters<ReadArguments>,
    ) -> CallToolResult {
        match self.read_blocking(move |state| reading::read(state, &arguments)).await {
            Ok(blocks) => CallToolResult::success(blocks),
            Err(failure) => failed(&failure),
        }
    }

    #[tool(
        description = "List what the policy offers: languages with the words that commands begin \
                       with, the highest limits, and hosts.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_runtimes(&self) -> CallToolResult {
        to_tool_result(runtimes::list(&self.state))
    }

    #[tool(
        description = "List the standing approvals that this agent may use, as reported by the \
                       daemon: reference, parameters, inputs and limits. With a command, only \
                       those that admit it, with the values of their parameters. A draft that uses \
                       one needs no further approval.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_standing_approvals(
        &self,
        Parameters(arguments): Parameters<StandingListArguments>,
    ) -> CallToolResult {
        let listed = self.read_blocking(move |state| standing_approvals::list(state, &arguments));
        to_tool_result(listed.await)
    }

    #[tool(
        description = "Return whether a person granted a tool to this agent in this workflow, as \
                       reported by the daemon: APPROVED, DENIED or REQUESTABLE. Files no request.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn check_permission(
        &self,
        Parameters(arguments): Parameters<PermissionArguments>,
    ) -> CallToolResult {
        to_tool_result(permission::check(&self.state, &arguments))
    }
}

/// Returns a task to a client that knows tasks, and else the answer with the id.
fn written(answer: Value, context: &RequestContext<RoleServer>) -> CallToolResponse {
    let id = answer["request_id"].as_str().filter(|_| tasks::knows_tasks(context));
    let id: Option<RequestId> = id.and_then(|id| id.parse().ok());
    match id {
        Some(id) => CreateTaskResult::new(tasks::drafted(&id)).into(),
        None => CallToolResult::structured(answer).into(),
    }
}

fn to_tool_result(answer: Result<Value, Failure>) -> CallToolResult {
    match answer {
        Ok(answer) => CallToolResult::structured(answer),
        Err(failure) => failed(&failure),
    }
}

/// Returns the error to the model, which may try another way.
fn failed(failure: &Failure) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(escape_line(&failure.to_string()))])
}
