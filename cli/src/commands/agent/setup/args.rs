//! The arguments of `toolexec setup`.

use std::path::PathBuf;

use clap::Args;
use policies::permissions::AgentName;

use super::model::HookChoice;
use crate::commands::agent::model::CodingAgent;
use crate::commands::request::draft::closed_set_value;

#[derive(Args)]
#[command(after_help = "\
Example: toolexec setup claude-code --agent core
         toolexec setup codex --agent core --write
         toolexec setup vscode --user --write
         toolexec setup claude-code --remove --write

Adds the MCP server `toolexec` to the agent's own configuration, and a hook that keeps its shell
commands from running outside TOOL-EXEC (toolexec hook). Prints the change as a diff. Only --write
changes a file. All other content of the file stays as it is.
               in a project                      of the user
  claude-code  .mcp.json                         ~/.claude.json
               .claude/settings.json             ~/.claude/settings.json
  codex        .codex/config.toml, if trusted    ~/.codex/config.toml
               .codex/hooks.json                 ~/.codex/hooks.json
  vscode       .vscode/mcp.json                  ~/.config/Code/User/mcp.json
               .github/hooks/toolexec.json       ~/.copilot/hooks/toolexec.json
  cursor       .cursor/mcp.json                  ~/.cursor/mcp.json
               .cursor/hooks.json                ~/.cursor/hooks.json
  gemini       .gemini/settings.json             ~/.gemini/settings.json
The first original is kept as FILE.toolexec-backup. A file with comments where JSON has none, a
symbolic link, and a file of another user are refused; then add the printed lines by hand.
Hooks of codex and gemini cannot ask the user, so that --hook ask is refused for them.
Exit status: 0 shown, written or already set up; 2 a file is refused, and nothing is written; 3
usage or internal error.")]
pub(crate) struct SetupCommand {
    /// Set up this coding agent
    #[arg(value_name = "AGENT", value_parser = closed_set_value::<CodingAgent>())]
    pub(super) coding_agent: CodingAgent,
    /// Let the server use this spool [default: that of `toolexec mcp`]
    #[arg(long, value_name = "DIR")]
    pub(super) spool: Option<PathBuf>,
    /// Let the server serve the agent with this name
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<AgentName>,
    /// Change the files of this project
    /// [default: the current directory; for codex, the files of the user]
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    pub(super) project: Option<PathBuf>,
    /// Change the files of the user
    #[arg(long)]
    pub(super) user: bool,
    /// Choose the answer of the hook to a command that no standing approval fits, or no hook
    #[arg(
        long,
        value_name = "CHOICE",
        default_value = HookChoice::Deny.as_str(),
        value_parser = closed_set_value::<HookChoice>()
    )]
    pub(super) hook: HookChoice,
    /// Write the change
    #[arg(long)]
    pub(super) write: bool,
    /// Remove the server and the hook instead of adding them
    #[arg(long)]
    pub(super) remove: bool,
}
