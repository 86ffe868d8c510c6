//! The end of a `toolexecd`, on a signal or otherwise. No request runs twice or loses its record.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::time::{Duration, Instant};

use toolexec_tests::{
    Bench, CliOutput, RequestText, Service, ServiceConfig, list, wait_for_no_process,
    wait_for_process,
};

/// Longest time to end without a run in progress. With a run it is six times as long.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Returns a request that runs this long, and an argument that identifies its tool.
fn sleeper(seconds: &str) -> (RequestText, String) {
    let text = RequestText::python(&format!("import time; time.sleep({seconds}); print('slept')"));
    let word = format!("word-of-{}", text.id);
    let command = format!("python script.py {word}");
    (text.command(&command), word)
}

#[test]
fn a_daemon_stops_on_a_signal() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    for signal in ["TERM", "INT"] {
        let begun = Instant::now();
        service.signal(signal);
        assert_eq!(service.wait(), Some(0), "{}", service.log());
        assert!(begun.elapsed() < AT_ONCE, "{}", service.log());
        service.spawn();
    }
}

#[test]
fn a_run_that_outlasts_the_drain_is_cancelled() {
    let bench = Bench::new();
    let config = ServiceConfig { shutdown_grace_sec: 1, ..ServiceConfig::for_owner(&bench) };
    let mut service = Service::prepare(&bench, &config);
    service.configure("runs_max: 1");
    service.spawn();
    let (text, word) = sleeper("60");
    let request = service.submit(&text);
    assert!(!wait_for_process(&word).is_empty());
    // It waits for the first one. It must neither start now nor be lost.
    let next = service.submit(&RequestText::python("print('next')"));
    let begun = Instant::now();
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0), "{}", service.log());
    assert!(begun.elapsed() < AT_ONCE, "{}", service.log());
    wait_for_no_process(&word);
    let record = service.record_of(&request.id);
    record.assert_outcome("cancelled");
    service.verify().assert_code(0);
    assert!(service.path(&format!("approved/{}.md", next.id)).exists());
    service.spawn();
    service.record_of(&next.id).assert_outcome("ok");
}

#[test]
fn a_run_is_cancelled_by_an_order_during_the_drain() {
    let bench = Bench::new();
    let config = ServiceConfig { shutdown_grace_sec: 300, ..ServiceConfig::for_owner(&bench) };
    let mut service = Service::start(&bench, &config);
    let (text, word) = sleeper("250");
    let request = service.submit(&text);
    assert!(!wait_for_process(&word).is_empty());
    service.signal("TERM");
    service.wait_for("the drain", |service| service.log().contains("draining"));
    let spool = service.path("");
    let cancel = ["cancel".as_ref(), request.id.as_ref(), "--spool".as_ref(), spool.as_os_str()];
    bench.toolexec(cancel).assert_code(0);
    assert_eq!(service.wait(), Some(0), "{}", service.log());
    service.record_of(&request.id).assert_outcome("cancelled");
}

#[test]
fn a_run_within_the_drain_is_finished() {
    let bench = Bench::new();
    let mut service = Service::start(
        &bench,
        &ServiceConfig { shutdown_grace_sec: 20, ..ServiceConfig::for_owner(&bench) },
    );
    // Long enough for the signal to come before its end on a busy host.
    let (text, word) = sleeper("6");
    let request = service.submit(&text);
    assert!(!wait_for_process(&word).is_empty());
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0), "{}", service.log());
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "slept\n");
}

#[test]
fn a_second_daemon_leaves_the_first_alone() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let second = CliOutput::of(&mut service.command());
    second.assert_code(3);
    second.assert_stderr(&["another daemon or an embedded run uses this spool"]);
    assert!(second.elapsed < AT_ONCE);
    let request = service.submit(&RequestText::python("print('first')"));
    service.record_of(&request.id).assert_outcome("ok");
    // An embedded run does not work at the same time either.
    let beside = bench.save(&RequestText::python("pass"));
    let run = CliOutput::of(
        bench.command("toolexec").arg("run").arg(&beside.path).arg("--state").arg(service.state()),
    );
    run.assert_code(3);
    run.assert_stderr(&["another daemon or an embedded run uses this spool"]);
}

#[test]
fn killed_in_a_run_it_records_indeterminate_and_never_runs_it_again() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let (text, word) = sleeper("60");
    let request = service.submit(&text);
    assert!(!wait_for_process(&word).is_empty());
    service.signal("KILL");
    assert_eq!(service.wait(), None);
    // No tool may run without a record.
    wait_for_no_process(&word);
    assert_eq!(service.records().len(), 0);

    service.spawn();
    let record = service.record_of(&request.id);
    record.assert_outcome("indeterminate");
    assert_eq!(record.front_matter_value("exit_code"), "-1");
    service.verify().assert_code(0);
    assert_eq!(list(&service.path("archive")), [record.id()]);
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_eq!(list(&service.path("results")), [record.id()], "and nothing half-published");
    assert_eq!(list(&service.state().join("staging")), Vec::<String>::new());

    // The next daemon has nothing to record. A second submission is refused.
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    service.spawn();
    assert_eq!(service.records().len(), 1);
    service.submit_saved(&request).assert_code(0);
    service.wait_for("a refusal", |it| it.records().len() == 2);
    let records = service.records();
    let refusal = records.iter().find(|record| record.outcome() == "refused").unwrap();
    refusal.assert_violation("spool.replayed");
    assert!(refusal.text.contains(record.id()), "names the first record");
    wait_for_no_process(&word);
}

#[test]
fn a_daemon_killed_while_idle_resumes() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let first = service.submit(&RequestText::python("print(1)"));
    service.record_of(&first.id).assert_outcome("ok");
    service.signal("KILL");
    assert_eq!(service.wait(), None);
    let second = service.submit(&RequestText::python("print(2)"));
    service.spawn();
    service.record_of(&second.id).assert_outcome("ok");
    assert_eq!(service.records().len(), 2);
    service.verify().assert_code(0);
}
