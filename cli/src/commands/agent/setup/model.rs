//! The entries of configuration files, their places, and the reasons against an edit.

use std::fmt;
use std::path::{Path, PathBuf};

use model::escape_line;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The name of our entry among the MCP servers of a file.
pub(super) const ENTRY_NAME: &str = "toolexec";

/// A word of the command of each hook of ours.
const HOOK_WORD: &str = " hook ";

model::closed_set! {
    /// The hook of an agent that has hooks.
    pub(super) enum HookChoice {
        /// The hook denies.
        Deny = "deny",
        /// The hook lets a person decide.
        Ask = "ask",
        /// No hook.
        None = "none",
    }
}

/// The content of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryContent {
    Server {
        /// The entry states `"type": "stdio"`.
        is_typed: bool,
    },
    /// A hook for the tools that run commands.
    ToolHook,
    /// A hook for every tool, in a flat form.
    PlainHook,
    /// A hook for commands of the shell.
    CommandHook,
}

/// An MCP server, as a configuration file has it. Another key makes it an entry of the user's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerEntry {
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(super) transport: Option<String>,
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

/// A hook for tools with these names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookEntry {
    pub(super) matcher: String,
    pub(super) hooks: [HookHandler; 1],
}

/// The command of a hook.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HookHandler {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) command: String,
}

/// A hook for commands of the shell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandHookEntry {
    pub(super) command: String,
    /// A hook that fails blocks the command.
    #[serde(rename = "failClosed")]
    pub(super) fail_closed: bool,
}

/// An entry of ours in a configuration file. Their keys distinguish them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ConfigEntry {
    Server(ServerEntry),
    ToolHook(HookEntry),
    PlainHook(HookHandler),
    CommandHook(CommandHookEntry),
}

impl ConfigEntry {
    /// Returns whether `setup` could have written the entry.
    pub(super) fn is_ours(&self) -> bool {
        let command = match self {
            Self::Server(server) => return server.args.first().is_some_and(|word| word == "mcp"),
            Self::ToolHook(HookEntry { hooks: [handler], .. }) | Self::PlainHook(handler) => {
                &handler.command
            }
            Self::CommandHook(hook) => &hook.command,
        };
        command.contains(HOOK_WORD)
    }
}

/// The place of an entry in its container.
#[derive(Clone, Copy)]
pub(super) enum EntryKey {
    /// The member of an object with this key.
    Member(&'static str),
    /// The element of a list whose text has these words.
    Element(&'static str),
}

/// The place of an entry in a JSON file.
#[derive(Clone, Copy)]
pub(super) struct JsonPlace {
    /// The keys of the object or list that contains the entry, the outermost first.
    pub(super) keys: &'static [&'static str],
    pub(super) key: EntryKey,
    /// The `version` that the file must state, if its agent asks for one.
    pub(super) version: Option<u8>,
}

/// The place of an entry in a file.
#[derive(Clone, Copy)]
pub(super) enum ConfigPlace {
    Json(JsonPlace),
    /// The table of this name contains the entry as a table.
    Toml(&'static str),
}

/// The reason why a text is not edited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EditRefusal {
    /// Line and column, from 1.
    position: Option<(usize, usize)>,
    why: String,
    help: &'static str,
}

impl EditRefusal {
    pub(super) fn new(why: impl Into<String>, help: &'static str) -> Self {
        Self { position: None, why: why.into(), help }
    }

    /// The text is not of its format, from this line and column on.
    pub(super) fn malformed(position: (usize, usize), why: String) -> Self {
        let help = "correct it, or add the entry by hand if comments make the difference";
        Self { position: Some(position), why, help }
    }

    /// Our entry has a form that `setup` does not write.
    pub(super) fn foreign(name: &str) -> Self {
        let help = "change or remove the entry by hand";
        Self::new(format!("{name} was changed or added by hand"), help)
    }

    /// The reader of positions contradicts the parser.
    pub(super) fn bug() -> Self {
        Self::new("its positions could not be read", "report this as a bug")
    }
}

impl fmt::Display for EditRefusal {
    /// Continues the path of the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, why, help } = self;
        match position {
            Some((line, column)) => write!(f, ":{line}:{column}: {why}; help: {help}"),
            None => write!(f, ": {why}; help: {help}"),
        }
    }
}

/// The reason why `setup` does not continue.
pub(super) enum SetupError {
    /// A file must not be changed.
    Refused {
        why: String,
        /// The lines to add by hand.
        snippet: Option<String>,
    },
    Failed(Failure),
}

impl From<Failure> for SetupError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl SetupError {
    pub(super) fn refused(why: String) -> Self {
        Self::Refused { why, snippet: None }
    }
}

/// Returns a path as one line of text.
pub(super) fn shown(path: &Path) -> String {
    escape_line(&path.display().to_string())
}

/// The files to change.
pub(super) enum SetupScope {
    /// Those of the project in this directory.
    Project(PathBuf),
    /// Those of the user.
    User,
}
