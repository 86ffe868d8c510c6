//! `toolexec mcp`: what an agent may do, over the Model Context Protocol on stdin and stdout: draft, lint,
//! ask and read. It must never approve, promote or run anything, hold a key, write but below `drafts/`, or
//! read but below `results/` and `public/` of its spool.

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

/// One message of a client. Inputs of a draft are the largest thing in one.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

pub(crate) fn mcp(asked: &Mcp) -> Result<ExitCode, Failure> {
    let desk = Desk::of(asked)?;
    // Before the first byte of the client's is read, and before there is a second thread.
    confine::confine(&desk)?;
    let runtime = runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| Failure::Said(format!("no runtime: {error}")))?;
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
