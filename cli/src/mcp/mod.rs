//! `toolexec mcp`: drafting, linting and reading for agents, over the Model Context Protocol on
//! stdin and stdout. The server must never approve, submit or run anything or hold a key. It must
//! never write outside `drafts/` or read outside `results/` and `public/` of its spool.

mod args;
mod arguments;
mod confine;
mod drafting;
mod linting;
mod permission;
mod published_standing;
mod reading;
mod recorded_outcome;
mod references;
mod request_status;
mod resources;
mod runtimes;
mod server;
mod server_state;
mod standing_approvals;
mod untrusted_markers;
mod write_quota;

use std::process::ExitCode;

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::runtime;

use crate::failure::Failure;
use server::McpServer;
use server_state::ServerState;

pub(crate) use args::McpCommand;

/// Limit of a client's message. The inputs of a draft are its largest part.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

pub(crate) fn mcp(args: &McpCommand) -> Result<ExitCode, Failure> {
    let state = ServerState::open(args)?;
    // Before the first byte of the client is read, and before a second thread exists.
    confine::confine(&state)?;
    let runtime = runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| {
        Failure::Message(format!("mcp: no runtime: {error}; help: raise the limits of `ulimit -a`"))
    })?;
    runtime.block_on(serve(McpServer::new(state)))
}

async fn serve(server: McpServer) -> Result<ExitCode, Failure> {
    let (stdin, stdout) = rmcp::transport::stdio();
    let transport = AsyncRwTransport::new(stdin, stdout).with_max_line_length(MESSAGE_BYTES_MAX);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("mcp: {error}; help: start it from an MCP client"))
    };
    let serving = server.serve(transport).await.map_err(|error| failed(&error))?;
    serving.waiting().await.map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}
