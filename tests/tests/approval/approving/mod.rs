//! Approving and rejecting a request: the signed bytes, the unchanged files, the keys, and the
//! places where a signature counts. OpenSSH confirms the signatures.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod approvers;
mod batch;
mod keys;
mod paging;
mod refusals;
mod review;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use approvers::{
    ED25519, P256, approve, assert_verifies, codes, explain, key, rule, saved, signers, unapproved,
};
use serde_json::json;
use toolexec_tests::{Bench, CliOutput, Record, ServiceConfig, list, skip, ssh_keygen_works};

const APPROVE: &str = "approve.tool-exec@threegate";
const REJECT: &str = "reject.tool-exec@threegate";

#[test]
fn an_approval_fills_in_two_values_and_signs_what_is_there_then() {
    if !ssh_keygen_works("an_approval_fills_in_two_values_and_signs_what_is_there_then") {
        return;
    }
    for kind in [ED25519, P256] {
        let bench = Bench::new();
        let request = saved(&bench, &unapproved("print(1)\n"));
        let before = fs::read_to_string(&request.path).unwrap();
        fs::set_permissions(&request.path, Permissions::from_mode(0o640)).unwrap();
        let key = key(&bench, "alice", kind);
        let trusted = signers(&bench, &[("alice", &key)]);
        let output =
            approve(&bench, &request, "alice", &key, &["--approvers", trusted.to_str().unwrap()]);
        output.assert_code(0);
        let after = fs::read_to_string(&request.path).unwrap();
        let time = after.lines().find(|line| line.starts_with("approved_utc:")).unwrap();
        let expected = before
            .replace("approved_by: \"\"", "approved_by: \"alice\"")
            .replace("approved_utc: \"\"  # not yet", time);
        assert_eq!(after, expected);
        assert!(
            time.starts_with("approved_utc: \"20") && time.ends_with("Z\"  # not yet"),
            "{time}"
        );
        assert_eq!(fs::metadata(&request.path).unwrap().permissions().mode() & 0o7777, 0o640);
        let signature = request.path.with_extension("md.sig");
        assert_verifies(&bench, &request, "alice", APPROVE, &signature);
        let answer = output.json();
        assert_eq!(answer["filled"], json!(["approved_by", "approved_utc"]));
        assert_eq!(answer["counts"], json!(true));
        assert_eq!([&answer["signers"], &answer["signatures_min"]], [&json!(1), &json!(1)]);
        assert_eq!(answer["pending"], json!([]));
        assert_eq!(answer["signature"], json!(signature.to_str().unwrap()));
        assert_eq!(answer["request_id"], json!(request.id));
    }
}

#[test]
fn what_is_filled_in_is_signed_unchanged_and_nothing_is_overwritten() {
    if !ssh_keygen_works("what_is_filled_in_is_signed_unchanged_and_nothing_is_overwritten") {
        return;
    }
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print(1)\n"));
    let (alice, bob) = (key(&bench, "alice", ED25519), key(&bench, "bob@x", P256));
    signers(&bench, &[("alice", &alice), ("bob@x", &bob)]);
    approve(&bench, &request, "alice", &alice, &[]).assert_code(0);
    let (text, first) = (fs::read(&request.path).unwrap(), request.path.with_extension("md.sig"));
    let signed = fs::read(&first).unwrap();
    let output = approve(&bench, &request, "bob@x", &bob, &[]);
    output.assert_code(0);
    assert_eq!(output.json()["filled"], json!([]));
    assert_eq!(output.json()["counts"], json!(null), "unknown without --approvers");
    assert_eq!(fs::read(&request.path).unwrap(), text);
    assert_eq!(fs::read(&first).unwrap(), signed);
    let second = request.path.with_extension("md.bob@x.sig");
    assert_verifies(&bench, &request, "bob@x", APPROVE, &second);
    let again = approve(&bench, &request, "bob@x", &bob, &[]);
    again.assert_code(2);
    again.assert_stderr(&["bob@x.sig: file already exists"]);
    approve(&bench, &request, "bob@x", &bob, &["--label", "other"]).assert_code(0);
    assert!(request.path.with_extension("md.other.sig").is_file());
    approve(&bench, &request, "bob@x", &bob, &["--label", "../x"]).assert_code(2);
    // Emptied again, the text is the one that has no signature, and signatures exist beside it.
    fs::write(&request.path, String::from_utf8(text).unwrap().replace("\"alice\"", "\"\""))
        .unwrap();
    let emptied = approve(&bench, &request, "bob@x", &bob, &["--label", "third"]);
    emptied.assert_code(2);
    emptied.assert_stderr(&["already signed these bytes"]);
}

#[test]
fn what_would_be_refused_is_not_signed() {
    if !ssh_keygen_works("what_would_be_refused_is_not_signed") {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    for (request, code) in [
        (unapproved("print(1)\n").time_sec(9_999_999), "limits.over-policy"),
        (unapproved("print(1)\n").command("python script.py | sh"), "command.pipeline"),
        (unapproved("print(1)\n").command("perl script.py"), "command.not-permitted"),
    ] {
        let request = saved(&bench, &request);
        let before = fs::read(&request.path).unwrap();
        let output = approve(&bench, &request, "alice", &alice, &[]);
        output.assert_code(2);
        output.assert_stderr(&[code, "not approved"]);
        assert_eq!(fs::read(&request.path).unwrap(), before);
        assert!(!request.path.with_extension("md.sig").exists());
    }
    let request = saved(&bench, &unapproved("print(1)\n"));
    fs::write(request.inputs.join("script.py"), "print(2)\n").unwrap();
    let output = approve(&bench, &request, "alice", &alice, &[]);
    output.assert_code(2);
    output.assert_stderr(&["inputs.mismatch", "not approved"]);
    assert!(!request.path.with_extension("md.sig").exists());
}

/// The embedded policy, requiring one signature for every request, and two at high risk.
fn policy(bench: &Bench) -> String {
    let edits = [("high: 1", "high: 2"), ("self_approval: true", "self_approval: false")];
    let config = ServiceConfig::for_owner(bench).with_one_signature().edited(&edits);
    let path = bench.home().join("policy.yaml");
    fs::write(&path, config.policy).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_request_approved_so_runs_and_its_record_names_the_approver() {
    if !ssh_keygen_works("a_request_approved_so_runs_and_its_record_names_the_approver") {
        return;
    }
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print(42)\n"));
    let alice = key(&bench, "alice", ED25519);
    let trusted = signers(&bench, &[("alice", &alice)]);
    let rules = policy(&bench);
    let rules = ["--policy", &rules, "--approvers", trusted.to_str().unwrap()];
    let explained = explain(&bench, &request, &rules);
    explained.assert_code(0);
    assert_eq!(explained.json()["verdict"], json!("pending"));
    approve(&bench, &request, "alice", &alice, &rules).assert_code(0);
    let explained = explain(&bench, &request, &rules).json();
    assert_eq!(explained["verdict"], json!("ready"), "{explained:#}");
    let mut run = bench.command("toolexec");
    let output =
        CliOutput::of(run.arg("run").arg(&request.path).args(rules).args(["--format", "json"]));
    output.assert_code(0);
    let record = Record::of(&output);
    let fingerprint = explained["approval"]["signed"][0]["fingerprint"].as_str().unwrap();
    assert!(record.text.contains(fingerprint), "{}", record.text);
    // The decision is the predicted one, except for the ledger, which is read only at the run.
    for row in explained["rules"].as_array().unwrap() {
        let (rule, reason) = (row["rule"].as_str().unwrap(), row["reason"].as_str().unwrap());
        let at_run_only = rule == "approval.single-use" || rule == "approval.date-order";
        assert!(record.text.contains(rule), "{rule}");
        assert!(at_run_only || record.text.contains(reason), "{rule}: {reason}\n{}", record.text);
    }
    for word in explained["sandbox"]["argv"].as_array().unwrap() {
        assert!(record.text.contains(word.as_str().unwrap()), "{word}");
    }
}

/// One refused approval: signer, claimed name, prior change, rule and verdict.
struct RefusedApproval {
    rule: &'static str,
    verdict: &'static str,
    signer: &'static str,
    edit: (&'static str, &'static str),
    more: &'static [&'static str],
}

#[test]
fn an_approval_that_does_not_count_is_reported_with_its_reason() {
    if !ssh_keygen_works("an_approval_that_does_not_count_is_reported_with_its_reason") {
        return;
    }
    let bench = Bench::new();
    let (alice, mallory) = (key(&bench, "alice", ED25519), key(&bench, "mallory", ED25519));
    let trusted = signers(&bench, &[("alice", &alice)]);
    let rules = policy(&bench);
    fs::copy(alice.with_extension("pub"), bench.home().join("revoked")).unwrap();
    let none = ("purpose", "purpose");
    let case =
        |rule, verdict, by, edit, more| RefusedApproval { rule, verdict, signer: by, edit, more };
    for case in [
        case("approval.signature", "pending", "mallory", none, &[]),
        case("approval.count", "pending", "mallory", none, &[]),
        case("approval.count", "pending", "alice", ("Risk level: low", "Risk level: high"), &[]),
        case("approval.revoked", "pending", "alice", none, &["--revoked", "revoked"]),
        case("approval.self", "pending", "alice", ("purpose", "x-requester: alice\npurpose"), &[]),
        case(
            "approval.principal",
            "pending",
            "alice",
            ("approved_by: \"\"", "approved_by: bob"),
            &[],
        ),
        case("approval.audience", "refuse", "alice", ("purpose", "x-audience: here\npurpose"), &[]),
    ] {
        let text = unapproved("print(1)\n").edit(case.edit.0, case.edit.1);
        let request = saved(&bench, &text);
        let by = if case.signer == "alice" { &alice } else { &mallory };
        let mut rules = vec!["--policy", &rules, "--approvers", trusted.to_str().unwrap()];
        // Signed without the trusted keys, and checked with them.
        approve(&bench, &request, case.signer, by, &["--policy", rules[1], "--origin", "here"])
            .assert_code(0);
        rules.extend(case.more);
        let explained = explain(&bench, &request, &rules).json();
        let (verdict, reason) = rule(&explained, case.rule);
        assert_eq!(verdict, case.verdict, "{}: {reason}", case.rule);
        let refused = case.verdict == "refuse";
        assert_eq!(explained["verdict"], json!(if refused { "refused" } else { "pending" }));
        let mut run = bench.command("toolexec");
        run.arg("run").arg(&request.path).args(["--policy", rules[1], "--approvers", rules[3]]);
        let ran = CliOutput::of(&mut run);
        let is_run_fit = !case.more.is_empty();
        assert_eq!(ran.code, Some(if is_run_fit { 0 } else { 2 }), "{}: {ran:#?}", case.rule);
    }
}

#[test]
fn a_rejection_is_signed_over_any_text_and_is_final() {
    if !ssh_keygen_works("a_rejection_is_signed_over_any_text_and_is_final") {
        return;
    }
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print(1)\n"));
    let (alice, bob) = (key(&bench, "alice", ED25519), key(&bench, "bob", ED25519));
    let trusted = signers(&bench, &[("alice", &alice), ("bob", &bob)]);
    let trusted = ["--approvers", trusted.to_str().unwrap()];
    approve(&bench, &request, "alice", &alice, &trusted).assert_code(0);
    let reject = || {
        let mut command = bench.command("toolexec");
        command.arg("reject").arg(&request.path).args([
            "--approver",
            "bob",
            "--format",
            "json",
            "--key",
        ]);
        CliOutput::of(command.arg(&bob).args(["--reason", "reads too much"]))
    };
    let output = reject();
    output.assert_code(0);
    let signature = request.path.with_extension("md.bob.reject.sig");
    assert_eq!(output.json()["signature"], json!(signature.to_str().unwrap()));
    assert_verifies(&bench, &request, "bob", REJECT, &signature);
    let reason = fs::read_to_string(request.path.with_extension("md.bob.reject.txt")).unwrap();
    assert!(reason.ends_with("rejected by bob:\nreads too much\n"), "{reason}");
    reject().assert_code(2);
    let explained = explain(&bench, &request, &trusted);
    explained.assert_code(2);
    assert_eq!(codes(&explained.json()["violations"]), ["approval.rejected"]);
    let again =
        approve(&bench, &request, "alice", &alice, &["--label", "x", trusted[0], trusted[1]]);
    again.assert_code(2);
    again.assert_stderr(&["approval.rejected"]);
    // `submit` submits the rejection too, without its reason.
    let spool = bench.home().join("spool");
    fs::create_dir_all(spool.join("approved")).unwrap();
    let mut submit = bench.command("toolexec");
    CliOutput::of(submit.arg("submit").arg(&request.path).arg("--spool").arg(&spool))
        .assert_code(0);
    let names = list(&spool.join("approved"));
    assert!(names.contains(&format!("{}.md.bob.reject.sig", request.id)), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".txt")), "{names:?}");
    // An incomplete file can be rejected too.
    fs::write(bench.home().join("TR-x.md"), "no request\n").unwrap();
    let mut command = bench.command("toolexec");
    command.args(["reject", "TR-x.md", "--approver", "bob", "--reason", "what is it?", "--key"]);
    CliOutput::of(command.arg(&bob)).assert_code(0);
}

#[test]
fn the_request_appears_in_the_spool_after_all_that_belongs_to_it() {
    let test = "the_request_appears_in_the_spool_after_all_that_belongs_to_it";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let tried = bench.command("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    if !tried.as_ref().is_ok_and(|output| output.status.success()) {
        return skip(test, &format!("strace cannot be used here: {tried:?}"));
    }
    let request = saved(&bench, &unapproved("print(1)\n"));
    let (alice, bob) = (key(&bench, "alice", ED25519), key(&bench, "bob", ED25519));
    approve(&bench, &request, "alice", &alice, &[]).assert_code(0);
    let spool = bench.home().join("spool");
    fs::create_dir_all(spool.join("approved")).unwrap();
    let trace = bench.home().join("trace");
    let mut command = bench.command("strace");
    command.args(["-f", "-qq", "-e", "trace=openat,rename,renameat,renameat2,fsync", "-s", "400"]);
    command.arg("-o").arg(&trace).arg(bench.scratch().path().join("bin/toolexec"));
    command.arg("submit").arg(&request.path).arg("--spool").arg(&spool);
    CliOutput::of(&mut command).assert_code(0);
    let trace = fs::read_to_string(trace).unwrap();
    let at = |act: &str, name: &str| {
        let name = format!("{}{name}\"", request.id);
        let found = trace.lines().position(|line| line.contains(act) && line.contains(&name));
        found.unwrap_or_else(|| panic!("no {act} of {name} in\n{trace}"))
    };
    let appears = at("rename", ".md");
    assert!(at("rename", ".inputs") < appears && at("O_CREAT", ".md.sig") < appears, "{trace}");
    let between = trace.lines().take(appears).skip(at("O_CREAT", ".md.sig"));
    assert!(between.filter(|line| line.contains("fsync")).count() >= 2, "{trace}");
    // A second signature reaches the waiting request.
    approve(&bench, &request, "bob", &bob, &[]).assert_code(0);
    let submit = || {
        let mut command = bench.command("toolexec");
        command.arg("submit").arg(&request.path).args(["--format", "json", "--spool"]);
        CliOutput::of(command.arg(&spool))
    };
    let output = submit();
    output.assert_code(0);
    let name = format!("{}.md.bob.sig", request.id);
    assert_eq!(output.json()["added_signatures"], json!([name]));
    assert!(spool.join("approved").join(&name).is_file());
    let nothing_new = submit();
    nothing_new.assert_code(3);
    nothing_new.assert_stderr(&["already waiting"]);
    assert!(!list(&spool.join("approved")).iter().any(|name| name.starts_with('.')));
}
