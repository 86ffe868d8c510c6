//! The options of `mcp`. The operator who starts the server decides them; the agent cannot.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use policies::permissions::{AccessControl, AgentName, Subject};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec mcp --spool /var/spool/toolexec --agent core

For an MCP host (docs/agents.md), not for people: it speaks JSON-RPC on stdin and stdout. Tools:
draft_tool_request, lint_tool_request, request_status, wait_for_result, read_result, list_runtimes,
list_standing_approvals, check_permission. A draft is a task for a client that knows the extension
io.modelcontextprotocol/tasks, which can subscribe to its changes. The server has no key, and
approves, submits and runs nothing. It writes only to drafts/ and reads only results/ and public/
of the spool. Where the kernel has Landlock, it drops every other right to files, and all TCP
except the connections of --http, before it reads the first message. Files named here are read
once, at the start.
With --http, it serves until it is ended, and prints its URL on one line. The URL has a secret: a
process that knows it acts as this agent.
Exit status: 0 the client has disconnected; 3 usage or internal error.")]
pub(crate) struct McpCommand {
    /// Serve this spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(super) spool: PathBuf,
    /// Check drafts against this policy and offer it to agents
    /// [default: the policy that the daemon published]
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// Trust the result keys in this file [default: report results as not verified]
    #[arg(long = "result-keys", value_name = "FILE")]
    pub(super) allowed_signers: Option<PathBuf>,
    /// Trust the log keys in this file, one verifier line each
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    pub(super) log_key: Option<PathBuf>,
    /// Serve the agent with this name
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<AgentName>,
    /// Name the agent's workflow execution [default: a new one for this server]
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub(super) subject: Option<Subject>,
    /// Name the agent's access-control scope [default: none, which is a distinct scope]
    #[arg(long, value_name = "SCOPE", requires = "agent")]
    pub(super) accesscontrol: Option<AccessControl>,
    /// Serve streamable HTTP at this loopback address, with port 0 at a free port
    /// [default: serve one client on stdin and stdout]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback_address)]
    pub(super) http: Option<SocketAddr>,
}

/// Reads an address that no other host can reach.
fn loopback_address(text: &str) -> Result<SocketAddr, String> {
    let address: Option<SocketAddr> = text.parse().ok();
    address
        .filter(|address| address.ip().is_loopback())
        .ok_or_else(|| "not a loopback address and a port; help: use 127.0.0.1:0".to_owned())
}
