//! `toolexec lint`: findings, JSON, exit code. `diagnostics.rs` and `sarif.rs` test its output.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, RequestText};

fn lint(bench: &Bench, words: &[&str], files: &[&PathBuf]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.arg("lint").args(words).args(files))
}

fn codes(object: &Value) -> Vec<&str> {
    let violations = object["violations"].as_array().unwrap();
    violations.iter().map(|violation| violation["code"].as_str().unwrap()).collect()
}

fn good() -> RequestText {
    RequestText::python("pass")
}

#[test]
fn each_file_is_one_object_in_the_order_given() {
    let bench = Bench::new();
    let fine = bench.save(&good()).path;
    let bad = bench
        .save(&good().command("python script.py | sort").edit("level: low", "level: none"))
        .path;
    let neither = bench.scratch().file("notes.md", "just notes\n");
    let output = lint(&bench, &["--format", "json"], &[&bad, &fine, &neither]);
    output.assert_code(2);
    assert_eq!(output.stderr, "");
    let shown = lint(&bench, &[], &[&neither]).stdout;
    assert!(shown.contains("invalid file of unknown kind, checked as a request: "), "{shown}");
    let objects = output.json_lines();
    assert_eq!(objects.len(), 3);
    for (object, path) in objects.iter().zip([&bad, &fine, &neither]) {
        assert_eq!(object["file"], path.to_str().unwrap(), "exactly as given");
        let mut keys: Vec<_> = object.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["file", "kind", "valid", "violations"]);
        for violation in object["violations"].as_array().unwrap() {
            let mut keys: Vec<_> =
                violation.as_object().unwrap().keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(keys, ["code", "column", "hint", "line", "message", "severity"]);
            assert!(["error", "warning"].contains(&violation["severity"].as_str().unwrap()));
        }
    }
    let [bad, fine, neither] = [&objects[0], &objects[1], &objects[2]];
    assert_eq!((&bad["kind"], &bad["valid"]), (&"request".into(), &false.into()));
    assert!(codes(bad).contains(&"command.pipeline"), "{bad}");
    assert!(codes(bad).contains(&"risk.level"), "all at once: {bad}");
    assert_eq!((&fine["kind"], &fine["valid"]), (&"request".into(), &true.into()));
    assert_eq!(codes(fine), Vec::<&str>::new());
    assert_eq!((&neither["kind"], &neither["valid"]), (&"unknown".into(), &false.into()));
}

#[test]
fn a_draft_may_still_lack_its_approval() {
    let bench = Bench::new();
    let path = bench.save(&good().edit("approved_by: \"tester\"", "approved_by: \"\"")).path;
    let output = lint(&bench, &["--format", "json"], &[&path]);
    output.assert_code(2);
    assert_eq!(codes(&output.json()), ["approval.missing"]);
    assert_eq!(output.json()["violations"][0]["severity"], "error");
    let output = lint(&bench, &["--draft", "--format", "json"], &[&path]);
    output.assert_code(0);
    assert_eq!(codes(&output.json()), ["approval.missing"]);
    assert_eq!(output.json()["violations"][0]["severity"], "warning");
    // Other errors stay errors.
    let path = bench.save(&good().edit("approved_by: \"tester\"", "approved_by: \"\"").time_sec(0));
    lint(&bench, &["--draft"], &[&path.path]).assert_code(2);
}

#[test]
fn another_file_name_is_a_warning() {
    let bench = Bench::new();
    let path = bench.scratch().file("mine.md", good().text());
    let output = lint(&bench, &["--format", "json"], &[&path]);
    output.assert_code(0);
    assert_eq!(codes(&output.json()), ["schema.file-name"]);
}

#[test]
fn an_unreadable_file_exits_3_after_the_others() {
    let bench = Bench::new();
    let fine = bench.save(&good()).path;
    let missing = bench.home().join("missing.md");
    let output = lint(&bench, &["--format", "json"], &[&missing, &fine]);
    output.assert_code(3);
    output.assert_stderr(&[missing.to_str().unwrap()]);
    let objects = output.json_lines();
    assert_eq!(objects.len(), 2, "one object a file, whatever the file");
    assert_eq!(objects[0]["valid"], false);
    assert!(objects[0]["error"].is_string(), "{objects:#?}");
    let output = lint(&bench, &[], &[&bench.home()]);
    output.assert_code(3);
    output.assert_stderr(&[bench.home().to_str().unwrap()]);
    lint(&bench, &[], &[]).assert_code(3);
}

#[test]
fn our_own_results_lint_clean() {
    let bench = Bench::new();
    let script = "print('---\\n## Command\\n\\x1b[31m\\u202e sudo rm -rf / | sh ```')";
    let requests = [
        good().edit("approved_by: \"tester\"", "approved_by: \"\""),
        RequestText::python(script),
        RequestText::python("raise SystemExit(3)"),
    ];
    let records: Vec<PathBuf> = requests
        .iter()
        .map(|request| {
            let (_, record) = bench.run_recorded(request);
            record.path.join(format!("{}.md", record.id()))
        })
        .collect();
    let output = lint(&bench, &["--format", "json"], &records.iter().collect::<Vec<_>>());
    output.assert_code(0);
    for object in output.json_lines() {
        assert_eq!((&object["kind"], codes(&object)), (&"result".into(), vec![]), "{object}");
    }
    let changed = fs::read_to_string(&records[1]).unwrap().replace("## Safety Notes", "## Other");
    let changed = bench.scratch().file(records[1].file_name().unwrap().to_str().unwrap(), changed);
    lint(&bench, &[], &[&changed]).assert_code(2);
}

#[test]
fn a_code_is_explained() {
    let bench = Bench::new();
    let output = bench.toolexec(["lint", "--explain", "command.pipeline"]);
    output.assert_code(0);
    assert!(output.stdout.starts_with("command.pipeline: "), "{output:#?}");
    bench.toolexec(["lint", "--explain", "command.no-such"]).assert_code(3);
}

#[test]
fn a_limit_at_its_ceiling_is_warned_of() {
    let bench = Bench::new();
    let path = bench.save(&good().memory_mb(16384)).path;
    let output = lint(&bench, &["--format", "json"], &[&path]);
    output.assert_code(0);
    assert_eq!(codes(&output.json()), ["limits.ceiling"]);
    // Another policy has another maximum. A value above it is that policy's to refuse.
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = policy.replacen("memory_mb_max: 16384", "memory_mb_max: 32768", 1);
    let policy = bench.scratch().file("policy.yaml", policy);
    let output =
        lint(&bench, &["--policy", policy.to_str().unwrap(), "--format", "json"], &[&path]);
    assert_eq!(codes(&output.json()), Vec::<&str>::new());
    lint(&bench, &["--policy", "/nowhere.yaml"], &[&path]).assert_code(3);
}
