//! The coding agents that these commands know, and their tools.

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

/// The tools of Claude Code that run commands in a shell.
pub(crate) const SHELL_TOOLS: [&str; 3] = ["Bash", "Monitor", "PowerShell"];
