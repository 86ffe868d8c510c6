//! `toolexec gate`: one decision for each event, including invalid events, and the matching exit
//! code. The library's tests cover the decisions themselves.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, workspace};

const MIB: usize = 1024 * 1024;

fn public() -> Value {
    json!({
        "tool_name": "search_docs", "tool_category": "public_read", "authorization_state": "none",
        "evidence_refs": [], "risk_domain": "research", "proposed_arguments": {},
        "recommended_route": "accept",
    })
}

fn claimed() -> Value {
    let mut event = public();
    event["tool_category"] = "write".into();
    event["recommended_route"] = "ask".into();
    event
}

/// Runs the command with these bytes on its standard input.
fn piped(bench: &Bench, words: &[&str], input: &[u8]) -> CliOutput {
    let begun = Instant::now();
    let mut command = bench.command("toolexec");
    command.arg("gate").arg("-").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that decides before the end of its input closes the pipe.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = CliOutput::from_output(&child.wait_with_output().unwrap(), begun.elapsed());
    writer.join().unwrap();
    output
}

#[track_caller]
fn assert_refused(result: &Value) {
    assert_eq!(result["recommended_action"], "refuse", "{result}");
    assert_eq!(result["gate_decision"], "fail", "{result}");
    assert_eq!(result["hard_blockers"], json!(["schema_validation_failed"]), "{result}");
}

#[test]
fn a_file_or_stdin_is_one_event() {
    let bench = Bench::new();
    for (event, code, route) in [(public(), 0, "accept"), (claimed(), 1, "defer")] {
        let file = bench.scratch().file("event.json", event.to_string());
        let named = bench.toolexec(["gate", file.to_str().unwrap()]);
        let spread = serde_json::to_string_pretty(&event).unwrap();
        let typed = piped(&bench, &["--format", "json"], spread.as_bytes());
        for output in [&named, &typed] {
            output.assert_code(code);
            assert_eq!(output.stderr, "");
            assert_eq!(output.stdout.lines().count(), 1);
            assert_eq!(output.json()["recommended_action"], route);
            assert_eq!(output.json()["evidence_ref_count"], 0);
        }
    }
}

#[test]
fn an_invalid_event_is_refused_with_json() {
    let bench = Bench::new();
    let twice = public().to_string().replacen('{', "{\"tool_name\":\"other\",", 1);
    let wide = public().to_string().replace("{}", "{\"a\":9007199254740992}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge =
        public().to_string().replace("{}", &format!("{{\"a\":\"{}\"}}", "x".repeat(9 * MIB)));
    let inputs: [&[u8]; 9] = [
        b"",
        b"nonsense",
        b"[]",
        b"\xff\xfe\x00",
        b"{}{}",
        twice.as_bytes(),
        wide.as_bytes(),
        deep.as_bytes(),
        huge.as_bytes(),
    ];
    for input in inputs {
        let output = piped(&bench, &[], input);
        output.assert_code(1);
        assert_eq!(output.stderr, "");
        assert_eq!(output.stdout.lines().count(), 1);
        assert_refused(&output.json());
        assert!(output.stdout.len() < 3000, "{} bytes", output.stdout.len());
    }
}

#[test]
fn every_line_has_its_answer_in_order() {
    let bench = Bench::new();
    let long = format!("{{\"tool_name\":\"{}\"}}", "x".repeat(3 * MIB));
    let padded = |bytes: usize| {
        let event = public().to_string();
        format!("{event}{}", " ".repeat(bytes - event.len()))
    };
    let lines = [
        public().to_string(),
        "nonsense".to_owned(),
        String::new(),
        long,
        claimed().to_string(),
        format!("{}\r", public()),
        padded(MIB),
        padded(MIB + 1),
        public().to_string(),
    ];
    // The last line may lack a newline.
    for end in ["", "\n"] {
        let output = piped(&bench, &["--format", "jsonl"], (lines.join("\n") + end).as_bytes());
        output.assert_code(1);
        let results = output.json_lines();
        let routes: Vec<_> =
            results.iter().map(|it| it["recommended_action"].as_str().unwrap()).collect();
        let expected = [
            "accept", "refuse", "refuse", "refuse", "defer", "accept", "accept", "refuse", "accept",
        ];
        assert_eq!(routes, expected);
        for at in [1, 2, 3, 7] {
            assert_refused(&results[at]);
        }
    }
    let good = format!("{}\n{}\n", public(), public());
    let output = piped(&bench, &["--format", "jsonl"], good.as_bytes());
    output.assert_code(0);
    assert_eq!(output.json_lines().len(), 2);
}

#[test]
fn each_line_is_answered_immediately() {
    let bench = Bench::new();
    let mut command = bench.command("toolexec");
    command.args(["gate", "-", "--format", "jsonl"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(stdout).lines();
    for event in [public(), claimed()] {
        writeln!(stdin, "{event}").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["tool_category"], event["tool_category"]);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn an_unreadable_input_is_an_error() {
    let bench = Bench::new();
    for words in [
        &["gate", "/nonexistent/event.json"][..],
        &["gate", "/"],
        &["gate"],
        &["gate", "a.json", "b.json"],
        &["gate", "-", "--format", "human"],
        &["gate", "-", "--policy", "embedded"],
    ] {
        let output = bench.toolexec(words.iter().copied());
        output.assert_code(3);
        assert_eq!(output.stdout, "", "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
    bench.toolexec(["gate", "/nonexistent/event.json"]).assert_stderr(&["/nonexistent/event.json"]);
}

/// The age of evidence is measured by the host's clock.
#[test]
fn old_evidence_is_stale() {
    let bench = Bench::new();
    let mut event = public();
    event["evidence_refs"] = json!([{
        "source_id": "a", "kind": "policy", "trust_tier": "verified", "redaction_status": "public",
        "retrieved_at": "2020-01-01T00:00:00Z",
    }]);
    let output = piped(&bench, &[], event.to_string().as_bytes());
    output.assert_code(1);
    assert_eq!(output.json()["hard_blockers"], json!(["stale_evidence"]));
}

#[test]
fn the_example_of_the_page_is_true() {
    let page = fs::read_to_string(workspace().join("docs/gate.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("\n```json\n").skip(1).map(|it| it.split("\n```").next().unwrap()).collect();
    let [event, beginning] = blocks[..] else { panic!("{} blocks", blocks.len()) };
    let bench = Bench::new();
    let file = bench.scratch().file("event.json", event);
    let output = bench.toolexec(["gate", file.to_str().unwrap()]);
    output.assert_code(0);
    assert!(output.stdout.starts_with(beginning), "{}", output.stdout);
    let help = bench.toolexec(["gate", "--help"]).stdout;
    assert!(help.contains("Example: toolexec gate event.json"), "{help}");
    let result = output.json();
    for name in result.as_object().unwrap().keys() {
        assert!(help.contains(&format!("\"{name}\"")), "--help does not name {name}");
        assert!(page.contains(&format!("`{name}`")), "docs/gate.md does not name {name}");
    }
}

/// The time to decide grows no faster than the size of hostile input.
#[test]
fn a_mebibyte_of_evidence_is_answered_soon() {
    let bench = Bench::new();
    let mut event = public();
    let digits = "4 ".repeat(450_000);
    event["evidence_refs"] = json!([{ "source_id": "a", "summary": digits }]);
    let output = piped(&bench, &[], event.to_string().as_bytes());
    output.assert_code(1);
    event["evidence_refs"] = json!(vec!["s"; 200_000]);
    piped(&bench, &[], event.to_string().as_bytes()).assert_code(1);
    assert!(output.elapsed < Duration::from_secs(10), "{:?}", output.elapsed);
}
