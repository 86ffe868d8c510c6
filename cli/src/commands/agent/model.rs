//! The coding agents that these commands know, and the hooks that they have.

model::closed_set! {
    /// A coding agent, by the name that people type.
    pub(crate) enum CodingAgent {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// The command line of Codex.
        Codex = "codex",
        /// The agent of Visual Studio Code.
        VsCode = "vscode",
        /// The editor Cursor.
        Cursor = "cursor",
        /// The command line of Gemini.
        Gemini = "gemini",
    }
}

/// The answers that an agent reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HookForm {
    /// A call of a tool, and an answer in `hookSpecificOutput`.
    EventOutput,
    /// The same, with the decision at the top too.
    BothOutputs,
    /// A call of a tool, and `decision` with `reason`.
    Decision,
    /// A command, and `permission` with messages.
    Permission,
}

/// The hook of an agent, as its documentation describes it.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct HookRules {
    /// The event before a command runs. The hook must not be configured for another.
    pub(crate) event: &'static str,
    pub(crate) form: HookForm,
    /// The tools that run commands in a shell.
    pub(crate) shell_tools: &'static [&'static str],
    /// The agent asks its user if the hook answers so. Another agent would run the command.
    pub(crate) can_ask: bool,
    /// The end of the configured command, so that a missing program blocks the agent's command.
    pub(crate) blocking_end: &'static str,
}

const CLAUDE_CODE: HookRules = HookRules {
    event: "PreToolUse",
    form: HookForm::EventOutput,
    shell_tools: &["Bash", "Monitor", "PowerShell"],
    can_ask: true,
    blocking_end: " || exit 2",
};

/// Exit status 2 blocks only with a message on stderr.
const CODEX: HookRules = HookRules {
    event: "PreToolUse",
    form: HookForm::EventOutput,
    shell_tools: &["Bash"],
    can_ask: false,
    blocking_end: " || sh -c 'echo the hook of toolexec failed >&2; exit 2'",
};

/// The local harness reads the one output, the Copilot harness the other. The first names the
/// tool `run_in_terminal`, the second `Bash`.
const VS_CODE: HookRules = HookRules {
    event: "PreToolUse",
    form: HookForm::BothOutputs,
    shell_tools: &["Bash", "run_in_terminal"],
    can_ask: true,
    blocking_end: " || exit 2",
};

/// The entry has `failClosed` instead of an end.
const CURSOR: HookRules = HookRules {
    event: "beforeShellExecution",
    form: HookForm::Permission,
    shell_tools: &[],
    can_ask: true,
    blocking_end: "",
};

const GEMINI: HookRules = HookRules {
    event: "BeforeTool",
    form: HookForm::Decision,
    shell_tools: &["run_shell_command"],
    can_ask: false,
    blocking_end: " || exit 2",
};

impl CodingAgent {
    /// Returns the hook of the agent.
    pub(crate) fn hook(self) -> &'static HookRules {
        match self {
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex => &CODEX,
            Self::VsCode => &VS_CODE,
            Self::Cursor => &CURSOR,
            Self::Gemini => &GEMINI,
        }
    }
}
