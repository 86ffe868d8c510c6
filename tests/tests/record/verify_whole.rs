//! Verification beyond one signature: the statement and its place in the log, a bundle alone,
//! approvals, a saved checkpoint, contradictions, checks across a tree. Gaps are reported.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, ssh_keygen_works};

fn record(bench: &Bench) -> Record {
    let script = "print('ran'); open('/out/kept','w').write('kept')";
    let (output, record) = bench.run_recorded(&RequestText::python(script).output("kept"));
    output.assert_code(0);
    record
}

fn verify(bench: &Bench, words: &[&str], path: &Path) -> CliOutput {
    let path = path.to_str().unwrap();
    bench.toolexec(["verify", path].iter().chain(words))
}

/// Asserts that `verify` exits with 1 and that its first fault contains this text.
#[track_caller]
fn assert_first_fault(output: &CliOutput, expected: &str) {
    output.assert_code(1);
    let first = output.stdout.lines().skip_while(|line| !line.ends_with("NOT VERIFIED")).nth(1);
    assert!(first.is_some_and(|line| line.contains(expected)), "{expected}: {output:#?}");
}

fn record_file(record: &Record, ending: &str) -> PathBuf {
    record.path.join(format!("{}.{ending}", record.id()))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
}

/// Signs a record again with the key of the state directory, as the holder of that key could.
fn sign_again(bench: &Bench, record: &Record) {
    fs::remove_file(record_file(record, "md.sig")).unwrap();
    let key = bench.state().join("keys/result");
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", "result.tool-exec@threegate", "-f"]).arg(key);
    CliOutput::of(command.arg(record_file(record, "md"))).assert_code(0);
}

#[test]
fn a_verdict_says_where_the_log_has_the_record_and_what_was_not_checked() {
    let bench = Bench::new();
    let record = record(&bench);
    let output = verify(&bench, &[], &record.path);
    output.assert_code(0);
    assert!(output.stdout.contains(", entry 0 of 1 in the log "), "{output:#?}");
    let growth = "that the log only grew (no saved checkpoint given)";
    assert!(output.stdout.ends_with(&format!("; not checked: {growth}\n")), "{output:#?}");
    let object = verify(&bench, &["--format", "json"], &record.path).json();
    let origin = object["log"]["origin"].as_str().unwrap();
    let signer = object["signer"].as_str().unwrap();
    assert!(signer.starts_with("SHA256:"), "{object}");
    let expected = json!({
        "path": record.path.to_str().unwrap(),
        "verified": true,
        "result_id": record.id(),
        "outcome": "ok",
        "exit_code": 0,
        "files": 4,
        "signer": signer,
        "host": null,
        "log": { "origin": origin, "index": 0, "size": 1 },
        "approvals_checked": 0,
        "standing_checked": null,
        "not_checked": [growth],
        "faults": [],
    });
    assert_eq!(object, expected);
    // With only the keys of results, the log is reported as not checked.
    let signers = bench.toolexec(["keys", "show", "--format", "allowed-signers"]).stdout;
    let signers = bench.scratch().file("signers", signers);
    let words = ["--result-keys", signers.to_str().unwrap(), "--format", "json"];
    let object = verify(&bench, &words, &record.path).json();
    assert_eq!(object["verified"], true);
    assert_eq!(object["log"], json!(null));
    assert_eq!(object["not_checked"], json!(["the log (no log key given)"]));
    let log_key = bench.state().join("keys/log.pub");
    let words = [&words[..], &["--log-key", log_key.to_str().unwrap()]].concat();
    let object = verify(&bench, &words, &record.path).json();
    assert_eq!(object["log"]["index"], 0);
    let wrong = bench.scratch().file("wrong", "no key\n");
    let words = ["--log-key", wrong.to_str().unwrap()];
    let output = verify(&bench, &words, &record.path);
    output.assert_code(3);
    output.assert_stderr(&["wrong: line 1: not a verifier line"]);
}

#[test]
fn bundle_and_proof_are_part_of_the_record() {
    let bench = Bench::new();
    let record = record(&bench);
    for ending in ["bundle.json", "tlog-proof"] {
        let path = record_file(&record, ending);
        let good = fs::read(&path).unwrap();
        let mut changed = good.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, changed).unwrap();
        assert_first_fault(&verify(&bench, &[], &record.path), &format!(".{ending}: "));
        fs::remove_file(&path).unwrap();
        assert_first_fault(&verify(&bench, &[], &record.path), &format!(".{ending}: missing"));
        fs::write(&path, good).unwrap();
    }
    verify(&bench, &[], &record.path).assert_code(0);
}

#[test]
fn a_bundle_verifies_alone_and_says_that_its_files_were_not_checked() {
    let bench = Bench::new();
    let record = record(&bench);
    let name = format!("{}.bundle.json", record.id());
    let bundle =
        bench.scratch().file(&name, fs::read(record_file(&record, "bundle.json")).unwrap());
    let output = verify(&bench, &[], &bundle);
    output.assert_code(0);
    assert!(output.stdout.contains("the files (only a bundle given)"), "{output:#?}");
    let object = verify(&bench, &["--format", "json"], &bundle).json();
    assert_eq!((&object["verified"], &object["files"]), (&json!(true), &json!(0)));
    let text = fs::read_to_string(&bundle).unwrap();
    fs::write(&bundle, text.replacen("\"hint\"", "\"hinT\"", 1)).unwrap();
    assert_first_fault(&verify(&bench, &[], &bundle), "not a bundle: unknown field `hinT`");
}

#[test]
fn a_bundle_of_another_record_is_refused() {
    let bench = Bench::new();
    let (first, second) = (record(&bench), record(&bench));
    for ending in ["bundle.json", "tlog-proof"] {
        fs::copy(record_file(&second, ending), record_file(&first, ending)).unwrap();
    }
    assert_first_fault(&verify(&bench, &[], &first.path), ".bundle.json: belongs to another");
}

#[test]
fn a_record_that_contradicts_itself_is_refused_though_its_key_signed_it() {
    let test = "a_record_that_contradicts_itself_is_refused_though_its_key_signed_it";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let record = record(&bench);
    // Without the bundle, like a record of an older version. The test cannot create a new bundle.
    fs::remove_file(record_file(&record, "bundle.json")).unwrap();
    fs::remove_file(record_file(&record, "tlog-proof")).unwrap();
    let signers = bench.toolexec(["keys", "show", "--format", "allowed-signers"]).stdout;
    let signers = bench.scratch().file("signers", signers);
    let words = ["--result-keys", signers.to_str().unwrap()];
    verify(&bench, &words, &record.path).assert_code(0);
    let started = format!("started_utc: \"{}\"", record.front_matter_value("started_utc"));
    let intent = format!("intent_sha256: \"{}", &record.front_matter_value("intent_sha256")[..2]);
    // Only a control group counts them.
    let kills = ["\n  oom_kills: 0\n", "\n  oom_kills: unknown\n"];
    let kills = kills.into_iter().find(|line| record.text.contains(line)).unwrap();
    let changes = [
        ("\nexit_code: 0\n", "\nexit_code: 1\n", "outcome is ok and exit_code is 1"),
        (started.as_str(), "started_utc: \"2020-01-01T00:00:00Z\"", "is before the request's"),
        (started.as_str(), "started_utc: \"2999-01-01T00:00:00Z\"", "ended_utc"),
        ("outcome: \"ok\"", "outcome: \"refused\"", "states a run"),
        ("\nrejected_total: 0\n", "\nrejected_total: 1\n", "rejected_total is 1"),
        // Values of another form are reported before the rules.
        (kills, "\n  oom_kills: \"1x\"\n", "oom_kills: unexpected value \"1x\""),
        (kills, "\n  oom_kills: 1.0\n", "oom_kills: unexpected value 1.0"),
        (kills, "\n  oom_kills: -1\n", "oom_kills: unexpected value -1"),
        (kills, "\n", "accounting.oom_kills: missing"),
        ("\nexit_code: 0\n", "\nexit_code: \"255\"\n", "frontmatter.type: `exit_code`"),
        ("\nexit_code: 0\n", "\nexit_code: 0\nmore: 1\n", "more: unknown key"),
        (started.as_str(), "started_utc: \"later\"", "started_utc: unexpected value \"later\""),
        (started.as_str(), "started_utc: \"2026-11-31T00:00:00Z\"", "value \"2026-11-31"),
        ("\nreplay_of: null\n", "\nreplay_of: {}\n", "replay_of.record_sha256: missing"),
        ("verdict: pass\n", "verdict: REFUSE\n", "verdict: unexpected value \"REFUSE\""),
        // Facts of the request and the files.
        ("\nargv: [\"python\", \"script.py\"]", "\nargv: [\"python\", \"other.py\"]", "argv is"),
        (intent.as_str(), "intent_sha256: \"00", "intent_sha256 is"),
        ("asked: 20000\n", "asked: 20001\n", "- Limit wall_ms_max: asked 20001"),
        ("kept_bytes: 4\n", "kept_bytes: 5\n", "does not have `5 bytes kept of 4 written"),
        // The text below the front matter.
        ("\n- Outcome: ok\n", "\n- Outcome: exit_nonzero\n", "its text"),
        ("\n- Exit code: 0\n", "\n- Exit code: 1\n", "its text"),
        ("\n## Provenance\n", "\n", "section.missing: `## Provenance`"),
    ];
    for (from, to, expected) in changes {
        assert!(record.text.contains(from), "{from} is not in {}", record.text);
        fs::write(record_file(&record, "md"), record.text.replacen(from, to, 1)).unwrap();
        sign_again(&bench, &record);
        let output = verify(&bench, &words, &record.path);
        assert_first_fault(&output, expected);
    }
}

#[test]
fn across_a_tree_a_second_record_of_a_run_is_found() {
    let bench = Bench::new();
    let record = record(&bench);
    let tree = bench.scratch().dir("tree");
    for year in ["a", "b"] {
        copy(&record.path, &tree.join(year).join(record.id()));
    }
    let output = verify(&bench, &[], &tree);
    assert_first_fault(&output, "its request also ran in ");
    output.assert_stderr(&["2 results: 1 verified, 1 not", "first failure: "]);
    assert!(output.stdout.contains("its result id is also that of"), "{output:#?}");
    let lines = verify(&bench, &["--format", "json"], &tree).json_lines();
    assert_eq!((&lines[0]["verified"], &lines[1]["verified"]), (&json!(true), &json!(false)));
    let first = tree.join("a").join(record.id());
    let faults = lines[1]["faults"].to_string();
    assert!(faults.contains(first.to_str().unwrap()), "{faults}");
    // Two refusals and a run of one request are not a contradiction.
    let refused = RequestText::python("").edit("language: \"python\"", "language: \"node\"");
    let request = bench.save(&refused);
    for _ in 0..2 {
        bench.run(&request).assert_code(2);
    }
    verify(&bench, &[], &bench.results()).assert_code(0);
}

#[test]
fn a_restarted_log_is_detected() {
    let bench = Bench::new();
    let (_, second) = (record(&bench), record(&bench));
    let log = bench.state().join("log");
    let saved = bench.scratch().file("saved", fs::read(log.join("checkpoint")).unwrap());
    let words = ["--checkpoint", saved.to_str().unwrap(), "--log", log.to_str().unwrap()];
    record(&bench);
    let good = verify(&bench, &words, &bench.results());
    good.assert_code(0);
    assert!(!good.stdout.contains("not checked"), "{good:#?}");
    // A holder of the host's keys starts a new log.
    fs::remove_dir_all(&log).unwrap();
    fs::remove_file(bench.state().join("log.head")).unwrap();
    record(&bench);
    let output = verify(&bench, &words, &second.path);
    assert_first_fault(&output, "the log has 1 entries but had 2: it was truncated");
    // Even without a checkpoint, the records show it.
    assert_first_fault(
        &verify(&bench, &["--log", log.to_str().unwrap()], &second.path),
        "truncated",
    );
    let output = verify(&bench, &[], &bench.results());
    output.assert_code(1);
    for expected in ["log entry 0 is also that of ", "the log has another root at 1 entries"] {
        assert!(output.stdout.contains(expected), "{expected}: {output:#?}");
    }
    let output = verify(&bench, &["--checkpoint", saved.to_str().unwrap()], &second.path);
    output.assert_code(3);
}

#[test]
fn approvals_are_verified_again_where_the_approvers_are_known() {
    if !ssh_keygen_works("approvals_are_verified_again_where_the_approvers_are_known") {
        return;
    }
    let bench = Bench::new();
    let key = bench.home().join("approver");
    let mut make = Command::new("ssh-keygen");
    CliOutput::of(make.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key))
        .assert_code(0);
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let approvers = bench.scratch().file("approvers", format!("tester {public}"));
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let signed = ["low", "medium", "high"].iter().fold(policy.clone(), |text, class| {
        text.replacen(&format!("    {class}: 0\n"), &format!("    {class}: 1\n"), 1)
    });
    assert_ne!(policy, signed, "{policy}");
    let policy = bench.scratch().file("policy.yaml", signed);
    let request = bench.save(&RequestText::python("print('ran')"));
    let mut sign = Command::new("ssh-keygen");
    sign.args(["-q", "-Y", "sign", "-n", "approve.tool-exec@threegate", "-f"]).arg(&key);
    CliOutput::of(sign.arg(&request.path)).assert_code(0);
    let mut run = bench.command("toolexec");
    run.arg("run").arg(&request.path).args(["--format", "json", "--policy"]).arg(&policy);
    let output = CliOutput::of(run.arg("--approvers").arg(&approvers));
    output.assert_code(0);
    let record = Record::of(&output);
    let output = verify(&bench, &[], &record.path);
    output.assert_code(0);
    assert!(output.stdout.contains("the approvals (no approvers given)"), "{output:#?}");
    let approvers = approvers.to_str().unwrap();
    let output = verify(&bench, &["--approvers", approvers], &record.path);
    output.assert_code(0);
    assert!(output.stdout.contains(", 1 approval checked"), "{output:#?}");
    let revoked = bench.scratch().file("revoked", &public);
    let words = ["--approvers", approvers, "--revoked", revoked.to_str().unwrap()];
    assert_first_fault(&verify(&bench, &words, &record.path), "the key is revoked");
    let others = bench.scratch().file("others", format!("other {public}"));
    let words = ["--approvers", others.to_str().unwrap()];
    assert_first_fault(&verify(&bench, &words, &record.path), "no approver has this name and key");
}
