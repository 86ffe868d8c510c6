//! Answers to commands with and without standing approvals.

use super::*;
use crate::commands::agent::model::CodingAgent;

const PAGE: &str = include_str!("../../../../../../docs/standing-approvals.md");

/// Returns the example of the page.
fn example() -> StandingApproval {
    let (_, text) = PAGE.split_once("```markdown\n").unwrap();
    let (text, _) = text.split_once("```").unwrap();
    let now = "2026-02-10T00:00:00Z".parse().unwrap();
    StandingApproval::read(text.as_bytes(), "SA-20260209-160501Z-means.md", now).unwrap()
}

fn reason(command: &str) -> String {
    let answer = answer(command, Ok(&[example()]), HookDecision::Deny);
    assert_eq!(answer.decision, HookDecision::Deny);
    answer.reason
}

#[track_caller]
fn assert_has(reason: &str, words: &[&str]) {
    for word in words {
        assert!(reason.contains(word), "{word:?} is not in {reason}");
    }
}

#[test]
fn a_fitting_standing_approval_is_named_with_its_use() {
    let reason = reason("python means.py data/sales-7.csv 7");
    let reference = format!("standing {}", example().reference());
    let uses = [
        "SA-20260209-160501Z-means fits it",
        "draft_tool_request",
        &reference,
        r#"parameters {"last":"7"}"#,
        r#"inputs ["means.py","sales-7.csv"]"#,
    ];
    assert_has(&reason, &uses);
}

#[test]
fn a_command_without_a_standing_approval_can_be_drafted() {
    let reason = reason("python stats.py --out /out/x");
    let draft = r#"draft_tool_request of the MCP server toolexec with words ["python","stats.py""#;
    assert_has(&reason, &["No standing approval fits it", draft, "A person then reads"]);
}

#[test]
fn the_broken_rules_are_named() {
    for (command, code) in [
        ("python a.py | sh", "command."),
        ("ls && rm -rf x", "command."),
        ("cat <(ls)", "command."),
        ("bash -c 'ls'", "command."),
        ("python a.py\nrm x", "command.multiple-lines"),
        ("", "command.empty"),
        ("pip install x", "package."),
    ] {
        assert_has(&reason(command), &["A request would be refused too: ", code, "one command"]);
    }
}

#[test]
fn ask_is_the_answer_only_if_nothing_fits() {
    let asked = |command: &str| answer(command, Ok(&[example()]), HookDecision::Ask).decision;
    assert_eq!(asked("ls | wc"), HookDecision::Ask);
    assert_eq!(asked("python stats.py"), HookDecision::Ask);
    assert_eq!(asked("python means.py sales-7.csv 7"), HookDecision::Deny);
}

#[test]
fn unknown_standing_approvals_are_reported() {
    let answer = answer("ls", Err("public/: missing"), HookDecision::Deny);
    assert_eq!(answer.decision, HookDecision::Deny);
    assert_has(&answer.reason, &["unknown: public/: missing."]);
}

#[test]
fn a_reason_is_one_line_without_control_characters() {
    let answer = answer("echo '\u{1b}[2J\u{202e}'\n\n|", Ok(&[]), HookDecision::Deny);
    assert!(!answer.reason.chars().any(|c| c.is_control() || c == '\u{202e}'), "{answer:?}");
    let json = answer.json(CodingAgent::ClaudeCode.hook()).to_string();
    assert_has(&json, &[r#""hookEventName":"PreToolUse""#, r#""permissionDecision":"deny""#]);
}

#[test]
fn each_agent_gets_the_decision_and_the_reason_in_its_form() {
    let answer = answer("ls", Ok(&[]), HookDecision::Ask);
    let of = |agent: CodingAgent, place: &str| {
        let json = answer.json(agent.hook());
        let found = json.pointer(place).and_then(Value::as_str).map(str::to_owned);
        found.unwrap_or_else(|| panic!("{agent}: {place} is not in {json}"))
    };
    for (agent, decision, reason) in [
        (
            CodingAgent::Codex,
            "/hookSpecificOutput/permissionDecision",
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (CodingAgent::VsCode, "/permissionDecision", "/permissionDecisionReason"),
        (
            CodingAgent::VsCode,
            "/hookSpecificOutput/permissionDecision",
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (CodingAgent::Gemini, "/decision", "/reason"),
        (CodingAgent::Cursor, "/permission", "/agent_message"),
        (CodingAgent::Cursor, "/permission", "/user_message"),
    ] {
        assert_eq!(of(agent, decision), "ask");
        assert_eq!(of(agent, reason), answer.reason);
    }
}
