//! A standing approval that is revoked while a use waits: the use must be refused when it goes on.

use std::fs;

use serde_json::Value;

use super::WaitingScene;
use toolexec_tests::{Bench, CliOutput, Record, ServiceConfig, ssh_keygen_works};

#[track_caller]
fn assert_revoked(record: &Record) {
    record.assert_outcome("refused");
    record.assert_violation("approval.standing");
    assert!(record.text.contains("revoked"), "{}", record.text);
}

#[test]
fn a_held_use_is_refused_after_a_revocation() {
    if !ssh_keygen_works("a_held_use_is_refused_after_a_revocation") {
        return;
    }
    let bench = Bench::new();
    let config = ServiceConfig::for_owner(&bench).with_hold_sec(3600);
    let scene = WaitingScene::start(&bench, config, &[]);
    let approved = scene.service.path("approved");
    let request = scene.use_of(1);
    fs::write(approved.join(format!("{}.md.hold", request.id)), "").unwrap();
    scene.place(&request, &approved);
    let reason = scene.service.path(&format!("public/held/{}.md.json", request.id));
    scene.service.wait_for("the use to be held", |_| {
        fs::read_to_string(&reason).is_ok_and(|text| text.contains("spool.held"))
    });
    scene.revoke();
    let mut command = bench.command("toolexec");
    command.args(["release", &request.id, "--spool"]).arg(scene.service.spool());
    CliOutput::of(&mut command).assert_code(0);
    assert_revoked(&scene.service.record_of(&request.id));
    scene.assert_uses(0);
}

/// The use was approved before the revocation, and only the ledger refuses it.
#[test]
fn a_use_that_waits_for_capacity_is_refused_after_a_revocation() {
    if !ssh_keygen_works("a_use_that_waits_for_capacity_is_refused_after_a_revocation") {
        return;
    }
    let bench = Bench::new();
    let config = ServiceConfig::for_owner(&bench);
    let scene = WaitingScene::start(&bench, config, &["runs_max: 1"]);
    let approved = scene.service.path("approved");
    let first = scene.use_of(10);
    scene.place(&first, &approved);
    scene.service.wait_for("the first to run", |service| service.log().contains("started"));
    let second = scene.use_of(1);
    scene.place(&second, &approved);
    let running = scene.service.path(&format!("public/running/{}.json", second.id));
    scene.service.wait_for("the second to be approved", |_| {
        let text = fs::read_to_string(&running).unwrap_or_default();
        serde_json::from_str(&text).is_ok_and(|it: Value| it["memory_bytes_max"].is_u64())
    });
    scene.revoke();
    assert!(scene.service.records().is_empty(), "the first still runs");
    scene.service.wait_for("both records", |service| service.records().len() == 2);
    scene.service.record_of(&first.id).assert_outcome("ok");
    assert_revoked(&scene.service.record_of(&second.id));
    scene.assert_uses(1);
}
