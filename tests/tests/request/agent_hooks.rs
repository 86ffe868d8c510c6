//! The hooks of all agents: each is called in the form of its agent, by the command that `setup`
//! writes, and answers in that form.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput};

use crate::hook::{spool_with_standing, text, with_input};

const FITTING: &str = "python script.py 7";

/// The hook of an agent, as its documentation describes it. A place is a JSON pointer.
struct AgentHook {
    agent: &'static str,
    /// The file in a project, and the place of the hook's command in it.
    file: &'static str,
    command: &'static str,
    /// The call of a shell command. `COMMAND` is in the place of the command.
    call: &'static str,
    /// The call of a tool that runs no command.
    other_call: Option<&'static str>,
    decision: &'static str,
    reason: &'static str,
    can_ask: bool,
}

const HOOKS: [AgentHook; 6] = [
    AgentHook {
        agent: "claude-code",
        file: ".claude/settings.json",
        command: "/hooks/PreToolUse/0/hooks/0/command",
        call: r#"{"session_id":"1","transcript_path":"/t","cwd":"/w","permission_mode":"default",
            "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"COMMAND"},
            "tool_use_id":"2"}"#,
        other_call: Some(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/x"}}"#,
        ),
        decision: "/hookSpecificOutput/permissionDecision",
        reason: "/hookSpecificOutput/permissionDecisionReason",
        can_ask: true,
    },
    AgentHook {
        agent: "codex",
        file: ".codex/hooks.json",
        command: "/hooks/PreToolUse/0/hooks/0/command",
        call: r#"{"session_id":"1","turn_id":"t","transcript_path":null,"cwd":"/w","model":"m",
            "permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",
            "tool_input":{"command":"COMMAND"},"tool_use_id":"2"}"#,
        other_call: Some(
            r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__x__y","tool_input":{"a":1}}"#,
        ),
        decision: "/hookSpecificOutput/permissionDecision",
        reason: "/hookSpecificOutput/permissionDecisionReason",
        can_ask: false,
    },
    // The local harness.
    AgentHook {
        agent: "vscode",
        file: ".github/hooks/toolexec.json",
        command: "/hooks/PreToolUse/0/command",
        call: r#"{"timestamp":"2026-02-09T10:30:00.000Z","cwd":"/w","sessionId":"1",
            "hookEventName":"PreToolUse","transcript_path":"/t","tool_name":"run_in_terminal",
            "tool_input":{"command":"COMMAND","explanation":"e"},"tool_use_id":"3"}"#,
        other_call: Some(
            r#"{"hookEventName":"PreToolUse","tool_name":"mcp_toolexec_draft_tool_request",
                "tool_input":{"command":"ls"}}"#,
        ),
        decision: "/hookSpecificOutput/permissionDecision",
        reason: "/hookSpecificOutput/permissionDecisionReason",
        can_ask: true,
    },
    // The Copilot harness.
    AgentHook {
        agent: "vscode",
        file: ".github/hooks/toolexec.json",
        command: "/hooks/PreToolUse/0/command",
        call: r#"{"hook_event_name":"PreToolUse","session_id":"1","cwd":"/w","tool_name":"Bash",
            "timestamp":"2026-02-09T10:30:00.000Z","tool_input":{"command":"COMMAND"}}"#,
        other_call: Some(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Edit",
                "tool_input":{"command":"str_replace","path":"/x"}}"#,
        ),
        decision: "/permissionDecision",
        reason: "/permissionDecisionReason",
        can_ask: true,
    },
    AgentHook {
        agent: "cursor",
        file: ".cursor/hooks.json",
        command: "/hooks/beforeShellExecution/0/command",
        call: r#"{"hook_event_name":"beforeShellExecution","conversation_id":"1","cwd":"/w",
            "generation_id":"2","workspace_roots":["/w"],"command":"COMMAND"}"#,
        other_call: None,
        decision: "/permission",
        reason: "/agent_message",
        can_ask: true,
    },
    AgentHook {
        agent: "gemini",
        file: ".gemini/settings.json",
        command: "/hooks/BeforeTool/0/hooks/0/command",
        call: r#"{"session_id":"1","transcript_path":"/t","cwd":"/w","hook_event_name":"BeforeTool",
            "timestamp":"2026-02-09T10:30:00Z","tool_name":"run_shell_command",
            "tool_input":{"command":"COMMAND","description":"d"}}"#,
        other_call: Some(
            r#"{"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{"path":"x"}}"#,
        ),
        decision: "/decision",
        reason: "/reason",
        can_ask: false,
    },
];

impl AgentHook {
    fn call_of(&self, command: &str) -> String {
        self.call.replace("COMMAND", command)
    }

    fn run(&self, bench: &Bench, spool: &Path, more: &[&str], call: &str) -> CliOutput {
        let mut command = bench.command("toolexec");
        command.args(["hook", self.agent, "--agent", "core", "--spool"]).arg(spool).args(more);
        with_input(&mut command, call.as_bytes())
    }

    /// Asserts the decision, and returns its reason.
    #[track_caller]
    fn assert_decision(&self, output: &CliOutput, decision: &str) -> String {
        output.assert_code(0);
        let answer: Value = output.json();
        let agent = self.agent;
        assert_eq!(answer.pointer(self.decision), Some(&json!(decision)), "{agent}: {answer}");
        let reason = answer.pointer(self.reason).and_then(Value::as_str);
        reason.unwrap_or_else(|| panic!("{agent}: {answer}")).to_owned()
    }

    /// Sets up the agent in a project, and returns the command of its hook.
    #[track_caller]
    fn set_up(&self, bench: &Bench, spool: &Path) -> String {
        let project = bench.scratch().dir(&format!("project-{}", self.agent));
        let options = ["--project", text(&project), "--spool", text(spool), "--agent", "core"];
        let words = [&["setup", self.agent][..], &options[..], &["--write"]].concat();
        let output = bench.toolexec(words);
        output.assert_code(0);
        assert_eq!(output.stderr.contains("/hooks in Codex"), self.agent == "codex", "{output:#?}");
        let file = fs::read_to_string(project.join(self.file)).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let command = file.pointer(self.command).and_then(Value::as_str);
        command.unwrap_or_else(|| panic!("{}: {file:#}", self.file)).to_owned()
    }
}

#[test]
fn each_agent_is_answered_in_its_form() {
    let bench = Bench::new();
    let (spool, standing) = spool_with_standing(&bench);
    for hook in &HOOKS {
        let run = |more: &[&str], command| hook.run(&bench, &spool, more, &hook.call_of(command));
        let reason = hook.assert_decision(&run(&[], FITTING), "deny");
        assert!(reason.contains(&standing.reference()), "{}: {reason}", hook.agent);
        let reason = hook.assert_decision(&run(&[], "ls | wc"), "deny");
        assert!(reason.contains("command.pipeline"), "{}: {reason}", hook.agent);
        let asked = if hook.can_ask { "ask" } else { "deny" };
        hook.assert_decision(&run(&["--ask"], "ls | wc"), asked);
        hook.assert_decision(&run(&["--ask"], FITTING), "deny");
    }
}

#[test]
fn a_tool_that_runs_no_command_gets_no_answer_in_any_form() {
    let bench = Bench::new();
    let (spool, _) = spool_with_standing(&bench);
    for hook in &HOOKS {
        let Some(call) = hook.other_call else { continue };
        let output = hook.run(&bench, &spool, &[], call);
        output.assert_code(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{}", hook.agent);
    }
}

#[test]
fn a_call_in_the_form_of_another_agent_is_blocked() {
    let bench = Bench::new();
    let (spool, _) = spool_with_standing(&bench);
    for (hook, other) in [(&HOOKS[0], &HOOKS[5]), (&HOOKS[4], &HOOKS[0]), (&HOOKS[5], &HOOKS[4])] {
        let blocked = hook.run(&bench, &spool, &[], &other.call_of("ls"));
        blocked.assert_code(2);
        blocked.assert_stderr(&[&format!("hook {}: ", hook.agent), "help: "]);
        assert_eq!(blocked.stdout, "");
    }
}

/// Codex blocks a command only if the failed hook has written a reason.
#[test]
fn the_hook_that_setup_writes_answers_and_blocks_without_its_program() {
    let bench = Bench::new();
    let (spool, _) = spool_with_standing(&bench);
    for hook in &HOOKS {
        let command = hook.set_up(&bench, &spool);
        let run = |command: &str, call: &str| {
            with_input(bench.command("sh").args(["-c", command]), call.as_bytes())
        };
        let reason = hook.assert_decision(&run(&command, &hook.call_of(FITTING)), "deny");
        assert!(reason.contains("fits it"), "{}: {reason}", hook.agent);
        run(&command, "{").assert_code(2);
        let gone = run(&command.replace("bin/toolexec", "bin/gone"), &hook.call_of("ls"));
        // Cursor blocks after every failure, because the entry has `failClosed`.
        assert_eq!(gone.code == Some(2), hook.agent != "cursor", "{gone:#?}");
        assert_ne!(gone.code, Some(0));
        assert!(!gone.stderr.is_empty(), "{gone:#?}");
    }
    let cursor = bench.scratch().path().join("project-cursor/.cursor/hooks.json");
    let cursor: Value = serde_json::from_str(&fs::read_to_string(cursor).unwrap()).unwrap();
    assert_eq!(cursor["version"], 1);
    assert_eq!(cursor["hooks"]["beforeShellExecution"][0]["failClosed"], true);
}
