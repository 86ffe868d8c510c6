//! Approval checks that depend on the host: its name, its revoked keys, its time zone, and delays
//! before the run. Every decision of the daemon is in its log.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, SavedRequest, Service, ServiceConfig, is_child_of,
    kill_if_running, list, ssh_keygen_works, wait_for_no_process, wait_for_process,
};

const APPROVE: &str = "approve.tool-exec@threegate";
const REJECT: &str = "reject.tool-exec@threegate";

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// Starts the service with more configuration lines.
fn service<'a>(bench: &'a Bench, config: &ServiceConfig, more: &str) -> Service<'a> {
    let mut service = Service::prepare(bench, config);
    let text = fs::read_to_string(service.config()).unwrap();
    let text = if more.contains("scan_interval_sec") {
        text.replace("scan_interval_sec: 30\n", "")
    } else {
        text
    };
    fs::write(service.config(), text + more).unwrap();
    service.spawn();
    service
}

/// Creates a key that every user can read, and returns it with its `allowed_signers` line.
fn key(bench: &Bench, options: &str) -> (PathBuf, String) {
    let key = bench.home().join("approver");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&key)
        .status();
    assert!(made.unwrap().success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    (key, format!("tester {options} {public}"))
}

fn sign(key: &Path, request: &Path) {
    sign_in(APPROVE, key, request);
}

fn sign_in(namespace: &str, key: &Path, request: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", namespace, "-f"]).arg(key).arg(request);
    CliOutput::of(&mut command).assert_code(0);
}

/// The standard policy, with the one exception that the host of an ordinary user needs.
fn standard(bench: &Bench) -> String {
    let policy = bench.toolexec(["policy", "show", "standard"]).stdout;
    match bench.is_root() {
        true => policy,
        false => policy.replacen("exceptions: []", "exceptions: [cgroup]", 1),
    }
}

fn bundle(record: &Record) -> Value {
    let path = record.path.join(format!("{}.bundle.json", record.id()));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn an_audience_is_one_host() {
    let bench = Bench::new();
    let named = "log: {origin: host1.example}\n";
    let service = service(&bench, &ServiceConfig::for_owner(&bench), named);
    let meant_for =
        |host: &str| good().edit("purpose:", &format!("x-audience: \"{host}\"\npurpose:"));
    let here = service.submit(&meant_for("host1.example"));
    service.record_of(&here.id).assert_outcome("ok");
    let elsewhere = service.submit(&meant_for("host2.example"));
    let record = service.record_of(&elsewhere.id);
    record.assert_outcome("refused");
    record.assert_violation("frontmatter.value");
    assert!(record.text.contains("is not this host, `host1.example`"), "{}", record.text);
}

#[test]
fn every_answer_is_in_the_log_under_a_number_of_its_own() {
    let bench = Bench::new();
    let silent = "log: {origin: host1.example, heartbeat_sec: 0}\n";
    let service = service(&bench, &ServiceConfig::for_owner(&bench), silent);
    let ran = service.submit(&good());
    service.record_of(&ran.id).assert_outcome("ok");
    let refused = service.submit(&good().edit("language: \"python\"", "language: \"node\""));
    service.record_of(&refused.id).assert_outcome("refused");
    fs::write(service.path("approved/no request.md"), "").unwrap();
    service.wait_for("three records", |service| service.records().len() == 3);
    let mut indexes: Vec<String> = service
        .records()
        .iter()
        .map(|record| {
            let entries = &bundle(record)["verificationMaterial"]["tlogEntries"];
            let note = entries[0]["inclusionProof"]["checkpoint"]["envelope"].as_str().unwrap();
            assert!(note.starts_with("host1.example\n"), "{note}");
            entries[0]["logIndex"].as_str().unwrap().to_owned()
        })
        .collect();
    indexes.sort();
    assert_eq!(indexes, ["0", "1", "2"]);
    let head = fs::read_to_string(service.path("log/checkpoint")).unwrap();
    assert!(head.starts_with("host1.example\n3\n"), "{head}");
    service.verify().assert_code(0);
}

/// The daemon must not append to a log that was signed with another key or truncated.
#[test]
fn a_log_that_does_not_fit_its_key_stops_the_daemon() {
    let bench = Bench::new();
    let mut service =
        service(&bench, &ServiceConfig::for_owner(&bench), "log: {origin: host1.example}\n");
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let checkpoint = service.path("log/checkpoint");
    let text = fs::read_to_string(&checkpoint).unwrap();
    fs::write(&checkpoint, text.replacen("\n2\n", "\n3\n", 1)).unwrap();
    let output = CliOutput::of(&mut service.command());
    output.assert_code(3);
    output.assert_stderr(&["checkpoint"]);
    fs::write(&checkpoint, text).unwrap();
    let config = fs::read_to_string(service.config()).unwrap();
    fs::write(service.config(), config.replacen("host1.example", "host2.example", 1)).unwrap();
    let output = CliOutput::of(&mut service.command());
    output.assert_code(3);
    output.assert_stderr(&["log.pub"]);
}

/// The log gets heartbeats from the start of the daemon, even without a run.
#[test]
fn an_idle_daemon_writes_heartbeats() {
    let bench = Bench::new();
    let often = "log: {origin: host1.example, heartbeat_sec: 1}\n";
    let service = service(&bench, &ServiceConfig::for_owner(&bench), often);
    let accounts = || {
        let mut command = bench.command("toolexec");
        command.args(["log", "fsck", "--format", "json", "--results"]).arg(service.path("results"));
        command.arg("--spool").arg(service.spool());
        command.arg("--log-key").arg(service.state().join("keys/log.pub"));
        let output = CliOutput::of(&mut command);
        output.assert_code(0);
        output.json()["accounts"].clone()
    };
    service.wait_for("three heartbeats", |_| accounts()["heartbeats"].as_u64() >= Some(3));
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    assert_eq!(accounts()["records"], 1);
    assert_eq!(accounts()["unclaimed"], Value::Array(Vec::new()));
}

/// The state of the one signer's key at the start.
enum InitialRevocation {
    NotYet,
    Already,
}

/// Starts a service under the standard policy. Returns signer's key, revocation list, service.
fn of_one_signer<'a>(
    bench: &'a Bench,
    revoked: InitialRevocation,
    lines: &str,
) -> (PathBuf, PathBuf, Service<'a>) {
    let (key, line) = key(bench, "");
    let signers = bench.scratch().file("allowed_signers", &line);
    let listed = match revoked {
        InitialRevocation::NotYet => Vec::new(),
        InitialRevocation::Already => fs::read(key.with_extension("pub")).unwrap(),
    };
    let revoked = bench.scratch().file("revoked", listed);
    let config = ServiceConfig {
        policy: standard(bench),
        allowed_signers: Some(signers),
        ..ServiceConfig::for_owner(bench)
    };
    let service = service(bench, &config, &format!("revoked: {}\n{lines}", revoked.display()));
    (key, revoked, service)
}

fn signed(bench: &Bench, service: &Service<'_>, key: &Path, text: &RequestText) -> SavedRequest {
    let request = bench.save(text);
    sign(key, &request.path);
    service.submit_saved(&request).assert_code(0);
    request
}

#[test]
fn a_revoked_key_approves_nothing() {
    if !ssh_keygen_works("a_revoked_key_approves_nothing") {
        return;
    }
    let bench = Bench::new();
    let (key, _, service) = of_one_signer(&bench, InitialRevocation::Already, "");
    let request = signed(&bench, &service, &key, &good());
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.revoked");
    assert_eq!(list(&record.path.join("request")).len(), 2);
}

/// A key is valid until it is revoked. If the revocation list is unreadable, no approval is valid.
#[test]
fn a_key_that_is_revoked_while_the_daemon_runs_approves_nothing_more() {
    if !ssh_keygen_works("a_key_that_is_revoked_while_the_daemon_runs_approves_nothing_more") {
        return;
    }
    let bench = Bench::new();
    let (key, revoked, service) =
        of_one_signer(&bench, InitialRevocation::NotYet, "scan_interval_sec: 1\n");
    let submitted = || signed(&bench, &service, &key, &good());
    service.record_of(&submitted().id).assert_outcome("ok");
    service.signal("HUP");
    fs::write(&revoked, "no key at all\n").unwrap();
    let waiting = submitted();
    service.wait_for("the list to be told of", |service| {
        service.log().contains("nothing is admitted until this is fixed")
    });
    assert!(service.records_of(&waiting.id).is_empty(), "admitted by a list that cannot be read");
    fs::write(&revoked, fs::read(key.with_extension("pub")).unwrap()).unwrap();
    let record = service.record_of(&waiting.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.revoked");
}

/// An approval is checked again after the wait for capacity.
#[test]
fn a_key_that_is_revoked_while_its_request_waits_for_room_approves_nothing() {
    let test = "a_key_that_is_revoked_while_its_request_waits_for_room_approves_nothing";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let (key, revoked, service) =
        of_one_signer(&bench, InitialRevocation::NotYet, "scan_interval_sec: 1\nruns_max: 1\n");
    let submitted = |script| signed(&bench, &service, &key, &RequestText::python(script));
    let first = submitted("import time; time.sleep(10)");
    service.wait_for("the first to begin", |it| list(&it.path("work")).len() == 1);
    let second = submitted("print('ran')");
    service.wait_for("the second to be taken", |it| list(&it.path("work")).len() == 2);
    fs::write(&revoked, fs::read(key.with_extension("pub")).unwrap()).unwrap();
    service.record_of(&first.id).assert_outcome("ok");
    let record = service.record_of(&second.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.revoked");
}

/// Other users must not be able to write the files that decide what runs.
#[test]
fn files_that_decide_belong_to_no_other_user() {
    let bench = Bench::new();
    let (_, line) = key(&bench, "");
    let signers = bench.scratch().file("allowed_signers", &line);
    let config = ServiceConfig {
        allowed_signers: Some(signers.clone()),
        ..ServiceConfig::for_owner(&bench)
    };
    let service = Service::prepare(&bench, &config);
    let check = || CliOutput::of(service.command().arg("--check"));
    check().assert_code(0);
    for file in [signers, bench.home().join("policy.yaml")] {
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        let output = check();
        output.assert_code(2);
        output.assert_stderr(&[file.to_str().unwrap(), "mode 0666", "chmod"]);
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    }
    let text = fs::read_to_string(service.config()).unwrap();
    Command::new("mkfifo").arg(bench.home().join("pipe")).status().unwrap();
    let fifo = format!("{text}revoked: {}\n", bench.home().join("pipe").display());
    fs::write(service.config(), fifo).unwrap();
    let output = check();
    output.assert_code(2);
    output.assert_stderr(&["pipe", "not a regular file"]);
}

/// A valid rejection stops the run under any file name. An unreadable file may be one.
#[test]
fn a_rejection_is_never_passed_over() {
    if !ssh_keygen_works("a_rejection_is_never_passed_over") {
        return;
    }
    let bench = Bench::new();
    let (key, service) = service_with_a_signer(&bench);
    let record_with =
        |place: &dyn Fn(PathBuf, &Path)| record_beside_a_rejection(&bench, &service, &key, place);
    record_with(&|_, _| {}).assert_outcome("ok");
    let beside = |path: &Path, label: &str| path.with_extension(format!("md.{label}.sig"));
    let copy = |from: &Path, to: PathBuf| assert!(fs::copy(from, to).unwrap() > 0);
    let refused = |record: Record, code: &str, named: &str| {
        record.assert_outcome("refused");
        record.assert_violation(code);
        assert!(record.text.contains(named), "{}", record.text);
    };
    let linked = record_with(&|path, rejection| {
        fs::hard_link(rejection, beside(&path, "linked")).unwrap();
    });
    refused(linked, "approval.signature", "md.linked.sig");
    let spaced = record_with(&|path, rejection| copy(rejection, beside(&path, "alice smith")));
    refused(spaced, "approval.rejected", "rejected by tester");
    let many = record_with(&|path, rejection| {
        CliOutput::of(Command::new("mkfifo").arg(beside(&path, "00"))).assert_code(0);
        for number in 1..17 {
            fs::write(beside(&path, &format!("{number:02}")), "no signature").unwrap();
        }
        copy(rejection, beside(&path, "reject"));
    });
    refused(many, "approval.signature", "19 signature files");
}

/// An unreadable file may be a rejection. Needs an ordinary user, because root reads every file.
#[test]
fn an_unreadable_signature_file_refuses_its_request() {
    let test = "an_unreadable_signature_file_refuses_its_request";
    let Some(bench) = Bench::as_ordinary_user(test) else { return };
    if !ssh_keygen_works(test) {
        return;
    }
    let (key, service) = service_with_a_signer(&bench);
    let record = record_beside_a_rejection(&bench, &service, &key, &|path, rejection| {
        let closed = path.with_extension("md.closed.sig");
        fs::copy(rejection, &closed).unwrap();
        fs::set_permissions(closed, Permissions::from_mode(0o000)).unwrap();
    });
    record.assert_outcome("refused");
    record.assert_violation("approval.signature");
    assert!(record.text.contains("md.closed.sig"), "{}", record.text);
}

/// Starts a daemon under the standard policy. Returns the key of its one approver.
fn service_with_a_signer(bench: &Bench) -> (PathBuf, Service<'_>) {
    let (key, line) = key(bench, "");
    let signers = bench.scratch().file("allowed_signers", &line);
    let policy = standard(bench);
    let config =
        ServiceConfig { policy, allowed_signers: Some(signers), ..ServiceConfig::for_owner(bench) };
    (key, service(bench, &config, ""))
}

/// Returns the record of a signed request. `place` writes its signer's rejection beside it.
fn record_beside_a_rejection(
    bench: &Bench,
    service: &Service<'_>,
    key: &Path,
    place: &dyn Fn(PathBuf, &Path),
) -> Record {
    let request = bench.save(&good());
    sign_in(REJECT, key, &request.path);
    let rejection = bench.scratch().path().join(format!("{}.rejection", request.id));
    fs::rename(request.path.with_extension("md.sig"), &rejection).unwrap();
    sign(key, &request.path);
    place(service.path(&format!("approved/{}.md", request.id)), &rejection);
    service.submit_saved(&request).assert_code(0);
    service.record_of(&request.id)
}

/// The approval is valid at the decision and expires while the sandbox is built.
#[test]
fn an_approval_that_ends_before_the_start_is_refused() {
    let bench = Bench::new();
    let config = ServiceConfig::for_owner(&bench);
    let policy = config.policy.replacen("age_sec_max: null", "age_sec_max: 60", 1);
    let config = ServiceConfig { policy, prewarmed_sandboxes: Some(0), ..config };
    let real = Path::new(bench.command("toolexec-launch").get_program()).to_owned();
    let slow = bench.home().join("slow-launcher");
    // The daemon's own self-test still runs fast.
    let mark = bench.home().join("slow-from-now-on");
    let lines = format!(
        "#!/bin/sh\n[ ! -e {} ] || sleep 12\nexec {} \"$@\"\n",
        mark.display(),
        real.display()
    );
    fs::write(&slow, lines).unwrap();
    fs::set_permissions(&slow, Permissions::from_mode(0o755)).unwrap();
    let more = format!("launcher: {{program: {}}}\n", slow.display());
    let service = service(&bench, &config, &more);
    fs::write(&mark, "").unwrap();
    let staging = service.state().join("staging").display().to_string();
    for launcher in
        wait_for_process(&staging).into_iter().filter(|it| is_child_of(*it, service.process()))
    {
        kill_if_running(launcher);
    }
    wait_for_no_process(&staging);
    let at = |ago: &str| {
        let output = CliOutput::of(Command::new("date").args(["-u", "-d", ago, "+%FT%TZ"]));
        output.stdout.trim().to_owned()
    };
    // A maximum age of 60 s plus a clock skew of 120 s, minus 8 s.
    let then = at("-172 seconds");
    let aged = |request: RequestText| {
        let text = request.text();
        let now = text.split("created_utc: \"").nth(1).unwrap().split('"').next().unwrap();
        let (created, approved) =
            (format!("created_utc: \"{now}"), format!("approved_utc: \"{now}"));
        let (older, old) = (format!("created_utc: \"{then}"), format!("approved_utc: \"{then}"));
        request.edit(&created, &older).edit(&approved, &old)
    };
    let request = service.submit(&aged(good()));
    let record = service.record_of(&request.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.expired");
    assert!(record.text.contains("the approval expired at"), "{}", record.text);
    assert!(!record.text.contains("is older than approval.age_sec_max"), "{}", record.text);
}

/// As in `ssh-keygen`, a time without `Z` is in the time zone of the host.
#[test]
fn times_without_a_zone_are_the_hosts() {
    if !ssh_keygen_works("times_without_a_zone_are_the_hosts") {
        return;
    }
    let bench = Bench::new();
    let later = CliOutput::of(Command::new("date").args(["-u", "-d", "+4 hours", "+%Y%m%d%H%M%S"]));
    let (key, line) = key(&bench, &format!("valid-after=\"{}\"", later.stdout.trim()));
    let signers = bench.scratch().file("allowed_signers", &line);
    let policy = bench.scratch().file("policy.yaml", standard(&bench));
    let run = |zone: &str| {
        let request = bench.save(&good());
        sign(&key, &request.path);
        let mut command = bench.command("toolexec");
        command.args(["run", "--format", "json"]).arg(&request.path).env("TZ", zone);
        command.arg("--policy").arg(&policy).arg("--approvers").arg(&signers);
        let output = CliOutput::of(&mut command);
        let mut theirs = Command::new("ssh-keygen");
        theirs.args(["-Y", "verify", "-n", APPROVE, "-I", "tester", "-f"]).arg(&signers);
        theirs.arg("-s").arg(request.path.with_extension("md.sig")).env("TZ", zone);
        let theirs = theirs.stdin(fs::File::open(&request.path).unwrap()).status().unwrap();
        assert_eq!(theirs.success(), output.json()["outcome"] == "ok", "{zone}: {output:#?}");
        output.json()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(run("UTC"), "refused");
    assert_eq!(run("Asia/Tokyo"), "ok");
    // Standard time applies, even during the host's summer time.
    assert_eq!(run("Australia/Sydney"), "ok");
}
