//! The states that a crash leaves between the steps after a run, built from the files of a daemon.
//! If all of the run was durable, recovery finishes it as it was; otherwise it records an unknown
//! outcome. It never records twice. `doctor --spool` reports everything unexplained.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::PathBuf;

use toolexec_tests::{Bench, CliOutput, Record, RequestText, Service, ServiceConfig, list};

/// The name in `work/` of a request that never started.
const CLAIM: &str = "0123456789abcdef0123456789abcdef";

/// Submits an unapproved request by hand, and waits for its record.
fn submit_refused(service: &Service<'_>, bench: &Bench) -> Record {
    let bad = RequestText::python("print(1)").edit("approved_by: \"tester\"", "approved_by: \"\"");
    let request = bench.save(&bad);
    for path in [&request.inputs, &request.path] {
        fs::rename(path, service.path("approved").join(path.file_name().unwrap())).unwrap();
    }
    service.record_of(&request.id)
}

/// Ends the daemon, and restores a claim and its result to their state before publication.
fn unpublish(service: &mut Service<'_>, record: &Record, from: &str, claim: &str) -> PathBuf {
    service.wait_for("the claim to be put away", |it| list(&it.path(from)) == [record.id()]);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    fs::rename(service.path(from).join(record.id()), service.path("work").join(claim)).unwrap();
    let hidden = service.path(&format!("results/.new-{}", record.id()));
    fs::rename(service.path("results").join(record.id()), &hidden).unwrap();
    hidden
}

/// Returns the claim in the only line of the ledger.
fn claim_in_ledger(service: &Service<'_>) -> String {
    let line = fs::read_to_string(service.state().join("ledger")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    line["claim"].as_str().unwrap().to_owned()
}

#[test]
fn a_durable_result_is_published_unchanged() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('ran')"));
    let record = service.record_of(&request.id);
    let claim = claim_in_ledger(&service);
    unpublish(&mut service, &record, "archive", &claim);
    service.spawn();
    let again = service.record_of(&request.id);
    again.assert_outcome("ok");
    assert_eq!(again.text, record.text);
    assert_eq!(list(&service.path("archive")), [record.id()]);
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
    assert_eq!(service.records().len(), 1);
    service.verify().assert_code(0);
}

#[test]
fn an_unverifiable_result_is_not_published() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('ran')"));
    let record = service.record_of(&request.id);
    let claim = claim_in_ledger(&service);
    let hidden = unpublish(&mut service, &record, "archive", &claim);
    fs::write(hidden.join("stdout"), "something else").unwrap();
    service.spawn();
    service.record_of(&request.id).assert_outcome("indeterminate");
    assert_eq!(service.records().len(), 1);
    assert_eq!(list(&service.path("results")), [record.id()]);
    service.verify().assert_code(0);
}

#[test]
fn a_refusal_is_recorded_once() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let record = submit_refused(&service, &bench);
    unpublish(&mut service, &record, "quarantine", CLAIM);
    service.spawn();
    assert_eq!(service.records().len(), 1);
    assert_eq!(service.records()[0].text, record.text);
    assert_eq!(list(&service.path("quarantine")), [record.id()]);
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
    service.verify().assert_code(0);
}

fn doctor(bench: &Bench, service: &Service<'_>, more: &[&str]) -> CliOutput {
    let mut doctor = bench.command("toolexec");
    doctor.args(["doctor", "--spool"]).arg(service.spool());
    CliOutput::of(doctor.arg("--state").arg(service.state()).args(more))
}

/// The daemon was killed while it copied the inputs of a draft.
#[test]
fn an_interrupted_copy_of_inputs_is_removed() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let copy = service.path("approved/.TR-20260209-160501Z-killed.inputs.draft");
    fs::create_dir_all(copy.join("repo")).unwrap();
    fs::write(copy.join("repo/half"), "x").unwrap();
    // The files of another program.
    let upload = service.path("approved/.upload.inputs.draft");
    fs::create_dir(&upload).unwrap();
    service.spawn();
    service.wait_for("the copy to be removed", |_| !copy.exists());
    let request = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&request.id).assert_outcome("ok");
    assert!(upload.exists());
}

#[test]
fn doctor_reports_spool_problems_with_help() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('ran')"));
    let record = service.record_of(&request.id);
    submit_refused(&service, &bench);
    service.wait_for("the claim to be put away", |it| list(&it.path("work")).is_empty());
    let output = doctor(&bench, &service, &["--format", "json"]);
    output.assert_code(0);
    let seen = output.json();
    assert_eq!(seen["findings"], serde_json::json!([]), "{seen:#}");
    assert_eq!((&seen["daemon"], &seen["ledger_lines"]), (&true.into(), &1.into()));

    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let claim = claim_in_ledger(&service);
    // A ledger from before the run, and a duplicate claim.
    fs::write(service.state().join("ledger"), "").unwrap();
    fs::create_dir(service.path("work").join(&claim)).unwrap();
    fs::create_dir(service.path("results").join(".unverified-one")).unwrap();
    let output = doctor(&bench, &service, &[]);
    output.assert_code(1);
    let words = ["not-in-ledger", record.id(), "could run twice", "interrupted", &claim];
    for word in words.into_iter().chain(["unverified", ".unverified-one", "was not published"]) {
        assert!(output.stdout.contains(word), "{word}: {output:#?}");
    }
    let output = doctor(&bench, &service, &["--format", "json"]);
    output.assert_code(1);
    assert_eq!(output.json()["daemon"], false);

    let mut elsewhere = bench.command("toolexec");
    let output = CliOutput::of(elsewhere.args(["doctor", "--spool"]).arg(service.state()));
    output.assert_code(2);
    output.assert_stderr(&["not a spool"]);
    // Without the state, neither the ledger nor the modes could be judged.
    let mut stateless = bench.command("toolexec");
    let output = CliOutput::of(stateless.args(["doctor", "--spool"]).arg(service.spool()));
    output.assert_code(3);
    output.assert_stderr(&["the spool of a daemon", "help: name that directory with --state"]);
}
