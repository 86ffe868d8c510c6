//! The arguments of `toolexec hook`.

use std::path::PathBuf;

use clap::Args;
use policies::permissions::AgentName;

use crate::commands::agent::model::CodingAgent;
use crate::commands::request::draft::closed_set_value;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec hook claude-code --agent core

For a coding agent, not for people: `toolexec setup` configures it. Reads a call as JSON on stdin,
at most 1 MiB, and prints the answer as JSON, both in the form of this agent. A shell command is
always denied: with the standing approval that fits it, or with the rules that it breaks and what
would be accepted. With --ask, a person decides about a command that no standing approval fits;
codex and gemini cannot ask, and get a denial. The answer is never `allow`. Another tool, without a
command, gets no answer: the agent's own rules apply.
Exit status: 0 answered; 2 no answer is possible, and the agent blocks the call; 3 wrong options.")]
pub(crate) struct HookCommand {
    /// Answer the hook of this coding agent
    #[arg(value_name = "AGENT", value_parser = closed_set_value::<CodingAgent>())]
    pub(super) coding_agent: CodingAgent,
    /// Read the standing approvals that the daemon of this spool published
    #[arg(long, value_name = "DIR", default_value = "/var/spool/toolexec")]
    pub(super) spool: PathBuf,
    /// Consider the standing approvals for the agent with this name
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<AgentName>,
    /// Let a person decide about a command that no standing approval fits
    #[arg(long)]
    pub(super) ask: bool,
}
