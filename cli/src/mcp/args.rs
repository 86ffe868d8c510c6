//! The options of `mcp`. The operator who starts the server decides them; the agent cannot.

use std::path::PathBuf;

use clap::Args;

use policies::permissions::{AccessControl, AgentName, Subject};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec mcp --spool /var/spool/toolexec --agent core

For an MCP host (docs/agents.md), not for people: it speaks JSON-RPC on stdin and stdout. Tools:
draft_tool_request, lint_tool_request, request_status, wait_for_result, read_result, list_runtimes,
list_standing_approvals, check_permission. The server has no key, and approves, submits and runs
nothing. It writes only to drafts/ and reads only results/ and public/ of the spool. Where the
kernel has Landlock, it drops every other right to files, and all TCP, before it reads the first
message. Files named here are read once, at the start.
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
}
