//! Requesting and answering permissions as users and agents do: each command, its exit codes and
//! files, the valid answers, and files that no program of ours wrote.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, DocPage, RequestText, list, ssh_keygen_works};

const TOOL: &str = "toolexec.run.python";

fn run_permission(bench: &Bench, words: &[&str]) -> CliOutput {
    CliOutput::of(bench.command("toolexec").arg("permission").args(words))
}

/// Runs a command for workflow `wf-1` of agent `core`, with JSON output.
fn workflow_command(bench: &Bench, command: &str, more: &[&str]) -> CliOutput {
    let words = [&[command, "--agent", "core", "--subject", "wf-1", "--format", "json"], more];
    run_permission(bench, &words.concat())
}

#[track_caller]
fn assert_state(bench: &Bench, tool: &str, expected: &str) {
    let output = workflow_command(bench, "get", &[tool]);
    assert_eq!(output.json()["states"][tool], expected, "{output:#?}");
    output.assert_code(i32::from(expected != "APPROVED"));
}

/// Requests permission for tools, and returns the request file.
#[track_caller]
fn ask(bench: &Bench, tools: &[&str]) -> PathBuf {
    let output = workflow_command(bench, "request", tools);
    output.assert_code(0);
    output.json()["files"][0].as_str().unwrap().into()
}

fn set(bench: &Bench, request: &Path, more: &[&str]) -> CliOutput {
    let request = request.to_str().unwrap();
    run_permission(bench, &[&["set", "--format", "json", "--request", request], more].concat())
}

#[test]
fn a_question_is_asked_answered_spent_and_cleaned_up() {
    let bench = Bench::new();
    assert_state(&bench, TOOL, "REQUESTABLE");
    let question =
        workflow_command(&bench, "request", &[TOOL, "other", "--domain", "human.interaction"]);
    question.assert_code(0);
    let question = question.json();
    assert_eq!(question["data"]["requestedTools"], json!(["other", TOOL]));
    let file = PathBuf::from(question["files"][0].as_str().unwrap());
    assert!(file.starts_with(bench.state().join("drafts/permissions/human.interaction")));
    let again = workflow_command(&bench, "request", &[TOOL, "other"]).json();
    assert_eq!((&again["new"], &again["id"]), (&json!(false), &question["id"]));
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let output = set(&bench, &file, &["--grant", TOOL, "--uses", "1", "--traceparent", trace]);
    output.assert_code(0);
    let output = output.json();
    assert_eq!(output["by"], json!({ "uid": bench.uid() }));
    assert_eq!(output["denied"], json!([{ "tool": "other", "denial": "left_out" }]));
    assert_state(&bench, "other", "DENIED");
    assert_state(&bench, TOOL, "APPROVED");
    workflow_command(&bench, "request", &["other"]).assert_code(2);
    workflow_command(&bench, "request", &[TOOL]).assert_code(2);
    let spent = workflow_command(&bench, "get", &[TOOL, "--spend"]);
    spent.assert_code(0);
    assert_eq!(spent.json()["spent"][0]["tool"], TOOL);
    workflow_command(&bench, "get", &[TOOL, "--spend"]).assert_code(1);
    // The same answer again.
    let answer = format!("{}.answer.json", file.display());
    let replayed = run_permission(&bench, &["set", &answer]);
    replayed.assert_code(2);
    replayed.assert_stderr(&["is not open here"]);
    assert_state(&bench, TOOL, "REQUESTABLE");
    let rows = workflow_command(&bench, "list", &[]).json_lines();
    assert_eq!((rows.len(), &rows[0]["state"]), (1, &json!("DENIED")));
    workflow_command(&bench, "revoke", &["other"]).assert_code(2);
    workflow_command(&bench, "revoke", &["other", "--denial"]).assert_code(0);
    assert_state(&bench, "other", "REQUESTABLE");
    let trail = run_permission(&bench, &["list", "--trail"]).json_lines();
    let entries: Vec<&Value> = trail.iter().filter_map(|line| line.get("entry")).collect();
    assert_eq!(entries.len(), 4, "filed, answered, spent, lifted");
    assert_eq!((&entries[1]["traceparent"], &entries[1]["number"]), (&json!(trace), &json!(2)));
    ask(&bench, &["third"]);
    for cleaned in [true, false] {
        let output = workflow_command(&bench, "cleanup", &[]);
        output.assert_code(0);
        assert_eq!(output.json()["cleaned"], cleaned);
    }
    let listed = run_permission(&bench, &["list"]).stdout;
    assert_eq!(listed, "no grants, denials or open requests\n");
}

#[test]
fn a_revoked_grant_stays_revoked() {
    let bench = Bench::new();
    let (one, two) = (ask(&bench, &["a"]), ask(&bench, &["a", "b"]));
    set(&bench, &one, &["--grant", "a"]).assert_code(0);
    let grant = workflow_command(&bench, "list", &[]).json_lines()[0]["grants"][0]["id"].clone();
    run_permission(&bench, &["revoke", "--grant", grant.as_str().unwrap()]).assert_code(0);
    assert_state(&bench, "a", "REQUESTABLE");
    set(&bench, &two, &["--grant", "a"]).assert_code(2);
    run_permission(&bench, &["revoke", "--grant", grant.as_str().unwrap()]).assert_code(2);
    assert_state(&bench, "a", "REQUESTABLE");
}

#[test]
fn inputs_and_tool_requests_are_asked_about_as_json() {
    let bench = Bench::new();
    let question = |argv: &str| {
        let call = json!({ "requests": [{ "input": { "argv": [argv] } }] });
        let source = json!({ "name": "core", "subject": "wf-1", "accesscontrol": null });
        json!({ "source": source, "tools": { TOOL: call } }).to_string()
    };
    let (shown, other) = (bench.home().join("shown"), bench.home().join("other"));
    fs::write(&shown, question("x")).unwrap();
    fs::write(&other, question("y")).unwrap();
    let from = |command: &str, path: &Path| {
        run_permission(&bench, &[command, "--format", "json", "--from", path.to_str().unwrap()])
    };
    let answer = from("request", &shown).json();
    let requests = &answer["data"]["toolMetaData"][TOOL]["requests"];
    assert_eq!(*requests, json!([{ "input": { "argv": ["x"] } }]));
    let file = PathBuf::from(answer["files"][0].as_str().unwrap());
    set(&bench, &file, &["--grant", TOOL, "--arguments", "as-requested"]).assert_code(0);
    from("get", &shown).assert_code(0);
    from("get", &other).assert_code(1);
    let other = other.to_str().unwrap();
    let withheld = run_permission(
        &bench,
        &["request", "--from", other, "--withhold-inputs", "--format", "json"],
    );
    assert_eq!(withheld.json()["data"]["toolMetaData"][TOOL]["requests"], json!(null));
    let request = bench.save(&RequestText::python("print(1)\n"));
    let path = request.path.to_str().unwrap();
    let output = run_permission(&bench, &["get", "--format", "json", "--tool-request", path]);
    output.assert_code(1);
    assert_eq!(output.json()["source"]["name"], "unknown");
    assert_eq!(output.json()["source"]["subject"], json!(request.id));
    assert_eq!(output.json()["states"][TOOL], "REQUESTABLE");
}

#[test]
fn a_signed_answer_counts_by_allowed_signers_alone() {
    if !ssh_keygen_works("a_signed_answer_counts_by_allowed_signers_alone") {
        return;
    }
    let bench = Bench::new();
    let key = |name: &str| {
        let path = bench.home().join(name);
        let mut command = bench.command("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(&path);
        CliOutput::of(&mut command).assert_code(0);
        path
    };
    let (alice, eve) = (key("alice"), key("eve"));
    let signers = bench.home().join("signers");
    let public = fs::read_to_string(alice.with_extension("pub")).unwrap();
    let only = "namespaces=\"permission.tool-exec@threegate\"";
    fs::write(&signers, format!("alice {only} {public}")).unwrap();
    let signers = signers.to_str().unwrap();
    let file = ask(&bench, &["a"]);
    let answer = format!("{}.answer.json", file.display());
    let write = |key: &Path| {
        let key = key.to_str().unwrap();
        let output = set(&bench, &file, &["--grant", "a", "--key", key, "--write-only"]);
        output.assert_code(0);
    };
    write(&eve);
    let output = run_permission(&bench, &["set", &answer, "--approvers", signers]);
    output.assert_code(2);
    output.assert_stderr(&["is not in allowed_signers"]);
    for path in [format!("{answer}.sig"), answer.clone()] {
        fs::remove_file(path).unwrap();
    }
    write(&alice);
    // OpenSSH agrees that the signature is hers, and produces the same one.
    let mut verify = bench.command("ssh-keygen");
    verify.args([
        "-Y",
        "verify",
        "-I",
        "alice",
        "-n",
        "permission.tool-exec@threegate",
        "-f",
        signers,
    ]);
    verify.args(["-s", &format!("{answer}.sig")]).stdin(fs::File::open(&answer).unwrap());
    assert!(verify.output().unwrap().status.success());
    fs::remove_file(format!("{answer}.sig")).unwrap();
    run_permission(&bench, &["set", &answer, "--approvers", signers]).assert_code(2);
    let mut sign = bench.command("ssh-keygen");
    sign.args(["-Y", "sign", "-q", "-n", "permission.tool-exec@threegate", "-f"]).arg(&alice);
    CliOutput::of(sign.arg(&answer)).assert_code(0);
    let revoked = alice.with_extension("pub");
    let revoked = ["--revoked", revoked.to_str().unwrap()];
    let words = [&["set", &answer, "--approvers", signers], &revoked[..]].concat();
    run_permission(&bench, &words).assert_code(2);
    assert_state(&bench, "a", "REQUESTABLE");
    let output = run_permission(&bench, &["set", &answer, "--approvers", signers]);
    output.assert_code(0);
    assert!(output.stdout.contains("a: granted by alice SHA256:"), "{output:#?}");
    assert_state(&bench, "a", "APPROVED");
}

#[test]
fn what_is_not_an_answer_changes_nothing() {
    let bench = Bench::new();
    let file = ask(&bench, &["a"]);
    set(&bench, &file, &["--grant", "b"]).assert_code(2);
    set(&bench, &file, &[]).assert_code(2);
    set(&bench, &file, &["--grant", "a", "--write-only"]).assert_code(0);
    let again = set(&bench, &file, &["--grant", "a"]);
    again.assert_code(2);
    again.assert_stderr(&["file already exists"]);
    let answer = PathBuf::from(format!("{}.answer.json", file.display()));
    let good = fs::read_to_string(&answer).unwrap();
    let refused = |text: &str| {
        let path = bench.home().join("answer.json");
        fs::write(&path, text).unwrap();
        let output = run_permission(&bench, &["set", path.to_str().unwrap()]);
        output.assert_code(2);
        assert!(!output.stderr.contains("panicked"), "{output:#?}");
    };
    let digest = good.split("\"sha256\": \"").nth(1).unwrap().split('"').next().unwrap();
    for (from, to) in [
        (digest, "0".repeat(64)),
        ("\"wf-1\"", "\"wf-2\"".to_owned()),
        ("\"core\"", "\"core\", \"name\": \"core\"".to_owned()),
        ("\"denied\": []", "\"denied\": [\"z\"]".to_owned()),
        ("\"denied\": []", "\"denied\": [], \"extra\": 1".to_owned()),
        ("\"denied\": []", "\"denied\": 9007199254740993".to_owned()),
    ] {
        assert!(good.contains(from), "{from}");
        refused(&good.replace(from, &to));
    }
    refused("");
    refused(&"[".repeat(100_000));
    refused("\u{1b}[2J");
    let stranger = (bench.uid() + 1).to_string();
    let path = answer.to_str().unwrap();
    run_permission(&bench, &["set", path, "--uid", &stranger]).assert_code(2);
    fs::set_permissions(&answer, Permissions::from_mode(0o666)).unwrap();
    let output = run_permission(&bench, &["set", path]);
    output.assert_code(2);
    output.assert_stderr(&["lets other users write it"]);
    assert_state(&bench, "a", "REQUESTABLE");
    fs::set_permissions(&answer, Permissions::from_mode(0o644)).unwrap();
    run_permission(&bench, &["set", path]).assert_code(0);
    assert_state(&bench, "a", "APPROVED");
}

#[test]
fn bad_input_has_its_exit_code() {
    let bench = Bench::new();
    let bad = bench.home().join("bad.json");
    fs::write(&bad, "{\"source\": 1}").unwrap();
    let bad = bad.to_str().unwrap();
    for (words, code) in [
        (&["get"][..], 3),
        (&["get", "t"], 3),
        (&["get", "t", "--agent", "x"], 3),
        (&["get", "t", "--agent", "", "--subject", "s"], 3),
        (&["get", "t", "--agent", "a\u{202e}", "--subject", "s"], 3),
        (&["get", "t", "--agent", "a", "--subject", "s", "--traceparent", "00-0-0-0"], 3),
        (&["get", "--from", bad], 2),
        (&["get", "--from", "missing.json"], 3),
        (&["get", "--tool-request", bad], 2),
        (&["request", "t", "--agent", "a", "--subject", "s", "--domain", "../x"], 2),
        (&["set"], 3),
        (&["set", "missing.json"], 3),
        (&["set", "--request", bad, "--grant", "t"], 2),
        (&["set", bad], 2),
        (&["revoke", "t"], 3),
        (&["revoke", "--grant", "G01.0"], 3),
        (&["revoke", "--grant", "G1.0"], 2),
        (&["revoke", "t", "--agent", "a", "--subject", "s"], 2),
        (&["cleanup"], 3),
        (&["no-such"], 3),
    ] {
        let output = run_permission(&bench, words);
        assert_eq!(output.code, Some(code), "{words:?}: {output:#?}");
        assert!(!output.stderr.is_empty() && !output.stderr.contains("panicked"), "{output:#?}");
    }
    for command in ["get", "request", "set", "list", "revoke", "cleanup"] {
        let output = run_permission(&bench, &[command, "--help"]);
        output.assert_code(0);
        let example = format!("Example: toolexec permission {command} ");
        assert!(output.stdout.contains(&example), "{output:#?}");
    }
    run_permission(&bench, &["--help"]).assert_code(0);
}

#[test]
fn a_damaged_store_permits_nothing() {
    let bench = Bench::new();
    set(&bench, &ask(&bench, &["a"]), &["--grant", "a"]).assert_code(0);
    let trail = bench.state().join("permissions/trail.jsonl");
    OpenOptions::new().append(true).open(&trail).unwrap().write_all(b"torn").unwrap();
    assert_state(&bench, "a", "APPROVED");
    OpenOptions::new().append(true).open(&trail).unwrap().write_all(b"\n").unwrap();
    for output in
        [workflow_command(&bench, "get", &["a"]), workflow_command(&bench, "cleanup", &[])]
    {
        output.assert_code(3);
        assert_eq!(output.stdout, "");
        output.assert_stderr(&["trail.jsonl: byte ", "permissions are suspended"]);
    }
}

/// Runs the commands of docs/permissions.md in order, in the test's own directory.
#[test]
fn the_examples_of_the_documentation_work() {
    let page = DocPage::open("docs/permissions.md");
    let bench = Bench::new();
    let mut codes = Vec::new();
    for line in page.script().lines() {
        let drafts = bench.home().join("drafts/permissions");
        let file = list(&drafts).into_iter().find(|name| !name.contains("answer"));
        let line = line.replace("PR-*.json", &file.unwrap_or_default());
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..2], ["toolexec", "permission"], "{line}");
        codes.push(run_permission(&bench, &words[2..]).code);
    }
    let expected = [1, 0, 0, 0, 0, 0, 0].map(Some);
    assert_eq!(codes, expected);
    // The request shown in the text is valid.
    let question = &page.blocks("json")[0];
    let path = bench.home().join("question.json");
    fs::write(&path, question).unwrap();
    run_permission(&bench, &["get", "--from", path.to_str().unwrap()]).assert_code(1);
}
