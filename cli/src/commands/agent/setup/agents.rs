//! The configuration files of each agent, as its documentation names them.

use super::model::{ConfigPlace, ENTRY_NAME, EntryContent, EntryKey, JsonPlace};
use crate::commands::agent::model::CodingAgent;

/// An entry of ours in a configuration file.
pub(super) struct AgentEntry {
    pub(super) place: ConfigPlace,
    pub(super) content: EntryContent,
}

/// A configuration file with entries of ours.
pub(super) struct AgentFile {
    /// The path in a project.
    pub(super) project: &'static str,
    /// The path in the home of the user.
    pub(super) home: &'static str,
    /// A variable that names another directory, and the path in that directory.
    pub(super) variable: Option<(&'static str, &'static str)>,
    /// In the order in which they are added.
    pub(super) entries: &'static [AgentEntry],
}

const fn server(keys: &'static [&'static str], is_typed: bool) -> AgentEntry {
    let place = JsonPlace { keys, key: EntryKey::Member(ENTRY_NAME), version: None };
    AgentEntry { place: ConfigPlace::Json(place), content: EntryContent::Server { is_typed } }
}

/// Returns the entry of a hook in a list. These words of its command are ours alone.
const fn hook(
    keys: &'static [&'static str],
    words: &'static str,
    version: Option<u8>,
    content: EntryContent,
) -> AgentEntry {
    let place = JsonPlace { keys, key: EntryKey::Element(words), version };
    AgentEntry { place: ConfigPlace::Json(place), content }
}

/// The hooks are last: the tools that their answers name must be there first.
const CLAUDE_CODE: &[AgentFile] = &[
    AgentFile {
        project: ".mcp.json",
        home: ".claude.json",
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        entries: &[server(&["mcpServers"], true)],
    },
    AgentFile {
        project: ".claude/settings.json",
        home: ".claude/settings.json",
        variable: Some(("CLAUDE_CONFIG_DIR", "settings.json")),
        entries: &[hook(
            &["hooks", "PreToolUse"],
            " hook claude-code",
            None,
            EntryContent::ToolHook,
        )],
    },
];

const CODEX: &[AgentFile] = &[
    AgentFile {
        project: ".codex/config.toml",
        home: ".codex/config.toml",
        variable: Some(("CODEX_HOME", "config.toml")),
        entries: &[AgentEntry {
            place: ConfigPlace::Toml("mcp_servers"),
            content: EntryContent::Server { is_typed: false },
        }],
    },
    AgentFile {
        project: ".codex/hooks.json",
        home: ".codex/hooks.json",
        variable: Some(("CODEX_HOME", "hooks.json")),
        entries: &[hook(&["hooks", "PreToolUse"], " hook codex", None, EntryContent::ToolHook)],
    },
];

const VS_CODE: &[AgentFile] = &[
    AgentFile {
        project: ".vscode/mcp.json",
        home: ".config/Code/User/mcp.json",
        variable: Some(("XDG_CONFIG_HOME", "Code/User/mcp.json")),
        entries: &[server(&["servers"], true)],
    },
    AgentFile {
        project: ".github/hooks/toolexec.json",
        home: ".copilot/hooks/toolexec.json",
        variable: Some(("COPILOT_HOME", "hooks/toolexec.json")),
        entries: &[hook(
            &["hooks", "PreToolUse"],
            " hook vscode",
            Some(1),
            EntryContent::PlainHook,
        )],
    },
];

const CURSOR: &[AgentFile] = &[
    AgentFile {
        project: ".cursor/mcp.json",
        home: ".cursor/mcp.json",
        variable: None,
        entries: &[server(&["mcpServers"], true)],
    },
    AgentFile {
        project: ".cursor/hooks.json",
        home: ".cursor/hooks.json",
        variable: None,
        entries: &[hook(
            &["hooks", "beforeShellExecution"],
            " hook cursor",
            Some(1),
            EntryContent::CommandHook,
        )],
    },
];

const GEMINI: &[AgentFile] = &[AgentFile {
    project: ".gemini/settings.json",
    home: ".gemini/settings.json",
    variable: None,
    entries: &[
        server(&["mcpServers"], false),
        hook(&["hooks", "BeforeTool"], " hook gemini", None, EntryContent::ToolHook),
    ],
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

/// Returns the act that remains to the user after a new hook.
pub(super) fn remaining_act(agent: CodingAgent) -> Option<&'static str> {
    (agent == CodingAgent::Codex).then_some(
        "codex: a new or changed hook does not run before you trust it; help: type /hooks in Codex",
    )
}
