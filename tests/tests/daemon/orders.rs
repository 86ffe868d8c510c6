//! Hold, release and cancel: each request ends in exactly one record, without its order files.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, RequestText, Service, ServiceConfig, list};

const NOTHING: [String; 0] = [];

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

fn sleeping(seconds: u32) -> RequestText {
    RequestText::python(&format!("import time; time.sleep({seconds}); print('slept')"))
        .time_sec(120)
}

/// The embedded policy, with time for a request to wait.
fn config_with_hold_time(bench: &Bench) -> ServiceConfig {
    ServiceConfig::for_owner(bench).with_hold_sec(3600)
}

fn order(bench: &Bench, service: &Service<'_>, words: &[&str]) -> CliOutput {
    CliOutput::of(bench.command("toolexec").args(words).arg("--spool").arg(service.spool()))
}

/// Asserts that an order is accepted, and returns the output.
#[track_caller]
fn assert_order(bench: &Bench, service: &Service<'_>, words: &[&str]) -> String {
    let output = order(bench, service, words);
    output.assert_code(0);
    output.stdout
}

/// Returns the entry of a request in `list --waiting`.
fn waiting_entry(bench: &Bench, service: &Service<'_>, id: &str) -> Option<Value> {
    let output = order(bench, service, &["list", "--waiting", "--format", "json"]);
    output.assert_code(0);
    output.json_lines().into_iter().find(|row| row["request_id"] == id)
}

#[track_caller]
fn assert_held(bench: &Bench, service: &Service<'_>, id: &str) {
    // A new decision about a held request takes it out of the list for a moment.
    let held = RefCell::new(None);
    service.wait_for("the request to be held", |_| {
        *held.borrow_mut() = waiting_entry(bench, service, id).filter(|row| row["state"] == "held");
        held.borrow().is_some()
    });
    let row = held.into_inner().unwrap();
    let waits = &row["held"]["waits_for"];
    assert_eq!(waits[0]["code"], "spool.held", "{row:#}");
    let user = CliOutput::of(bench.command("id").args(["-un"])).stdout;
    let message = waits[0]["message"].as_str().unwrap();
    assert!(message.contains(&format!("is held by {}", user.trim())), "{message}");
    assert!(service.records_of(id).is_empty());
}

/// Asserts that `approved/` is empty.
#[track_caller]
fn assert_gone(service: &Service<'_>) {
    service.wait_for("approved/ to be empty", |it| list(&it.path("approved")).is_empty());
    assert_eq!(list(&service.path("public/held")), NOTHING);
}

#[test]
fn what_is_held_waits_until_it_is_released() {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &config_with_hold_time(&bench));
    let request = service.submit(&good());
    let output = assert_order(&bench, &service, &["hold", &request.id]);
    assert!(output.contains(&format!("toolexec release {}", request.id)), "{output}");
    let file = service.path(&format!("approved/{}.md.hold", request.id));
    assert_eq!(fs::read(&file).unwrap(), b"");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o644);
    service.spawn();
    assert_held(&bench, &service, &request.id);

    let again = assert_order(&bench, &service, &["hold", &request.id]);
    assert!(again.contains("already held"), "{again}");
    let json = order(&bench, &service, &["hold", &request.id, "--format", "json"]).json();
    assert_eq!(json["request_id"], request.id.as_str());
    assert_eq!((&json["order"], &json["already_existed"]), (&"hold".into(), &true.into()));
    assert_eq!(json["path"].as_str(), file.to_str());

    // A held request is checked repeatedly, and it does not delay other requests.
    service.submit(&good());
    service.wait_for("another to run", |it| it.records().len() == 1);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    service.spawn();
    assert_held(&bench, &service, &request.id);

    let released = assert_order(&bench, &service, &["release", &request.id]);
    assert!(released.contains("released; the daemon"), "{released}");
    service.record_of(&request.id).assert_outcome("ok");
    assert_gone(&service);
    service.verify().assert_code(0);
}

#[test]
fn what_is_cancelled_before_it_runs_is_refused() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &config_with_hold_time(&bench));
    let (held, waiting) = (service.submit(&good()), service.submit(&good()));
    assert_order(&bench, &service, &["hold", &held.id]);
    assert_order(&bench, &service, &["cancel", &waiting.id]);
    let mut service = service;
    service.spawn();
    let record = service.record_of(&waiting.id);
    record.assert_outcome("refused");
    record.assert_violation("spool.cancelled");
    assert_held(&bench, &service, &held.id);
    assert_order(&bench, &service, &["cancel", &held.id]);
    let record = service.record_of(&held.id);
    record.assert_outcome("refused");
    record.assert_violation("spool.cancelled");
    assert_gone(&service);

    let late = order(&bench, &service, &["release", &held.id]);
    late.assert_code(2);
    late.assert_stderr(&[held.id.as_str(), "refused", record.id()]);
    // It never started, so it can be submitted again: its order file was removed.
    service.submit_saved(&held).assert_code(0);
    service.wait_for("it to run", |it| it.records_of(&held.id).len() == 2);
    assert!(service.records_of(&held.id).iter().any(|it| it.outcome() == "ok"));
    assert_gone(&service);
}

#[test]
fn only_cancel_ends_a_running_request() {
    let bench = Bench::new();
    let service = Service::start(&bench, &config_with_hold_time(&bench));
    let short = service.submit(&sleeping(9));
    let long = service.submit(&sleeping(100));
    service.wait_for("both to run", |it| it.log().matches("started").count() == 2);
    assert_order(&bench, &service, &["hold", &short.id]);
    let output = assert_order(&bench, &service, &["cancel", &long.id]);
    assert!(output.contains("ended if it runs"), "{output}");
    service.record_of(&long.id).assert_outcome("cancelled");
    let record = service.record_of(&short.id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "slept\n");
    assert_gone(&service);
    // A started request is used up.
    service.submit_saved(&long).assert_code(0);
    service.wait_for("a refusal", |it| it.records_of(&long.id).len() == 2);
    service.verify().assert_code(0);
}

/// A claimed request that waits for its turn can still be held and cancelled.
#[test]
fn a_queued_request_can_be_held_and_cancelled() {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &config_with_hold_time(&bench));
    service.configure("runs_max: 1");
    service.spawn();
    let first = service.submit(&sleeping(8));
    service.wait_for("the first to run", |it| it.log().contains("started"));
    let (held, cancelled) = (service.submit(&good()), service.submit(&good()));
    service.wait_for("all to be taken", |it| list(&it.path("work")).len() == 3);
    assert_order(&bench, &service, &["hold", &held.id]);
    assert_order(&bench, &service, &["cancel", &cancelled.id]);
    service.wait_for("a refusal", |it| !it.records_of(&cancelled.id).is_empty());
    assert_held(&bench, &service, &held.id);
    service.records_of(&cancelled.id)[0].assert_violation("spool.cancelled");
    service.wait_for("the first to end", |it| !it.records_of(&first.id).is_empty());
    assert_held(&bench, &service, &held.id);
    assert_order(&bench, &service, &["release", &held.id]);
    service.record_of(&held.id).assert_outcome("ok");
    assert_gone(&service);
}

#[test]
fn orders_without_a_request_are_harmless() {
    let bench = Bench::new();
    let service = Service::start(&bench, &config_with_hold_time(&bench));
    for word in ["hold", "release", "cancel"] {
        let output = order(&bench, &service, &[word, "TR-20260101-000000Z-none"]);
        output.assert_code(2);
        output.assert_stderr(&["TR-20260101-000000Z-none", "no such waiting request"]);
        fs::write(service.path(&format!("approved/TR-20260101-000000Z-none.md.{word}")), "")
            .unwrap();
    }
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    assert_eq!(list(&service.path("approved")).len(), 3);
    let nowhere = bench.scratch().dir("nowhere");
    let output =
        CliOutput::of(bench.command("toolexec").args(["hold", "x", "--spool"]).arg(nowhere));
    output.assert_code(3);
    output.assert_stderr(&["approved/"]);
}

#[test]
fn a_request_is_named_by_its_id_its_file_or_a_beginning() {
    let bench = Bench::new();
    let service = Service::prepare(&bench, &config_with_hold_time(&bench));
    let (one, two) = (service.submit(&good()), service.submit(&good()));
    let ambiguous = order(&bench, &service, &["hold", "TR-"]);
    ambiguous.assert_code(3);
    ambiguous.assert_stderr(&["2 waiting requests", &one.id, &two.id]);
    assert_order(&bench, &service, &["hold", &format!("{}.md", one.id)]);
    assert!(
        assert_order(&bench, &service, &["release", &two.id]).contains("not held by an operator")
    );
    CliOutput::of(Command::new("rm").arg(service.path(&format!("approved/{}.md", two.id))))
        .assert_code(0);
    assert!(assert_order(&bench, &service, &["hold", "TR-"]).contains("already held"));
    assert_order(&bench, &service, &["release", "TR-"]);
    // The daemon is not running and has removed no order: the new hold must replace the release.
    assert_order(&bench, &service, &["hold", "TR-"]);
    assert!(!service.path(&format!("approved/{}.md.release", one.id)).exists());
    assert_order(&bench, &service, &["cancel", "TR-"]);
    let output = order(&bench, &service, &["release", "TR-"]);
    output.assert_code(2);
    output.assert_stderr(&[&one.id, "already cancelled"]);
    let draft = service.path("drafts");
    fs::create_dir(&draft).unwrap();
    fs::rename(
        service.path(&format!("approved/{}.md", one.id)),
        draft.join(format!("{}.md", one.id)),
    )
    .unwrap();
    let output = order(&bench, &service, &["hold", &one.id]);
    output.assert_code(2);
    output.assert_stderr(&["a draft"]);
}
