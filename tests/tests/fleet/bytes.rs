//! Bytes that move through the database or a store: each host hashes them before it uses them. A
//! place that sends other bytes costs a refusal.

use std::fs;
use std::path::Path;
use std::process::Command;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, SavedRequest, TestFleet, list};

const EXTRA: &str = "extra.bin";
/// Above 1 MiB, from which on a store has the bytes.
const LARGE_BYTES: usize = 2 * 1024 * 1024;

fn sha256_of(path: &Path) -> String {
    let output = CliOutput::of(Command::new("sha256sum").arg(path));
    output.assert_code(0);
    output.stdout[..64].to_owned()
}

/// Changes one bit of a blob in the database.
fn damage(fleet: &TestFleet<'_>, sha256: &str) {
    let found = format!("SELECT count(*) FROM toolexec.blob_part WHERE sha256 = '{sha256}'");
    assert_eq!(fleet.database.query(&found), "1", "{sha256}");
    fleet.database.edit_by_hand(&format!(
        "UPDATE toolexec.blob_part SET data = set_byte(data, 0, get_byte(data, 0) # 1) \
         WHERE sha256 = '{sha256}'"
    ));
}

/// Waits until both hosts have given a request back, and returns their reasons.
fn reasons_of_both(fleet: &TestFleet<'_>, id: &str) -> Vec<String> {
    let select = format!("SELECT reason FROM toolexec.declined WHERE request = '{id}'");
    let reasons = || fleet.database.query(&select);
    fleet.wait_for("both hosts to give it back", |_| reasons().lines().count() == 2);
    reasons().lines().map(str::to_owned).collect()
}

fn assert_never_run(fleet: &TestFleet<'_>, id: &str, reason: &str) {
    for given in reasons_of_both(fleet, id) {
        assert!(given.contains(reason), "{reason:?} is not in {given:?}");
    }
    assert_eq!((fleet.state_of(id).as_str(), fleet.runs_of(id)), ("queued", 0));
    for host in &fleet.hosts {
        assert!(host.service.records_of(id).is_empty(), "{id} has a record");
        let names = list(&host.service.path("approved"));
        assert!(!names.iter().any(|name| name.contains(id)), "{names:?}");
    }
}

#[test]
fn bytes_that_were_changed_in_the_database_run_nothing() {
    let test = "bytes_that_were_changed_in_the_database_run_nothing";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let saved: Vec<SavedRequest> = (0..4)
        .map(|number| fleet.save(&fleet.request().input(EXTRA, format!("number {number}"))))
        .collect();
    for request in &saved {
        fleet.submit_saved(request).assert_code(0);
    }
    let [document, input, manifest, good] = &saved[..] else { panic!() };
    let manifests =
        format!("SELECT manifest_sha256 FROM toolexec.request WHERE id = '{}'", manifest.id);
    for sha256 in [
        sha256_of(&document.path),
        sha256_of(&input.inputs.join(EXTRA)),
        fleet.database.query(&manifests),
    ] {
        damage(&fleet, &sha256);
    }
    fleet.spawn();
    for request in [document, input, manifest] {
        assert_never_run(&fleet, &request.id, "the database answers with other bytes");
    }
    // The defect of one request delays no other.
    fleet.assert_run_once(std::slice::from_ref(&good.id));
    // A record is hashed as well.
    let record = "SELECT record_sha256 FROM toolexec.result";
    damage(&fleet, &fleet.database.query(record));
    let into = benches[0].scratch().dir("fetched");
    let shown = fleet.toolexec(&["show", &good.id, "--out", into.to_str().unwrap()]);
    shown.assert_code(3);
    shown.assert_stderr(&["the database answers with other bytes", "help: "]);
    assert_eq!(list(&into), Vec::<String>::new());
    fleet.stop();
}

#[test]
fn large_files_move_through_a_store_and_are_hashed() {
    let test = "large_files_move_through_a_store_and_are_hashed";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let store = fleet.use_store();
    let large = |fleet: &TestFleet<'_>, letter: &str| {
        fleet.save(&fleet.request().input(EXTRA, letter.repeat(LARGE_BYTES)))
    };
    let [good, bad] = ["a", "b"].map(|letter| large(&fleet, letter));
    for request in [&good, &bad] {
        fleet.submit_saved(request).assert_code(0);
    }
    let object = |request: &SavedRequest| {
        let sha256 = sha256_of(&request.inputs.join(EXTRA));
        store.join(format!("sha256-{sha256}"))
    };
    let size_of = |request: &SavedRequest| fs::read(object(request)).unwrap().len();
    assert_eq!(size_of(&good), LARGE_BYTES);
    let in_database = "SELECT count(*) FROM toolexec.blob WHERE bytes > 1048576";
    assert_eq!(fleet.database.query(in_database), "0");
    let path = object(&bad);
    let mut bytes = fs::read(&path).unwrap();
    bytes[LARGE_BYTES / 2] ^= 1;
    fs::write(path, bytes).unwrap();
    fleet.spawn();
    fleet.assert_run_once(std::slice::from_ref(&good.id));
    assert_never_run(&fleet, &bad.id, "answers with other bytes");
    // Without the store, a host cannot have the bytes, and says so.
    fleet.stop();
    let next = large(&fleet, "c");
    fleet.submit_saved(&next).assert_code(0);
    fs::remove_file(object(&next)).unwrap();
    fleet.spawn();
    fleet.wait_for("the reason", |fleet| {
        fleet.hosts.iter().any(|host| host.agent_log().contains("not in the database"))
    });
    assert_eq!(fleet.runs_of(&next.id), 0);
    // Another request with these bytes brings them again.
    let again = large(&fleet, "c");
    fleet.submit_saved(&again).assert_code(0);
    assert_eq!(size_of(&again), LARGE_BYTES);
    fleet.assert_run_once(&[again.id]);
    fleet.stop();
}
