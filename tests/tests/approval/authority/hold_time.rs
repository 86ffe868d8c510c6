//! The deadline of a held request, the events that it survives, and the events after which it is
//! decided again. It must never run because of the clock alone.

use std::fs;
use std::thread;
use std::time::Duration;

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, ssh_keygen_works};

use super::host::{APPROVE, AuthorityHost, CORE_DRAFTS, TOOL, config, new_key, of_agent, sign};

const HELD: &str = "permission.requestable";
const HOUR: &str = "held_sec_max: 3600";

/// Returns a hold time within which a busy host takes an answer.
fn short() -> String {
    format!("held_sec_max: {}", 20 * time_factor())
}

#[test]
fn the_deadline_ends_in_a_recorded_refusal() {
    if !ssh_keygen_works("the_deadline_ends_in_a_recorded_refusal") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS, (HOUR, short().as_str())]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let record = host.assert_refused(&request.id, HELD);
    assert!(record.text.contains("state: \"REQUESTABLE\""), "{}", record.text);
    host.assert_unlisted(&request.id);
    host.service.verify().assert_code(0);
    // An answer after the deadline counts for the next request.
    host.answer(&host.permission_request(), &["--grant", TOOL]);
    let next = host.submit(&of_agent("a", "wf-1"));
    host.service.record_of(&next.id).assert_outcome("ok");
}

#[test]
fn without_hold_time_requests_are_refused() {
    if !ssh_keygen_works("without_hold_time_requests_are_refused") {
        return;
    }
    let bench = Bench::new();
    let none = (HOUR, "held_sec_max: 0");
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS, none]);
    for _ in 0..3 {
        let request = host.submit(&of_agent("a", "wf-1"));
        host.assert_refused(&request.id, HELD);
    }
    assert!(host.permission_requests().is_empty(), "nobody is asked for what nobody waits for");
}

#[test]
fn held_requests_survive_a_restart() {
    if !ssh_keygen_works("held_requests_survive_a_restart") {
        return;
    }
    let bench = Bench::new();
    let mut host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    let before = host.assert_held(&request.id, HELD);
    let question = host.permission_request();
    host.crash();
    let after = host.assert_held(&request.id, HELD);
    assert_eq!(after, before, "it waits no longer for the crash");
    assert_eq!(host.permission_request(), question, "and is not asked about twice");
    // An answer submitted while no daemon is running is accepted later.
    host.service.signal("TERM");
    assert_eq!(host.service.wait(), Some(0));
    let answer = host.write_answer(&question, &host.key, &["--grant", TOOL]);
    host.submit_answer(&answer);
    host.service.spawn();
    host.service.record_of(&request.id).assert_outcome("ok");
    host.service.verify().assert_code(0);
}

#[test]
fn another_policy_decides_anew() {
    if !ssh_keygen_works("another_policy_decides_anew") {
        return;
    }
    let bench = Bench::new();
    let mut host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    fs::write(bench.home().join("policy.yaml"), config(&bench, &[]).policy).unwrap();
    host.service.signal("TERM");
    assert_eq!(host.service.wait(), Some(0));
    host.service.spawn();
    host.service.record_of(&request.id).assert_outcome("ok");
}

#[test]
fn a_removed_signer_does_not_approve_held_requests() {
    if !ssh_keygen_works("a_removed_signer_does_not_approve_held_requests") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let other = fs::read_to_string(new_key(&bench, "other").with_extension("pub")).unwrap();
    // No key remains that could approve it under its name.
    fs::write(&host.signers, format!("other {other}")).unwrap();
    host.assert_refused(&request.id, "approval.signature");
}

#[test]
fn a_rejection_of_a_held_request_takes_effect() {
    if !ssh_keygen_works("a_rejection_of_a_held_request_takes_effect") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    let signature = request.path.with_extension("md.sig");
    fs::remove_file(&signature).unwrap();
    sign("reject.tool-exec@threegate", &host.key, &request.path);
    fs::rename(&signature, request.path.with_extension("md.no.sig")).unwrap();
    sign(APPROVE, &host.key, &request.path);
    host.service.submit_saved(&request).assert_code(0);
    host.assert_refused(&request.id, "approval.rejected");
}

#[test]
fn the_permissions_of_an_idle_workflow_end() {
    if !ssh_keygen_works("the_permissions_of_an_idle_workflow_end") {
        return;
    }
    let bench = Bench::new();
    let idle = format!("answer_uids: []\n  workflow_idle_sec: {}", 24 * time_factor());
    let (uids, short) = ("answer_uids: []", short());
    let changes = [CORE_DRAFTS, (HOUR, short.as_str()), (uids, idle.as_str())];
    let mut host = AuthorityHost::start(&bench, &changes);
    let first = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&first.id, HELD);
    host.answer(&host.permission_request(), &["--grant", TOOL]);
    host.service.record_of(&first.id).assert_outcome("ok");
    // A run restarts the period, also for a grant without a use limit, and across a crash.
    for _ in 0..3 {
        thread::sleep(Duration::from_secs(10) * time_factor());
        let next = host.submit(&of_agent("a", "wf-1"));
        host.service.record_of(&next.id).assert_outcome("ok");
        host.crash();
    }
    host.service.wait_for("the permissions to end", |service| {
        fs::read_to_string(service.path("public/permissions.json"))
            .is_ok_and(|it| !it.contains("wf-1"))
    });
    let last = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&last.id, HELD);
}
