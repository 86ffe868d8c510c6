//! Several requests at once: their number, order and memory, and their end when the daemon stops,
//! reloads its policy, or loses its directories. Each ends in one record.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use toolexec_tests::{
    Bench, CliOutput, RequestText, SavedRequest, Service, ServiceConfig, list, ssh_keygen_works,
};

/// The uid of another submitter.
const OTHER: u32 = 65533;

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// A request that prints the times of its start and end.
fn sleeping(seconds: u32) -> RequestText {
    let script =
        format!("import time\na = time.time()\ntime.sleep({seconds})\nprint(a, time.time())");
    RequestText::python(&script).time_sec(1200)
}

/// Prepares a daemon that rescans every second, with more configuration lines.
fn prepare_service<'a>(bench: &'a Bench, config: &ServiceConfig, lines: &[&str]) -> Service<'a> {
    let service = Service::prepare(bench, config);
    let text = fs::read_to_string(service.config()).unwrap();
    fs::write(service.config(), text.replace("scan_interval_sec: 30", "scan_interval_sec: 1"))
        .unwrap();
    lines.iter().for_each(|line| service.configure(line));
    service
}

/// Returns start and end of the run of a request, in seconds.
#[track_caller]
fn span(service: &Service<'_>, request: &SavedRequest) -> (f64, f64) {
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    let output = record.stdout();
    let (begun, ended) = output.trim().split_once(' ').unwrap();
    (begun.parse().unwrap(), ended.parse().unwrap())
}

#[track_caller]
fn assert_one_after_the_other(spans: &[(f64, f64)]) {
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
}

/// Asserts one record for each request, that all results verify, and that nothing is in progress.
#[track_caller]
fn assert_recorded_once(service: &Service<'_>, requests: &[SavedRequest]) {
    for request in requests {
        assert_eq!(service.records_of(&request.id).len(), 1, "{}", request.id);
    }
    service.wait_for("the claims to be finished", |it| list(&it.path("work")).is_empty());
    service.verify().assert_code(0);
}

#[test]
fn several_run_at_once() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &["runs_max: 3"]);
    let requests: Vec<_> = (0..3).map(|_| service.submit(&sleeping(8))).collect();
    service.spawn();
    service.wait_for("all to have a record", |it| it.records().len() == 3);
    let spans: Vec<_> = requests.iter().map(|request| span(&service, request)).collect();
    let last_begun = spans.iter().map(|it| it.0).fold(f64::MIN, f64::max);
    let first_ended = spans.iter().map(|it| it.1).fold(f64::MAX, f64::min);
    assert!(last_begun < first_ended, "{spans:?}");
    assert_recorded_once(&service, &requests);
}

#[test]
fn one_at_a_time_runs_in_submission_order() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &["runs_max: 1"]);
    // By name the order would be reversed.
    let texts: Vec<_> = (0..4).map(|_| sleeping(1)).collect();
    let requests: Vec<_> = texts.iter().rev().map(|text| service.submit(text)).collect();
    service.spawn();
    service.wait_for("all to have a record", |it| it.records().len() == 4);
    let spans: Vec<_> = requests.iter().map(|request| span(&service, request)).collect();
    assert_one_after_the_other(&spans);
    assert_recorded_once(&service, &requests);
}

#[test]
fn memory_is_promised_once() {
    let bench = Bench::new();
    let lines = ["runs_max: 4", "memory_bytes_max: 314572800"];
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &lines);
    let fits = |mebibytes| sleeping(2).memory_mb(mebibytes);
    let mut requests: Vec<_> = (0..2).map(|_| service.submit(&fits(200))).collect();
    let never = service.submit(&fits(301));
    service.spawn();
    let record = service.record_of(&never.id);
    record.assert_outcome("refused");
    record.assert_violation("limits.over-policy");
    assert!(record.text.contains("memory_bytes_max"), "{}", record.text);
    assert!(record.text.contains("314572800"), "{}", record.text);
    service.wait_for("all to have a record", |it| it.records().len() == 3);
    let spans: Vec<_> = requests.iter().map(|request| span(&service, request)).collect();
    assert_one_after_the_other(&spans);
    requests.push(never);
    assert_recorded_once(&service, &requests);
}

#[test]
fn a_hundred_of_one_submitter_do_not_keep_another_waiting() {
    let test = "a_hundred_of_one_submitter_do_not_keep_another_waiting";
    let Some(bench) = Bench::as_root(test) else { return };
    let config = ServiceConfig::for_owner(&bench);
    let policy = config.policy.replacen("owners: [0]", &format!("owners: [0, {OTHER}]"), 1);
    assert_ne!(policy, config.policy);
    let mut service =
        prepare_service(&bench, &ServiceConfig { policy, ..config }, &["runs_max: 1"]);
    // No daemon is running, so the order of the files does not matter.
    let drop_one = || RequestText::of("python", "python -V").save(&service.path("approved"));
    let many: Vec<_> = (0..100).map(|_| drop_one()).collect();
    for request in &many {
        chown(&request.path, Some(OTHER), Some(OTHER)).unwrap();
    }
    let late = drop_one();
    service.spawn();
    service.wait_for("the late one to run", |it| !it.records_of(&late.id).is_empty());
    // The order of the log: others may get their records before this test looks again.
    let (log, of_late) = (service.log(), format!("request=\"{}\"", late.id));
    let mut started = log.lines().filter(|line| line.contains(" started "));
    let before = started.position(|line| line.contains(&of_late)).unwrap();
    assert!(before < 20, "{before} of the hundred were first");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    service.records_of(&late.id)[0].assert_outcome("ok");
}

#[test]
fn a_user_without_access_to_approved_sees_the_waiting_requests() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &["runs_max: 1"]);
    let dropped: Vec<_> = (0..9).map(|_| service.submit(&sleeping(1000))).collect();
    service.spawn();
    // Three for each possible run are claimed. The daemon does not touch the others.
    let waiting_files = |service: &Service<'_>| -> Vec<String> {
        let Ok(text) = fs::read(service.path("public/waiting.json")) else { return Vec::new() };
        let document: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(document["whole"], true);
        let waiting = document["waiting"].as_array().unwrap().iter();
        waiting.map(|it| it["file"].as_str().unwrap().to_owned()).collect()
    };
    service.wait_for("six requests to be listed", |service| waiting_files(service).len() == 6);
    let names: Vec<_> = dropped.iter().map(|request| format!("{}.md", request.id)).collect();
    assert!(
        waiting_files(&service).iter().all(|name| names.contains(name)),
        "{:?}",
        waiting_files(&service)
    );
    let status: Value =
        serde_json::from_slice(&fs::read(service.path("public/status.json")).unwrap()).unwrap();
    let summed =
        CliOutput::of(bench.command("sha256sum").arg(service.path("public/policy.yaml"))).stdout;
    assert_eq!(status["policy"]["sha256"], summed[..64]);
    for request in &dropped {
        let mut cancel = bench.command("toolexec");
        cancel.args(["cancel", &request.id, "--spool"]).arg(service.spool());
        CliOutput::of(&mut cancel).assert_code(0);
    }
    service.wait_for("all to end", |it| it.records().len() == 9);
    service.wait_for("nothing to be told", |it| !it.path("public/waiting.json").exists());
}

#[test]
fn stop_ends_running_requests_and_leaves_waiting_ones() {
    let bench = Bench::new();
    let config = ServiceConfig { shutdown_grace_sec: 10, ..ServiceConfig::for_owner(&bench) };
    let mut service = prepare_service(&bench, &config, &["runs_max: 2"]);
    let running = [service.submit(&sleeping(6)), service.submit(&sleeping(1000))];
    let aside = bench.scratch().dir("aside");
    let waiting: Vec<_> = (0..9).map(|_| good().save(&aside)).collect();
    service.spawn();
    service.wait_for("two to run", |it| it.log().matches("started").count() == 2);
    // By renames, which take less time than the first of the two runs.
    for path in waiting.iter().flat_map(|request| [&request.inputs, &request.path]) {
        fs::rename(path, service.path("approved").join(path.file_name().unwrap())).unwrap();
    }
    service.wait_for("some to be taken", |it| list(&it.path("work")).len() > 2);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    service.records_of(&running[0].id)[0].assert_outcome("ok");
    service.records_of(&running[1].id)[0].assert_outcome("cancelled");
    assert_eq!(service.records().len(), 2, "nothing more was begun");
    for request in &waiting {
        assert!(service.path(&format!("approved/{}.md", request.id)).is_file());
    }
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
    service.spawn();
    service.wait_for("all to have a record", |it| it.records().len() == 11);
    for request in &waiting {
        service.record_of(&request.id).assert_outcome("ok");
    }
    assert_recorded_once(&service, &running);
    assert_recorded_once(&service, &waiting);
}

fn reload_policy(service: &Service<'_>, line: &str) {
    let before = service.log().matches(line).count();
    service.signal("HUP");
    service.wait_for("the rules to be read", |it| it.log().matches(line).count() > before);
}

#[test]
fn rules_are_read_again_all_of_them_or_none() {
    let bench = Bench::new();
    let config = ServiceConfig::for_owner(&bench);
    let owners = format!("owners: [{}]", bench.uid());
    let closed = config.policy.replacen(&owners, "owners: [4242]", 1);
    assert_ne!(closed, config.policy);
    let policy = bench.home().join("policy.yaml");
    let service = Service::start(
        &bench,
        &ServiceConfig { policy: closed.clone(), ..ServiceConfig::for_owner(&bench) },
    );
    let refused = service.submit(&good());
    service.record_of(&refused.id).assert_outcome("refused");

    fs::write(&policy, &config.policy).unwrap();
    reload_policy(&service, " reloaded ");
    service.submit_saved(&refused).assert_code(0);
    service.wait_for("it to run", |it| it.records_of(&refused.id).len() == 2);
    assert!(service.records_of(&refused.id).iter().any(|it| it.outcome() == "ok"));

    for broken in ["surprise: 1\n", "[", ""] {
        fs::write(&policy, broken).unwrap();
        reload_policy(&service, "the previous rules stay in use");
        let request = service.submit(&good());
        service.record_of(&request.id).assert_outcome("ok");
    }
    // A run keeps the policy under which it started.
    fs::write(&policy, &closed).unwrap();
    let running = service.submit(&sleeping(8));
    service.wait_for("it to run", |it| has_started(it, &running));
    reload_policy(&service, " reloaded ");
    assert!(service.records_of(&running.id).is_empty(), "it ended before the reload");
    let refused = service.submit(&good());
    service.record_of(&running.id).assert_outcome("ok");
    service.record_of(&refused.id).assert_outcome("refused");
    service.verify().assert_code(0);
}

fn has_started(service: &Service<'_>, request: &SavedRequest) -> bool {
    let of_request = format!("request=\"{}\"", request.id);
    service.log().lines().any(|line| line.contains(" started ") && line.contains(&of_request))
}

/// Creates a key, and returns it with its `allowed_signers` line.
fn key_of(bench: &Bench, name: &str) -> (PathBuf, String) {
    let key = bench.home().join(name);
    let mut command = bench.command("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
    CliOutput::of(&mut command).assert_code(0);
    let line = format!("tester {}", fs::read_to_string(key.with_extension("pub")).unwrap());
    (key, line)
}

fn sign(key: &Path, request: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", "approve.tool-exec@threegate", "-f"]).arg(key).arg(request);
    CliOutput::of(&mut command).assert_code(0);
}

#[track_caller]
fn wait_until_held(service: &Service<'_>, request: &SavedRequest, code: &str) {
    let reason = service.path(&format!("public/held/{}.md.json", request.id));
    service.wait_for(code, |_| fs::read_to_string(&reason).is_ok_and(|text| text.contains(code)));
    assert!(service.records_of(&request.id).is_empty());
}

#[test]
fn held_requests_are_decided_again_after_changes() {
    if !ssh_keygen_works("held_requests_are_decided_again_after_changes") {
        return;
    }
    let bench = Bench::new();
    let ((first, line), (second, other)) = (key_of(&bench, "first"), key_of(&bench, "second"));
    let signers = bench.scratch().file("allowed_signers", &line);
    let with_keys = ServiceConfig {
        allowed_signers: Some(signers.clone()),
        ..ServiceConfig::for_owner(&bench).with_one_signature().with_hold_sec(3600)
    };
    let mut service = prepare_service(&bench, &with_keys, &[]);
    service.spawn();

    // The request is held for its missing signature, which is submitted later.
    let request = service.submit(&good());
    wait_until_held(&service, &request, "approval.count");
    sign(&first, &request.path);
    service.submit_saved(&request).assert_code(0);
    service.record_of(&request.id).assert_outcome("ok");

    // The key is added later, without a signal.
    let later = bench.save(&good());
    sign(&second, &later.path);
    service.submit_saved(&later).assert_code(0);
    wait_until_held(&service, &later, "approval.signature");
    fs::write(&signers, &other).unwrap();
    service.record_of(&later.id).assert_outcome("ok");

    // The new policy needs no signature.
    let unsigned = service.submit(&good());
    wait_until_held(&service, &unsigned, "approval.count");
    fs::write(bench.home().join("policy.yaml"), ServiceConfig::for_owner(&bench).policy).unwrap();
    reload_policy(&service, " reloaded ");
    service.record_of(&unsigned.id).assert_outcome("ok");
    service.verify().assert_code(0);
}

#[test]
fn a_directory_that_was_replaced_is_noticed() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &[]);
    service.spawn();
    let before = service.submit(&good());
    service.record_of(&before.id).assert_outcome("ok");
    fs::rename(service.path("approved"), service.path("approved.old")).unwrap();
    service.wait_for("it to be told", |it| it.log().contains("nothing can be submitted"));
    fs::create_dir(service.path("approved")).unwrap();
    chown(service.path("approved"), Some(bench.uid()), Some(bench.uid())).unwrap();
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    assert!(service.log().contains("another directory"), "{}", service.log());

    fs::rename(service.spool(), bench.home().join("old")).unwrap();
    fs::create_dir_all(service.path("approved")).unwrap();
    assert_eq!(service.wait(), Some(3), "a spool that is another's is no spool to go on with");
    let log = service.log();
    assert!(log.contains(service.spool().to_str().unwrap()), "{log}");
    assert!(log.contains("nothing more is admitted"), "{log}");
}

#[test]
fn the_same_request_under_two_names_runs_once() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &["runs_max: 2"]);
    let text = RequestText::of("python", "python -V");
    let request = text.save(&service.path("approved"));
    let copy = service.path(&format!("approved/{}-copy.md", request.id));
    fs::copy(&request.path, copy).unwrap();
    // Another text with the same id.
    let other = service.path(&format!("approved/{}-other.md", request.id));
    fs::write(other, text.edit("A test.", "Another.").text()).unwrap();
    service.spawn();
    service.wait_for("three answers", |it| it.records().len() == 3);
    service.wait_for("approved/ to be empty", |it| list(&it.path("approved")).is_empty());
    let records = service.records();
    let outcomes = |word: &str| records.iter().filter(|it| it.outcome() == word).count();
    assert_eq!((outcomes("ok"), outcomes("refused")), (1, 2), "{records:#?}");
    service.verify().assert_code(0);
}

/// `cp` creates a file and fills it later. The daemon must not refuse the empty file in between.
#[test]
fn an_empty_file_is_claimed_when_it_is_filled() {
    let bench = Bench::new();
    let mut service = prepare_service(&bench, &ServiceConfig::for_owner(&bench), &[]);
    service.spawn();
    service.wait_for("the daemon to be ready", |it| it.log().contains("ready"));
    let text = RequestText::of("python", "python -V");
    let path = service.path(&format!("approved/{}.md", text.id));
    // The daemon counts the age of a file in whole seconds. The kernel's time for files lags a bit.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_nanos(1_020_000_000 - u64::from(now.subsec_nanos())));
    let mut file = fs::File::create(&path).unwrap();
    let never = service.path("approved/TR-20260209-160501Z-never.md");
    fs::write(&never, "").unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(service.records().is_empty(), "refused before it was written");
    file.write_all(text.text().as_bytes()).unwrap();
    drop(file);
    service.record_of(&text.id).assert_outcome("ok");
    // A file that stays empty is not a request, and is refused.
    service
        .wait_for("the refusal of the empty one", |it| !never.exists() && it.records().len() == 2);
}
