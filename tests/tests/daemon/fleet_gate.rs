//! The daemon of a host in a fleet, with a gate of the test: a tool starts only after the gate has
//! permitted it. Runs are counted from outside.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod fake_gate;
mod membership;
mod scene;

use std::fs;
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::FailpointDaemon;
use toolexec_tests::{Bench, CliOutput, list};

use fake_gate::{GateReply, READY};
use scene::{FleetScene, sha256_of, tool_for};

#[test]
fn a_start_is_asked_once_and_before_the_tool() {
    let Some(tool) = tool_for("a_start_is_asked_once_and_before_the_tool") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    gate.set_replies(vec![GateReply::Held], GateReply::start());
    scene.service.spawn();
    let request = scene.request();
    let sha256 = {
        let saved = request.save(&bench.scratch().dir("aside"));
        sha256_of(&saved.path)
    };
    scene.place(&request);
    scene.service.wait_for("the query for the start", |_| !gate.starts().is_empty());
    // The line of the ledger is durable by now, and the tool waits.
    let ledger = fs::read_to_string(scene.service.state().join("ledger")).unwrap();
    assert!(ledger.contains(&request.id), "{ledger}");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(scene.runs_of(&request.id), 0);
    gate.release();
    scene.service.record_of(&request.id).assert_outcome("ok");
    assert_eq!(scene.runs_of(&request.id), 1);
    let expected = serde_json::json!({
        "request": request.id, "document_sha256": sha256, "standing": null
    });
    assert_eq!(gate.starts(), [expected]);
    // Each further run has one query too.
    for _ in 0..3 {
        let id = scene.submit();
        scene.service.record_of(&id).assert_outcome("ok");
        assert_eq!(scene.runs_of(&id), 1);
    }
    assert_eq!(gate.starts().len(), 4);
    scene.service.verify().assert_code(0);
    scene.stop();
}

#[test]
fn a_refused_start_runs_nothing_and_uses_nothing_up() {
    let Some(tool) = tool_for("a_refused_start_runs_nothing_and_uses_nothing_up") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    let reason = "the request was started by host-b; help: see its record on host-b";
    gate.set_replies(vec![GateReply::refused(reason)], GateReply::start());
    scene.service.spawn();
    let request = scene.request();
    scene.place(&request);
    scene.assert_not_started(&request.id, reason);
    assert_eq!(gate.starts().len(), 1, "a refusal is final");
    scene.place(&request);
    scene.service.wait_for("a second record", |it| it.records_of(&request.id).len() == 2);
    scene.service.wait_for("the claim to be finished", |it| list(&it.path("work")).is_empty());
    assert_eq!(scene.runs_of(&request.id), 1);
    scene.service.verify().assert_code(0);
    scene.stop();
}

#[test]
fn an_undecided_start_is_asked_again_and_runs_once() {
    let Some(tool) = tool_for("an_undecided_start_is_asked_again_and_runs_once") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    let undecided = || GateReply::undecided("database: connection lost; help: check it");
    gate.set_replies(vec![undecided(), GateReply::Close, undecided()], GateReply::start());
    scene.service.spawn();
    let id = scene.submit();
    scene.service.record_of(&id).assert_outcome("ok");
    assert_eq!(scene.runs_of(&id), 1);
    let starts = gate.starts();
    assert_eq!(starts.len(), 4);
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:#?}");
    scene.stop();
}

#[test]
fn a_gate_that_decides_nothing_starts_nothing() {
    let Some(tool) = tool_for("a_gate_that_decides_nothing_starts_nothing") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 2);
    let gate = scene.gate();
    scene.service.spawn();
    let undecided = || GateReply::undecided("database: no answer; help: check it");
    for (reply, reason) in [
        (GateReply::Silence, "the gate of the fleet gave no answer within 2 s"),
        (GateReply::Close, "the gate of the fleet was lost while waiting for an answer"),
        (undecided(), "within 2 s: database: no answer; help: check it"),
    ] {
        gate.set_replies(Vec::new(), reply);
        let begun = Instant::now();
        let id = scene.submit();
        scene.assert_not_started(&id, "the fleet did not decide about the start within 2 s: ");
        let record = scene.service.record_of(&id);
        assert!(record.text.contains(reason), "{reason:?} is not in {}", record.text);
        assert!(begun.elapsed() >= Duration::from_millis(1900), "{:?}", begun.elapsed());
    }
    // A permission that comes later starts nothing either.
    gate.set_replies(Vec::new(), GateReply::Held);
    let id = scene.submit();
    scene.assert_not_started(&id, "did not decide");
    gate.release();
    let next = scene.submit();
    scene.service.record_of(&next).assert_outcome("ok");
    assert_eq!((scene.runs_of(&id), scene.runs_of(&next)), (0, 1));
    scene.stop();
}

/// Every answer outside of the protocol is none.
#[test]
fn an_invalid_answer_starts_nothing() {
    let Some(tool) = tool_for("an_invalid_answer_starts_nothing") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 1);
    let gate = scene.gate();
    scene.service.spawn();
    let long = [vec![b' '; 70_000], b"\"start\"\n".to_vec()].concat();
    for (bytes, reason) in [
        (b"start\n".to_vec(), "sent an invalid answer"),
        (b"\"sta\xffrt\"\n".to_vec(), "sent an invalid answer"),
        (b"\"started\"\n".to_vec(), "unknown variant"),
        (b"{\"start\":{}}\n".to_vec(), "sent an invalid answer"),
        (b"{\"start\":null,\"more\":1}\n".to_vec(), "sent an invalid answer"),
        (b"{\"undecided\":{\"reason\":\"r\",\"more\":1}}\n".to_vec(), "unknown field"),
        (b"\"start\"\n\"start\"\n".to_vec(), "more than one line"),
        (b"\"start\"".to_vec(), "gave no answer within 1 s"),
        (READY.as_bytes().to_vec(), "an answer to another query"),
        (long, "more than 65536 bytes"),
    ] {
        gate.set_replies(Vec::new(), GateReply::Bytes(bytes));
        let id = scene.submit();
        scene.assert_not_started(&id, reason);
    }
    assert!(scene.counted.counts().is_empty());
    scene.stop();
}

#[test]
fn a_cancelled_request_ends_its_wait_for_the_start() {
    let Some(tool) = tool_for("a_cancelled_request_ends_its_wait_for_the_start") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 240);
    let gate = scene.gate();
    scene.service.spawn();
    for reply in [GateReply::Silence, GateReply::undecided("database: down; help: check it")] {
        gate.set_replies(Vec::new(), reply);
        let asked = gate.starts().len();
        let id = scene.submit();
        scene.service.wait_for("the query for the start", |_| gate.starts().len() > asked);
        let mut cancel = bench.command("toolexec");
        cancel.args(["cancel", &id, "--spool"]).arg(scene.service.spool());
        CliOutput::of(&mut cancel).assert_code(0);
        scene.assert_not_started(&id, "the wait for the gate of the fleet was cancelled");
    }
    // So does the end of the daemon, after its grace.
    let asked = gate.starts().len();
    let id = scene.submit();
    scene.service.wait_for("the query for the start", |_| gate.starts().len() > asked);
    scene.stop();
    let records = scene.service.records_of(&id);
    assert_eq!(records.len(), 1, "{records:#?}");
    records[0].assert_outcome("setup_error");
    assert_eq!(scene.runs_of(&id), 0);
}

#[test]
fn a_use_of_a_standing_approval_is_part_of_the_query() {
    let Some(tool) = tool_for("a_use_of_a_standing_approval_is_part_of_the_query") else { return };
    let bench = Bench::new();
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    scene.service.spawn();
    // The label is an audience, as the name is.
    let word = scene.counted.run_argument("use");
    let standing = scene.admit_standing(&word);
    let id = scene.submit_use(&standing, &word);
    scene.service.record_of(&id).assert_outcome("ok");
    let starts = gate.starts();
    assert_eq!(starts.len(), 1);
    let expected = serde_json::json!({
        "approval": standing.id,
        "document_sha256": sha256_of(&standing.path),
        "uses_max": 100,
        "uses_per_hour_max": 20,
    });
    assert_eq!(starts[0]["standing"], expected);
    scene.stop();
}

/// A permitted start that a crash has interrupted is neither asked for nor run again.
#[test]
fn a_kill_after_the_permission_runs_nothing_again() {
    let test = "a_kill_after_the_permission_runs_nothing_again";
    let (Some(daemon), Some(tool)) = (FailpointDaemon::get(test), tool_for(test)) else { return };
    let bench = Bench::new();
    daemon.install(&bench);
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let gate = scene.gate();
    for (asked, failpoint) in [(0, "intent-durable"), (1, "start-permitted")] {
        let mut command = scene.service.command();
        command.env("TOOLEXEC_FAILPOINT", failpoint);
        scene.service.spawn_as(command);
        let id = scene.submit();
        assert_eq!(scene.service.wait(), None, "{}", scene.service.log());
        assert_eq!(gate.starts().len(), asked);
        scene.service.spawn();
        scene.service.record_of(&id).assert_outcome("indeterminate");
        assert_eq!((scene.runs_of(&id), gate.starts().len()), (0, asked));
        scene.stop();
    }
}

/// Recovery does not know the labels, and must still publish what such a run has recorded.
#[test]
fn a_use_by_label_survives_a_kill_before_its_publication() {
    let test = "a_use_by_label_survives_a_kill_before_its_publication";
    let (Some(daemon), Some(tool)) = (FailpointDaemon::get(test), tool_for(test)) else { return };
    let bench = Bench::new();
    daemon.install(&bench);
    let mut scene = FleetScene::new(&bench, &tool, 60);
    let _gate = scene.gate();
    scene.service.spawn();
    let word = scene.counted.run_argument("use");
    let standing = scene.admit_standing(&word);
    scene.stop();
    for (runs, failpoint) in [(1, "result-durable"), (2, "log-adopted")] {
        let mut command = scene.service.command();
        command.env("TOOLEXEC_FAILPOINT", failpoint);
        scene.service.spawn_as(command);
        let id = scene.submit_use(&standing, &word);
        assert_eq!(scene.service.wait(), None, "{}", scene.service.log());
        scene.service.spawn();
        scene.service.record_of(&id).assert_outcome("ok");
        assert_eq!(scene.runs_of("use"), runs);
        scene.stop();
    }
    scene.service.fsck().assert_code(0);
}
