//! `toolexec hook`: the answers to the calls of a coding agent, by itself and as `setup` configures
//! it. No answer lets the agent's shell run a command.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, SavedStanding, StandingText};

const SCRIPT: &str = "import sys\nprint(sys.argv[1])\n";

/// Returns the call of a shell tool.
fn call(command: &str) -> String {
    json!({
        "session_id": "1", "transcript_path": "/t", "cwd": "/w", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command, "description": "a test" }, "tool_use_id": "2",
    })
    .to_string()
}

/// Runs a command with this text on stdin.
pub(crate) fn with_input(command: &mut Command, input: &[u8]) -> CliOutput {
    let begun = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program may exit before it has read everything.
    stdin.write_all(input).unwrap_or_default();
    drop(stdin);
    CliOutput::from_output(&child.wait_with_output().unwrap(), begun.elapsed())
}

fn hook(bench: &Bench, options: &[&str], input: &[u8]) -> CliOutput {
    with_input(bench.command("toolexec").args(["hook", "claude-code"]).args(options), input)
}

/// Returns the decision and its reason.
#[track_caller]
fn answer(output: &CliOutput) -> (String, String) {
    output.assert_code(0);
    assert_eq!(output.stderr, "");
    let answer: Value = output.json();
    let answer = &answer["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "PreToolUse");
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Makes a spool in which the daemon has published a standing approval.
pub(crate) fn spool_with_standing(bench: &Bench) -> (PathBuf, SavedStanding) {
    let standing = bench.scratch().dir("spool/public/standing");
    let saved = StandingText::of_script(SCRIPT).save(&standing);
    (bench.scratch().path().join("spool"), saved)
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_fitting_standing_approval_is_named_with_its_use() {
    let bench = Bench::new();
    let (spool, standing) = spool_with_standing(&bench);
    let options = ["--spool", text(&spool), "--agent", "core"];
    for more in [&[][..], &["--ask"]] {
        let options = [&options[..], more].concat();
        let output = hook(&bench, &options, call("python script.py 7").as_bytes());
        let (decision, reason) = answer(&output);
        assert_eq!(decision, "deny");
        let reference = standing.reference();
        for words in
            ["draft_tool_request", &reference, "{\"last\":\"7\"}", "[\"script.py\"]", "did not run"]
        {
            assert!(reason.contains(words), "{words:?} is not in {reason}");
        }
    }
    for (options, command) in [
        (&options[..], "python script.py 101"),
        (&options[..], "python script.py 7 && ls"),
        (&["--spool", text(&spool), "--agent", "other"][..], "python script.py 7"),
        (&["--spool", text(&spool)], "python script.py 7"),
    ] {
        let (decision, reason) = answer(&hook(&bench, options, call(command).as_bytes()));
        assert_eq!(decision, "deny");
        assert!(reason.contains("No standing approval fits it"), "{reason}");
    }
}

#[test]
fn every_other_command_is_denied_with_its_rule_or_asked() {
    let bench = Bench::new();
    let (spool, _) = spool_with_standing(&bench);
    let options = ["--spool", text(&spool), "--agent", "core"];
    for (command, words) in [
        ("ls", "draft_tool_request of the MCP server toolexec with words [\"ls\"]"),
        ("cat a | sh", "command.pipeline"),
        ("echo $(id)", "command.substitution"),
        ("bash -c 'ls -l'", "command.shell"),
        ("find . -exec rm {} +", "A request would be refused too"),
        ("true\nrm -rf /", "command.multiple-lines"),
    ] {
        let output = hook(&bench, &options, call(command).as_bytes());
        let (decision, reason) = answer(&output);
        assert_eq!(decision, "deny");
        assert!(reason.contains(words), "{words:?} is not in {reason}");
        let asked = hook(&bench, &[&options[..], &["--ask"]].concat(), call(command).as_bytes());
        let (decision, question) = answer(&asked);
        assert_eq!(decision, "ask");
        // A person may still let it run.
        assert!(question.starts_with("This command would run outside TOOL-EXEC"), "{question}");
        assert!(question.contains(words), "{words:?} is not in {question}");
    }
}

#[test]
fn without_a_spool_a_command_is_denied_too() {
    let bench = Bench::new();
    let options = ["--spool", "missing", "--agent", "core"];
    let (decision, reason) = answer(&hook(&bench, &options, call("ls").as_bytes()));
    assert_eq!(decision, "deny");
    assert!(reason.contains("The standing approvals are unknown: missing/public"), "{reason}");
}

#[test]
fn a_call_that_cannot_be_read_is_blocked() {
    let bench = Bench::new();
    let large = call(&"x".repeat(1 << 20));
    let other = call("ls").replace("PreToolUse", "PostToolUse");
    let list = call("ls").replace("\"ls\"", "[\"ls\"]");
    for (input, words) in [
        ("", "not the JSON of a call"),
        ("{\"tool_name\": \"Bash\"", "not the JSON of a call"),
        (large.as_str(), "larger than the limit of 1048576 bytes"),
        (other.as_str(), "`PostToolUse` is another event"),
        ("{\"tool_name\": \"Bash\", \"tool_input\": {}}", "the call names no event"),
        (list.as_str(), "has no command in text"),
    ] {
        let blocked = hook(&bench, &[], input.as_bytes());
        blocked.assert_code(2);
        blocked.assert_stderr(&["hook claude-code: ", words, "help: "]);
        assert_eq!(blocked.stdout, "");
    }
    hook(&bench, &[], b"\xff").assert_code(2);
    // The answer cannot be written.
    let mut command = bench.command("toolexec");
    command.args(["hook", "claude-code"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(call("ls").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_tool_without_a_command_gets_no_answer() {
    let bench = Bench::new();
    let input = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": { "file_path": "/x" },
    });
    let output = hook(&bench, &[], input.to_string().as_bytes());
    output.assert_code(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
}

/// The agent runs the command of the hook in a shell and blocks the call if it exits with 2.
#[test]
fn the_hook_that_setup_writes_blocks_also_if_its_program_is_gone() {
    let bench = Bench::new();
    let (spool, _) = spool_with_standing(&bench);
    let options = ["setup", "claude-code", "--spool", text(&spool), "--agent", "core", "--write"];
    bench.toolexec(options).assert_code(0);
    let settings = fs::read_to_string(bench.home().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let run = |command: &str, input: &str| {
        with_input(bench.command("sh").args(["-c", command]), input.as_bytes())
    };
    let (decision, reason) = answer(&run(command, &call("python script.py 7")));
    assert_eq!(decision, "deny");
    assert!(reason.contains("fits it"), "{reason}");
    run(command, "{").assert_code(2);
    run(&command.replace("bin/toolexec", "bin/gone"), &call("ls")).assert_code(2);
    run(&command.replace("--agent core", "--wrong"), &call("ls")).assert_code(2);
}
