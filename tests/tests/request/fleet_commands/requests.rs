//! The commands about requests: submit, list, show and wait with `--fleet`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolexec_tests::{RequestText, list};

use super::{FleetBench, REQUEST, URL, ended, request};

#[test]
fn submit_sends_the_files_that_a_spool_would_get() {
    let text = RequestText::python("print('ran')").input("extra.txt", "more");
    let id = text.id.clone();
    let answer = json!({ "submitted": { "id": id, "is_new": true, "signatures_added": 0 } });
    let again = json!({ "submitted": { "id": id, "is_new": false, "signatures_added": 2 } });
    let fleet = FleetBench::new(&[&[answer], &[again]]);
    let saved = fleet.bench.save(&text);
    let path = saved.path.to_str().unwrap();
    let output = fleet.run(&["submit", path, "--fleet", URL, "--store", "s3://bucket/x"]);
    output.assert_code(0);
    assert_eq!(output.stdout, format!("{id}: submitted to the fleet\n"));
    let command = fleet.commands().remove(0);
    assert_eq!((&command["database"], &command["store"]), (&URL.into(), &"s3://bucket/x".into()));
    assert_eq!(command["act"]["submit"]["document"], format!("{id}.md"));
    let sent = fleet.directory.join("submitted");
    assert_eq!(fs::read(sent.join(format!("{id}.md"))).unwrap(), fs::read(path).unwrap());
    let inputs = sent.join(format!("{id}.inputs"));
    assert_eq!(list(&inputs), ["extra.txt", "script.py"]);
    // The private directory is gone.
    let directory = command["act"]["submit"]["directory"].as_str().unwrap();
    assert!(!PathBuf::from(directory).exists(), "{directory}");
    fs::remove_dir_all(&sent).unwrap();
    let output = fleet.run(&["submit", path, "--fleet", URL, "--format", "json"]);
    output.assert_code(0);
    let object = output.json();
    assert_eq!(object["request_id"], id, "{output:#?}");
    assert_eq!((&object["is_new"], &object["signatures_added"]), (&false.into(), &2.into()));
}

#[test]
fn submit_asks_no_fleet_for_what_would_be_refused() {
    let fleet = FleetBench::new(&[]);
    let bad = RequestText::python("print()").command("python script.py | sort");
    let saved = fleet.bench.save(&bad);
    let output = fleet.run(&["submit", saved.path.to_str().unwrap(), "--fleet", URL]);
    output.assert_code(2);
    assert_eq!(fleet.commands(), Vec::<Value>::new());
}

#[test]
fn list_asks_for_each_state_without_a_record() {
    let (other, third) = (format!("{REQUEST}-2"), format!("{REQUEST}-3"));
    let all: &[Value] = &[ended(REQUEST, "ok", 0), request(&other, "queued")];
    let fleet = FleetBench::new(&[
        all,
        &[request(&other, "queued")],
        &[],
        &[request(&third, "started")],
        &[],
    ]);
    let output = fleet.run(&["list", "--fleet", URL]);
    output.assert_code(0);
    let expected = format!(
        "2026-02-09T16:05:02Z  ok                 {REQUEST}  TS-20260209-161030Z-{REQUEST}  host-a\n\
         2026-02-09T16:05:02Z  queued             {other}  -  -\n"
    );
    assert_eq!(output.stdout, expected);
    let output = fleet.run(&["list", "--fleet", URL, "--waiting", "--format", "json"]);
    output.assert_code(0);
    let states: Vec<_> = output.json_lines().iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["queued", "started"], "{output:#?}");
    let asked: Vec<_> =
        fleet.commands().iter().map(|it| it["act"]["list"]["state"].clone()).collect();
    let expected =
        [Value::Null, "queued".into(), "claimed".into(), "started".into(), "indeterminate".into()];
    assert_eq!(asked, expected);
}

#[test]
fn wait_exits_with_the_worst_end() {
    let (failed, missing) = (format!("{REQUEST}-2"), format!("{REQUEST}-3"));
    let timed_out: Value = "timed_out".into();
    let fleet = FleetBench::new(&[
        &[ended(REQUEST, "ok", 0)],
        &[ended(REQUEST, "ok", 0), ended(&failed, "tool_error", 1)],
        &[ended(REQUEST, "ok", 0)],
        &[request(REQUEST, "claimed"), timed_out],
        &[request(REQUEST, "indeterminate")],
    ]);
    let wait = |words: &[&str]| fleet.run(&[&["wait", "--fleet", URL], words].concat());
    let output = wait(&[REQUEST, REQUEST]);
    output.assert_code(0);
    assert_eq!(output.stdout, format!("{REQUEST}  ok  on host-a\n"));
    let wanted = json!({ "requests": [REQUEST], "timeout_sec": null });
    assert_eq!(fleet.commands()[0]["act"]["wait"], wanted);
    wait(&[REQUEST, &failed]).assert_code(1);
    let output = wait(&[REQUEST, &missing, "--format", "json"]);
    output.assert_code(2);
    assert_eq!(output.json()["state"], "no such request");
    let output = wait(&[REQUEST, "--timeout", "5"]);
    output.assert_code(3);
    assert_eq!(output.stdout, format!("{REQUEST}  has no record yet\n"));
    let output = wait(&[REQUEST]);
    output.assert_code(3);
    assert_eq!(output.stdout, format!("{REQUEST}  indeterminate\n"));
}

#[test]
fn show_prints_a_request_without_a_record() {
    let fleet =
        FleetBench::new(&[&[request(REQUEST, "claimed")], &[], &[request(REQUEST, "queued")]]);
    let output = fleet.run(&["show", REQUEST, "--fleet", URL]);
    output.assert_code(0);
    let expected = format!(
        "request    {REQUEST}\nstate      claimed\nsubmitted  2026-02-09T16:05:02Z by alice\n\
         audience   gpu\n"
    );
    assert_eq!(output.stdout, expected);
    let output = fleet.run(&["show", REQUEST, "--fleet", URL]);
    output.assert_code(2);
    output.assert_stderr(&["no such request in the fleet", "help: "]);
    let output = fleet.run(&["show", REQUEST, "--fleet", URL, "--html"]);
    output.assert_code(2);
    output.assert_stderr(&["no record yet"]);
}

#[test]
fn a_failure_is_reported_with_its_help() {
    let failed = json!({ "failed": {
        "message": "database db.example: connection refused; help: start it",
    }});
    let fleet = FleetBench::new(&[&[failed], &[ended(REQUEST, "ok", 0)]]);
    let output = fleet.run(&["list", "--fleet", URL]);
    output.assert_code(3);
    output.assert_stderr(&["database db.example: connection refused\n", "help: start it"]);
    let output = fleet.run(&["fleet", "status", "--database", URL]);
    output.assert_code(3);
    output.assert_stderr(&["answered another question", "help: "]);
    // The fake program has no third answer, and fails.
    let output = fleet.run(&["list", "--fleet", URL]);
    output.assert_code(3);
    output.assert_stderr(&["ended with exit status: 3", "help: "]);
    fs::remove_file(fleet.bench.scratch().path().join("bin/toolexec-fleet")).unwrap();
    let output = fleet.run(&["list", "--fleet", URL]);
    output.assert_code(3);
    output.assert_stderr(&["toolexec-fleet: not found", "help: install"]);
}

#[test]
fn a_fleet_replaces_a_spool_and_needs_no_password_in_its_address() {
    let fleet = FleetBench::new(&[&[]]);
    for words in [
        ["list", "--fleet", URL, "--spool", "/x"].as_slice(),
        &["list", "--fleet", URL, "--state", "/x"],
        &["show", REQUEST, "--fleet", URL, "--spool", "/x"],
        &["wait", REQUEST, "--fleet", URL, "--follow"],
        &["submit", "x.md", "--fleet", URL, "--spool", "/x"],
        &["submit", "x.md", "--store", "s3://bucket"],
        &["show", REQUEST, "--out", "/x"],
        &["list", "--password-file", "/x"],
        &["verify", "/x", "--fleet", "fleet.yaml", "--result-keys", "/x"],
    ] {
        let output = fleet.run(words);
        assert_eq!(output.code, Some(3), "{words:?}: {output:#?}");
    }
    assert_eq!(fleet.commands(), Vec::<Value>::new());
    let words = ["--password-file", "/run/password", "--ca-file", "/etc/ca.pem"];
    fleet.run(&[&["list", "--fleet", URL], words.as_slice()].concat()).assert_code(0);
    let command = fleet.commands().remove(0);
    assert_eq!(command["password_file"], "/run/password");
    assert_eq!(command["ca_file"], "/etc/ca.pem");
}
