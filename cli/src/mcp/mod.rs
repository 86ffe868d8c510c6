//! `toolexec mcp`: drafting, linting and reading for agents, over the Model Context Protocol on
//! stdin and stdout, or over HTTP at a loopback address. The server must never approve, submit or
//! run anything or hold a key. It must never write outside `drafts/` or read outside `results/` and
//! `public/` of its spool.

mod args;
mod arguments;
mod confine;
#[cfg(feature = "conformance")]
mod conformance;
mod drafting;
mod handler;
mod http_transport;
mod linting;
mod listen_filter;
mod permission;
pub(crate) mod published_standing;
mod reading;
mod recorded_outcome;
mod references;
mod request_state;
mod request_status;
mod resources;
mod runtimes;
mod server;
mod server_state;
mod standing_approvals;
pub(crate) mod standing_fit;
mod task_subscription;
mod tasks;
mod untrusted_markers;
mod withdrawal;
mod write_quota;

use std::process::ExitCode;
use std::time::Duration;

use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::runtime;

use crate::failure::Failure;
use http_transport::McpListener;
use server::McpServer;
use server_state::ServerState;

pub(crate) use args::McpCommand;

/// Limit of a client's message. The inputs of a draft are its largest part.
const MESSAGE_BYTES_MAX: usize = 8 << 20;
/// Bytes on the way from stdin to the library.
const BUFFER_BYTES: usize = 64 << 10;
/// A read of stdin cannot be stopped. The process must not wait for it when the service has ended.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) fn mcp(args: &McpCommand) -> Result<ExitCode, Failure> {
    let state = ServerState::open(args)?;
    let listener = args.http.map(McpListener::bind).transpose()?;
    // Before the first byte of the client is read, and before a second thread exists.
    confine::confine(&state)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Failure::Message(format!("mcp: no runtime: {error}; help: raise the limits of `ulimit -a`"))
    })?;
    let server = McpServer::new(state);
    #[cfg(feature = "conformance")]
    let server = conformance::ConformanceServer::new(server);
    let ended = match listener {
        None => runtime.block_on(serve(server)),
        Some(listener) => {
            runtime.block_on(http_transport::serve(listener, server, MESSAGE_BYTES_MAX))
        }
    };
    runtime.shutdown_timeout(STOP_TIMEOUT);
    ended
}

async fn serve<S: ServerHandler>(server: S) -> Result<ExitCode, Failure> {
    let (stdin, stdout) = rmcp::transport::stdio();
    let (to_library, messages) = tokio::io::duplex(BUFFER_BYTES);
    tokio::spawn(async move {
        if let Err(error) = listen_filter::copy_messages(stdin, to_library).await {
            // The library sees the end of the messages and stops.
            tracing::debug!("stdin: {error}");
        }
    });
    let transport = AsyncRwTransport::new(messages, stdout).with_max_line_length(MESSAGE_BYTES_MAX);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("mcp: {error}; help: start it from an MCP client"))
    };
    let serving = ServiceExt::<RoleServer>::serve(server, transport).await;
    let serving = serving.map_err(|error| failed(&error))?;
    serving.waiting().await.map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}
