//! The options of `mcp`. The operator who starts the server decides them; the agent cannot.

use std::path::PathBuf;

use clap::Args;

use policies::permissions::{AccessControl, AgentName, Subject};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec mcp --spool /var/spool/toolexec --agent core

For an MCP host (docs/agents.md), not for people: it speaks JSON-RPC on stdin and stdout. Tools:
draft_tool_request, lint_tool_request, request_status, wait_for_result, read_result, list_runtimes,
check_permission. It has no key and approves, promotes and runs nothing; it writes below drafts/ of
the spool and reads below results/ and public/ only, and takes every other right to files and all
TCP from itself before it reads the first message, where the kernel has Landlock. The files that
are named here are read once, when it starts.
Exits 0 when its client has gone, 3 if it could not serve.")]
pub(crate) struct Mcp {
    /// The spool
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(super) spool: PathBuf,
    /// A policy to hold drafts against and tell agents of, instead of the one that the daemon tells
    #[arg(long, value_name = "FILE")]
    pub(super) policy: Option<PathBuf>,
    /// Keys of results to trust; without them results are told as not verified
    #[arg(long, value_name = "FILE")]
    pub(super) allowed_signers: Option<PathBuf>,
    /// Keys of the log, a verifier line each
    #[arg(long, value_name = "FILE", requires = "allowed_signers")]
    pub(super) log_key: Option<PathBuf>,
    /// The name of the agent that this server works for
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<AgentName>,
    /// The workflow execution that the agent works in [default: a new one for this server]
    #[arg(long, value_name = "NAME", requires = "agent")]
    pub(super) subject: Option<Subject>,
    /// The agent's access-control scope [default: none, which is a scope of its own]
    #[arg(long, value_name = "SCOPE", requires = "agent")]
    pub(super) accesscontrol: Option<AccessControl>,
}
