//! The configuration files of each agent, as its documentation names them.

use super::model::{ConfigPlace, ENTRY_NAME, JsonPlace};
use crate::commands::agent::model::CodingAgent;

/// The content of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryContent {
    Server {
        /// The entry states `"type": "stdio"`.
        is_typed: bool,
    },
    Hook,
}

/// A configuration file with one entry of ours.
pub(super) struct AgentFile {
    /// The path in a project.
    pub(super) project: &'static str,
    /// The path in the home of the user.
    pub(super) home: &'static str,
    /// A variable that names another directory, and the path in that directory.
    pub(super) variable: Option<(&'static str, &'static str)>,
    pub(super) place: ConfigPlace,
    pub(super) content: EntryContent,
}

const fn servers(keys: &'static [&'static str]) -> ConfigPlace {
    ConfigPlace::Json(JsonPlace { keys, name: Some(ENTRY_NAME) })
}

/// The hook is last: the tools that its answers name must be there first.
const CLAUDE_CODE: &[AgentFile] = &[
    AgentFile {
        project: ".mcp.json",
        home: ".claude.json",
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        place: servers(&["mcpServers"]),
        content: EntryContent::Server { is_typed: true },
    },
    AgentFile {
        project: ".claude/settings.json",
        home: ".claude/settings.json",
        variable: Some(("CLAUDE_CONFIG_DIR", "settings.json")),
        place: ConfigPlace::Json(JsonPlace { keys: &["hooks", "PreToolUse"], name: None }),
        content: EntryContent::Hook,
    },
];

const CODEX: &[AgentFile] = &[AgentFile {
    project: ".codex/config.toml",
    home: ".codex/config.toml",
    variable: Some(("CODEX_HOME", "config.toml")),
    place: ConfigPlace::Toml("mcp_servers"),
    content: EntryContent::Server { is_typed: false },
}];

const VS_CODE: &[AgentFile] = &[AgentFile {
    project: ".vscode/mcp.json",
    home: ".config/Code/User/mcp.json",
    variable: Some(("XDG_CONFIG_HOME", "Code/User/mcp.json")),
    place: servers(&["servers"]),
    content: EntryContent::Server { is_typed: true },
}];

const CURSOR: &[AgentFile] = &[AgentFile {
    project: ".cursor/mcp.json",
    home: ".cursor/mcp.json",
    variable: None,
    place: servers(&["mcpServers"]),
    content: EntryContent::Server { is_typed: true },
}];

const GEMINI: &[AgentFile] = &[AgentFile {
    project: ".gemini/settings.json",
    home: ".gemini/settings.json",
    variable: None,
    place: servers(&["mcpServers"]),
    content: EntryContent::Server { is_typed: false },
}];

/// Returns the files of an agent, in the order in which entries are added.
pub(super) fn files(agent: CodingAgent) -> &'static [AgentFile] {
    match agent {
        CodingAgent::ClaudeCode => CLAUDE_CODE,
        CodingAgent::Codex => CODEX,
        CodingAgent::VsCode => VS_CODE,
        CodingAgent::Cursor => CURSOR,
        CodingAgent::Gemini => GEMINI,
    }
}

/// Returns whether the files of the user are the usual ones. Codex reads those of a project only
/// after the user has declared it trusted.
pub(super) fn is_usually_of_user(agent: CodingAgent) -> bool {
    agent == CodingAgent::Codex
}
