//! Orders that a passkey signs on the page of a submitted request: hold, release and cancel.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, RequestText, edited_policy, list};

use super::approver::{ApproverPage, DONE};
use super::scene::ConsoleScene;

const APPROVE: &str = "approve.tool-exec@threegate";

/// A daemon that runs one request at a time, lets requests wait, and demands so many approvers.
fn scene_of(bench: &Bench, approvers: u32) -> ConsoleScene<'_> {
    let mut scene = ConsoleScene::start(bench);
    scene.service.signal("TERM");
    assert_eq!(scene.service.wait(), Some(0));
    let path = bench.home().join("policy.yaml");
    let policy = fs::read_to_string(&path).unwrap();
    let edits = [
        ("held_sec_max: 0", "held_sec_max: 3600".to_owned()),
        ("low: 1", format!("low: {approvers}")),
        ("medium: 1", format!("medium: {approvers}")),
        ("high: 1", format!("high: {approvers}")),
    ];
    fs::write(path, edited_policy(policy, &edits)).unwrap();
    scene.service.configure("runs_max: 1");
    scene.service.spawn();
    scene
}

/// Approves a request that runs for long, and returns its id once it has started.
fn start_long_run(page: &ApproverPage<'_>, scene: &ConsoleScene<'_>) -> String {
    let script = "import time; time.sleep(100)";
    let id = scene.draft(RequestText::python(script).time_sec(120)).id;
    page.open(&format!("/requests/{id}"));
    page.perform("approve");
    scene.service.wait_for("the run", |it| it.log().contains("started"));
    id
}

/// Signs an order on the page of a request, in a later second than the order or start before.
#[track_caller]
fn order(page: &ApproverPage<'_>, id: &str, kind: &str) {
    thread::sleep(Duration::from_millis(1100));
    let offered = format!("document.querySelector('form.action[data-action={kind}]') !== null");
    // A request that is being decided is on no list for a moment.
    page.scene.service.wait_for("the order to be offered", |_| {
        page.open(&format!("/requests/{id}"));
        page.script(&offered) == true
    });
    page.begin(kind);
    let shown = page.text_of("#confirm-text");
    assert!(shown.starts_with(&format!("toolexec-order v1\n{kind} {id}\nat 2")), "{shown}");
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    let log = page.scene.service.log();
    assert!(log.contains(&format!("{id}: {kind} signed by alice with key")), "{log}");
}

/// Approves the draft of a request that prints `ran`, and returns its id.
#[track_caller]
fn approve_draft(page: &ApproverPage<'_>) -> String {
    let id = page.open_draft("ran");
    page.perform("approve");
    id
}

/// Waits until the daemon reports that a request is held for this reason.
#[track_caller]
fn wait_until_held(scene: &ConsoleScene<'_>, id: &str, code: &str) {
    let path = scene.service.path(&format!("public/held/{id}.md.json"));
    scene.service.wait_for("the request to be held", |_| {
        fs::read_to_string(&path).is_ok_and(|text| text.contains(code))
    });
}

/// Submits the signature of `tester` for a request that waits in `approved/`.
#[track_caller]
fn sign_as_tester(scene: &ConsoleScene<'_>, id: &str) {
    let text = fs::read(scene.service.path(&format!("approved/{id}.md"))).unwrap();
    let file = scene.bench.scratch().file("second", text);
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-Y", "sign", "-n", APPROVE, "-f"]);
    command.arg(scene.bench.home().join("approver")).arg(&file);
    CliOutput::of(&mut command).assert_code(0);
    let place = scene.service.path(&format!("approved/{id}.md.tester.sig"));
    fs::rename(file.with_extension("sig"), place).unwrap();
}

#[test]
fn a_held_request_runs_only_after_its_release() {
    let bench = Bench::new();
    let scene = scene_of(&bench, 2);
    let test = "a_held_request_runs_only_after_its_release";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let id = approve_draft(&page);
    wait_until_held(&scene, &id, "approval.count");
    order(&page, &id, "hold");
    wait_until_held(&scene, &id, "spool.held");
    page.open(&format!("/requests/{id}"));
    let shown = page.text_of("main");
    assert!(shown.contains("spool.held"), "{shown}");
    // It now has all its signatures, and would run.
    sign_as_tester(&scene, &id);
    thread::sleep(Duration::from_secs(2));
    wait_until_held(&scene, &id, "spool.held");
    assert!(scene.service.records_of(&id).is_empty());
    order(&page, &id, "release");
    let record = scene.service.record_of(&id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "ran\n");
    let approved = scene.service.path("approved");
    scene.service.wait_for("the orders to be removed", |_| list(&approved).is_empty());
    scene.service.verify().assert_code(0);
}

/// A release ends a hold, and replaces no approval.
#[test]
fn a_released_request_still_waits_for_its_second_approver() {
    let bench = Bench::new();
    let scene = scene_of(&bench, 2);
    let test = "a_released_request_still_waits_for_its_second_approver";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let id = approve_draft(&page);
    wait_until_held(&scene, &id, "approval.count");
    order(&page, &id, "hold");
    wait_until_held(&scene, &id, "spool.held");
    order(&page, &id, "release");
    wait_until_held(&scene, &id, "approval.count");
    assert!(scene.service.records_of(&id).is_empty());
    order(&page, &id, "cancel");
    let record = scene.service.record_of(&id);
    record.assert_outcome("refused");
    record.assert_violation("spool.cancelled");
}

#[test]
fn a_running_request_and_the_one_behind_it_are_cancelled() {
    let bench = Bench::new();
    let scene = scene_of(&bench, 1);
    let test = "a_running_request_and_the_one_behind_it_are_cancelled";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let running = start_long_run(&page, &scene);
    let queued = approve_draft(&page);
    order(&page, &queued, "cancel");
    scene.service.wait_for("the refusal", |it| !it.records_of(&queued).is_empty());
    let record = scene.service.records_of(&queued).remove(0);
    record.assert_outcome("refused");
    record.assert_violation("spool.cancelled");
    assert!(scene.service.records_of(&running).is_empty());
    order(&page, &running, "cancel");
    scene.service.record_of(&running).assert_outcome("cancelled");
    scene.service.verify().assert_code(0);
}

/// A request that waits for a free place is claimed already. A hold takes it back into the queue.
#[test]
fn a_request_that_waits_for_its_turn_is_held_and_released() {
    let bench = Bench::new();
    let scene = scene_of(&bench, 1);
    let test = "a_request_that_waits_for_its_turn_is_held_and_released";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let running = start_long_run(&page, &scene);
    let claimed = approve_draft(&page);
    let report = scene.service.path(&format!("public/running/{claimed}.json"));
    scene.service.wait_for("the claim", |_| {
        fs::read_to_string(&report).is_ok_and(|text| text.contains("\"claimed\""))
    });
    page.open(&format!("/requests/{claimed}"));
    let forms = "[...document.querySelectorAll('form.action')].map((it) => it.dataset.action)";
    assert_eq!(page.script(&format!("{forms}.join(' ')")), "hold cancel");
    order(&page, &claimed, "hold");
    wait_until_held(&scene, &claimed, "spool.held");
    // Its page does not say that a tool has ended, and keeps the message of the order.
    page.browser.wait_for(
        "document.getElementById('output-status').textContent.startsWith('The request is not')",
    );
    assert_eq!(page.status(), "Done: held.");

    // The place is free now, and another request would have it.
    order(&page, &running, "cancel");
    scene.service.wait_for("the end of the run", |it| !it.records_of(&running).is_empty());
    thread::sleep(Duration::from_secs(2));
    wait_until_held(&scene, &claimed, "spool.held");
    assert!(scene.service.records_of(&claimed).is_empty());
    order(&page, &claimed, "release");
    let record = scene.service.record_of(&claimed);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "ran\n");
    scene.service.verify().assert_code(0);
}

/// The page shows the state at its time. The daemon knows that the request has ended since.
#[test]
fn an_order_for_a_request_that_has_ended_is_refused() {
    let bench = Bench::new();
    let scene = scene_of(&bench, 2);
    let test = "an_order_for_a_request_that_has_ended_is_refused";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let id = approve_draft(&page);
    wait_until_held(&scene, &id, "approval.count");
    page.open(&format!("/requests/{id}"));
    sign_as_tester(&scene, &id);
    scene.service.record_of(&id).assert_outcome("ok");
    page.confirm("cancel");
    let message = page.message();
    assert!(message.contains("no such waiting request"), "{message}");
    assert_eq!(scene.service.records_of(&id).len(), 1);
}
