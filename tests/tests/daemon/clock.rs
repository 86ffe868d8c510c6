//! A wall clock behind the last start or record: the daemon starts only if an option confirms it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, File};
use std::process::{Command, Stdio};

use toolexec_tests::{Bench, CliOutput, RequestText, Service, ServiceConfig, ShiftedClock, list};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

fn assert_start_refused(service: &Service<'_>, words: &[&str]) {
    let output = CliOutput::of(&mut service.command());
    output.assert_code(3);
    output.assert_stderr(words);
    output.assert_stderr(&["later than the clock's 20", "--clock-was-set-back"]);
    assert!(!output.stderr.contains("ready"), "{output:#?}");
}

fn with_one_run(service: &mut Service<'_>) {
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
}

#[test]
fn a_result_of_a_time_to_come_keeps_a_daemon_from_starting() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    with_one_run(&mut service);
    service.spawn();
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let id = "TS-29990101-000000Z-TR-29990101-000000Z-later";
    fs::create_dir(service.path("results").join(id)).unwrap();
    let request = service.submit(&good());
    let before = list(&service.path("results"));
    assert_start_refused(&service, &[id, "2999-01-01T00:00:00Z"]);
    assert_eq!(list(&service.path("results")), before);

    let log = bench.home().join("set-back.log");
    let mut command = service.command();
    command.arg("--clock-was-set-back").stdin(Stdio::null()).stdout(Stdio::null());
    let mut daemon = command.stderr(File::create(&log).unwrap()).spawn().unwrap();
    service.wait_for("the request to be run", |it| {
        list(&it.path("results")).iter().any(|name| name.ends_with(&request.id))
    });
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("is accepted because of") && log.contains("ready"), "{log}");
    // The confirmation is valid for one start only.
    assert_start_refused(&service, &[id]);
}

#[test]
fn a_run_started_in_the_future_prevents_a_start() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    with_one_run(&mut service);
    let path = service.state().join("ledger");
    let ledger = fs::read_to_string(&path).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(ledger.trim_end()).unwrap();
    line.as_object_mut().unwrap().remove("sum");
    line["begun"] = "2999-01-01T00:00:00Z".into();
    service.write_old_ledger(&line.to_string());
    assert_start_refused(&service, &["ledger: its time, 2999-01-01T00:00:00Z"]);
    line["begun"] = "1999-01-01T00:00:00Z".into();
    service.write_old_ledger(&line.to_string());
    service.spawn();
}

#[test]
fn a_small_clock_change_is_accepted() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let at = |ahead: &str| {
        let output = Command::new("date").args(["-u", "-d", ahead, "+%Y%m%d-%H%M%SZ"]).output();
        let at = String::from_utf8(output.unwrap().stdout).unwrap();
        service.path("results").join(format!("TS-{}-TR-20260209-160501Z-near", at.trim_end()))
    };
    let far = at("60 seconds");
    fs::create_dir(&far).unwrap();
    assert_start_refused(&service, &["TR-20260209-160501Z-near"]);
    fs::remove_dir(far).unwrap();
    fs::create_dir(at("4 seconds")).unwrap();
    service.spawn();
}

#[test]
fn check_starts_nothing_and_ignores_the_clock() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let output = CliOutput::of(service.command().args(["--check", "--clock-was-set-back"]));
    output.assert_code(3);
    output.assert_stderr(&["--clock-was-set-back"]);
}

#[test]
fn a_clock_that_is_set_back_while_the_daemon_serves_stops_admission() {
    let test = "a_clock_that_is_set_back_while_the_daemon_serves_stops_admission";
    let bench = Bench::new();
    let Some(clock) = ShiftedClock::build(test, &bench) else { return };
    let offset = bench.scratch().file("offset", "0");
    let mut service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let text = fs::read_to_string(service.config()).unwrap();
    fs::write(service.config(), text.replace("scan_interval_sec: 30", "scan_interval_sec: 1"))
        .unwrap();
    let command = |service: &Service<'_>, more: &[&str]| {
        let mut command = service.command();
        clock.follow(&mut command, &offset);
        command.args(more);
        command
    };
    let spawn = |service: &mut Service<'_>, more: &[&str]| {
        let command = command(service, more);
        service.spawn_as(command);
        service.wait_for("the daemon to be ready", |it| it.log().contains("ready"));
    };
    spawn(&mut service, &[]);
    let first = service.submit(&good());
    service.record_of(&first.id).assert_outcome("ok");

    fs::write(&offset, "-86400").unwrap();
    let second = service.submit(&good());
    service.wait_for("admission to stop", |it| it.log().contains("admission-stopped"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(service.records_of(&second.id).is_empty(), "it was judged by a wrong clock");
    assert!(service.log().contains("later than the clock's 20"), "{}", service.log());
    assert!(service.log().contains("--clock-was-set-back"), "{}", service.log());
    let status = fs::read_to_string(service.path("public/status.json")).unwrap();
    assert!(status.contains("later than the clock's"), "{status}");

    fs::write(&offset, "0").unwrap();
    service.record_of(&second.id).assert_outcome("ok");
    assert!(service.log().contains("admission-resumed"), "{}", service.log());

    fs::write(&offset, "-86400").unwrap();
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    spawn(&mut service, &["--clock-was-set-back"]);
    // By that clock its creation and approval are in the future: it is refused, not held.
    let third = service.submit(&good());
    service.record_of(&third.id).assert_outcome("refused");
    assert!(!service.log().contains("admission-stopped"), "{}", service.log());
}
