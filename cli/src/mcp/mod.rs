//! `toolexec mcp`: drafting, linting and reading for agents, over the Model Context Protocol on
//! stdin and stdout. The server must never approve, submit or run anything or hold a key. It must
//! never write outside `drafts/` or read outside `results/` and `public/` of its spool.

mod args;
mod arguments;
mod confine;
mod desk;
mod drafting;
mod fence;
mod linting;
mod offer;
mod permission;
mod reading;
mod recorded;
mod resources;
mod room;
mod server;
mod standing;

use std::process::ExitCode;

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::runtime;

use crate::failure::Failure;
use desk::Desk;
use server::Server;

pub(crate) use args::Mcp;

/// Limit of a client's message. The inputs of a draft are its largest part.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

pub(crate) fn mcp(asked: &Mcp) -> Result<ExitCode, Failure> {
    let desk = Desk::of(asked)?;
    // Before the first byte of the client is read, and before a second thread exists.
    confine::confine(&desk)?;
    let runtime = runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| Failure::Said(format!("mcp: no runtime: {error}")))?;
    runtime.block_on(serve(Server::new(desk)))
}

async fn serve(server: Server) -> Result<ExitCode, Failure> {
    let (stdin, stdout) = rmcp::transport::stdio();
    let transport = AsyncRwTransport::new(stdin, stdout).with_max_line_length(MESSAGE_BYTES_MAX);
    let said = |error: &dyn std::fmt::Display| Failure::Said(format!("mcp: {error}"));
    let serving = server.serve(transport).await.map_err(|error| said(&error))?;
    serving.waiting().await.map_err(|error| said(&error))?;
    Ok(ExitCode::SUCCESS)
}
