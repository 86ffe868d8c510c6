//! A request that did not run has the same reason everywhere: in the record, in `list`, `wait`,
//! `show`, `status` and the daemon's log, with a help text.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, Record, RequestText, Service, ServiceConfig, TmuxScreen};

#[track_caller]
fn run_command(bench: &Bench, service: &Service<'_>, words: &[&str]) -> CliOutput {
    let place = service.spool();
    CliOutput::of(bench.command("toolexec").args(words).arg("--spool").arg(place))
}

/// Returns the reason of a record, and its part before the help.
#[track_caller]
fn reason_of(record: &Record) -> (String, String) {
    let quoted = record.text.lines().find_map(|line| line.strip_prefix("reason: ")).unwrap();
    let reason: Option<String> = serde_json::from_str(quoted).unwrap();
    let reason = reason.unwrap_or_else(|| panic!("the record's reason is {quoted}"));
    let what = reason.split_once("; help: ").map_or(reason.as_str(), |(what, _)| what).to_owned();
    (reason, what)
}

#[track_caller]
fn call_tool(bench: &Bench, service: &Service<'_>, tool: &str, id: &str) -> Value {
    std::fs::create_dir_all(service.path("drafts")).unwrap();
    let mut server = bench.command("toolexec");
    server.args(["mcp", "--spool"]).arg(service.spool());
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut asks = server.stdin.take().unwrap();
    let client = json!({ "name": "test", "version": "1" });
    for (number, method, params) in [
        (
            Some(1),
            "initialize",
            json!({
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client,
            }),
        ),
        (None, "notifications/initialized", json!({})),
        (Some(2), "tools/call", json!({ "name": tool, "arguments": { "id": id } })),
    ] {
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if let Some(number) = number {
            message["id"] = json!(number);
        }
        writeln!(asks, "{message}").unwrap();
    }
    let answers = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut answers = answers.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 2).unwrap();
    drop(asks);
    assert!(server.wait().unwrap().success());
    answer["result"].clone()
}

#[test]
fn a_refused_request_says_the_same_reason_in_every_place() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("pass").time_sec(86_399));
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    let (reason, what) = reason_of(&record);
    assert!(reason.starts_with("limits.over-policy: "), "{reason}");
    let help = reason.split_once("; help: ").map(|(_, help)| help);
    let help = help.unwrap_or_else(|| panic!("no help in {reason}"));
    assert!(record.text.contains("\n- Reason: "), "{}", record.text);

    let row = |output: CliOutput, pointer: &str| -> Value {
        output.json().pointer(pointer).cloned().unwrap_or_default()
    };
    let json = ["--format", "json"];
    let id = request.id.as_str();
    for (words, pointer) in [
        (&["list"][..], "/reason"),
        (&["wait", id], "/reason"),
        (&["show", id], "/records/0/reason"),
        (&["status"], "/last/0/reason"),
    ] {
        let words: Vec<&str> = words.iter().chain(&json).copied().collect();
        let output = run_command(&bench, &service, &words);
        assert_eq!(row(output, pointer), reason, "{words:?}");
    }
    for (words, has_help) in
        [(&["list"][..], false), (&["wait", id], true), (&["show", id], true), (&["status"], false)]
    {
        let output = run_command(&bench, &service, words);
        assert!(output.stdout.contains(&what), "{words:?}: {what:?} is not in {output:#?}");
        assert_eq!(output.stdout.contains(help), has_help, "{words:?}: {help:?} in {output:#?}");
    }
    // An agent gets it too, marked as text that may quote the request.
    let status = call_tool(&bench, &service, "request_status", id);
    let shown = status["structuredContent"]["reason"].as_str().unwrap_or_default();
    assert!(shown.contains(&reason) && shown.contains("UNTRUSTED DATA"), "{status:#}");
    let read = call_tool(&bench, &service, "read_result", id);
    assert!(read["content"].to_string().contains(help), "{read:#}");

    service.wait_for("the reason in the log", |service| service.log().contains(&what));
    service.verify().assert_code(0);
}

#[test]
fn the_full_screen_shows_the_reason_of_a_refusal() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("pass").time_sec(86_399));
    let (_, what) = reason_of(&service.record_of(&request.id));
    let test = "the_full_screen_shows_the_reason_of_a_refusal";
    let Some(screen) = TmuxScreen::open(test, &bench, (200, 30)) else { return };
    screen
        .type_line(&format!("$TOOLEXEC_BIN/toolexec watch --spool {}", service.spool().display()));
    screen.wait_for(what.get(..60).unwrap_or(&what));
    screen.type_keys(["q"]);
    screen.wait_for_prompt();
}
