//! Hosts that stop. Another host takes over what such a host has claimed, and never what it has
//! started.

use std::time::Duration;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

/// Longer than the time after which claims are taken over.
const AFTER_TAKEOVER: Duration = Duration::from_secs(6);

fn ids_in_state(fleet: &TestFleet<'_>, state: &str) -> Vec<String> {
    let rows = fleet.rows();
    let found = rows.iter().filter(|row| row["fleet_state"] == state);
    found.map(|row| row["request_id"].as_str().unwrap().to_owned()).collect()
}

/// Starts host-a alone with four requests, of which it has started one and claimed the others.
/// Returns the id of the started one, and of the others.
fn busy_host(fleet: &mut TestFleet<'_>) -> (String, Vec<String>) {
    fleet.hosts[0].service.configure("runs_max: 1");
    fleet.hosts[0].spawn();
    for _ in 0..4 {
        fleet.submit(&fleet.request_that("slow"));
    }
    fleet.wait_for_states(&[("started", 1), ("claimed", 3)]);
    let started = ids_in_state(fleet, "started").remove(0);
    (started, ids_in_state(fleet, "claimed"))
}

#[test]
fn claims_of_a_lost_host_are_taken_over_and_its_start_is_not() {
    let test = "claims_of_a_lost_host_are_taken_over_and_its_start_is_not";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (started, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill();
    fleet.hosts[1].spawn();
    fleet.assert_run_once(&claimed);
    assert!(claimed.iter().all(|id| fleet.row(id)["host"] == "host-b"));
    std::thread::sleep(AFTER_TAKEOVER);
    assert_eq!((fleet.state_of(&started).as_str(), fleet.runs_of(&started)), ("started", 1));

    // Only the signed order of an operator ends the wait.
    let lost = fleet.declare_lost("host-a");
    lost.assert_code(0);
    assert_eq!(lost.json()["indeterminate"], serde_json::json!([started]));
    let waited = fleet.toolexec(&["wait", &started]);
    waited.assert_code(3);
    assert_eq!(waited.stdout, format!("{started}  indeterminate  on host-a\n"));
    std::thread::sleep(AFTER_TAKEOVER);
    assert_eq!(fleet.runs_of(&started), 1);
    let kept =
        fleet.database.query("SELECT host, signature LIKE '%SSH SIGNATURE%' FROM toolexec.lost");
    assert_eq!(kept, "host-a|t");

    // The host comes back. Its record replaces the order, and the others are not its requests.
    let next = fleet.submit(&fleet.request_for("host-a"));
    fleet.hosts[0].spawn();
    // `wait` ends for an indeterminate request at once.
    fleet.wait_for("the late record", |fleet| fleet.state_of(&started) == "ended");
    let row = fleet.ended(std::slice::from_ref(&started)).remove(0);
    assert_eq!((&row["host"], &row["outcome"]), (&"host-a".into(), &"indeterminate".into()));
    fleet.assert_run_once(&[next]);
    for id in claimed.iter().chain([&started]) {
        assert_eq!(fleet.runs_of(id), 1, "{id}");
        let of_runs = fleet.hosts[0].service.records_of(id);
        let of_runs = of_runs.iter().filter(|it| it.outcome() == "ok").count();
        assert_eq!(of_runs, 0, "{id}");
    }
    fleet.status().assert_code(0);
    fleet.stop();
}

/// The database may keep the start of a host that never comes back. Its other claims are free at
/// once after the order.
#[test]
fn an_order_frees_the_claims_of_a_lost_host_at_once() {
    let test = "an_order_frees_the_claims_of_a_lost_host_at_once";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (started, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill();
    let lost = fleet.declare_lost("host-a");
    lost.assert_code(0);
    lost.assert_stderr(&["its last beat was"]);
    assert_eq!(lost.json()["released"], 3);
    fleet.wait_for_states(&[("queued", 3), ("indeterminate", 1)]);
    // Another role than the owner of the tables cannot declare it.
    let url = fleet.database.url("alice");
    let (key, list) = (fleet.key.display(), fleet.list_path());
    let script = format!(
        "toolexec fleet lost host-a --database '{url}' --sign-key {key} --list {} --approvers {}",
        list.display(),
        fleet.signers.display()
    );
    let refused = toolexec_tests::CliOutput::of(&mut benches[0].shell(&script));
    refused.assert_code(3);
    refused.assert_stderr(&["the role may not do this", "help: "]);
    fleet.hosts[1].spawn();
    fleet.assert_run_once(&claimed);
    assert_eq!(fleet.runs_of(&started), 1);
    fleet.hosts[1].stop();
}

/// An agent alone is not a host: without its daemon it neither claims nor keeps claims.
#[test]
fn a_host_without_its_daemon_loses_its_claims() {
    let test = "a_host_without_its_daemon_loses_its_claims";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (started, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill_daemon();
    fleet.hosts[1].spawn();
    fleet.assert_run_once(&claimed);
    assert!(claimed.iter().all(|id| fleet.row(id)["host"] == "host-b"));
    fleet.hosts[0].begin_daemon();
    let row = fleet.ended(std::slice::from_ref(&started)).remove(0);
    assert_eq!((&row["host"], &row["outcome"]), (&"host-a".into(), &"indeterminate".into()));
    assert_eq!(fleet.runs_of(&started), 1);
    fleet.stop();
}

/// An agent that is killed goes on with its claims. A daemon alone admits nothing meanwhile.
#[test]
fn an_agent_that_is_killed_goes_on_where_it_was() {
    let test = "an_agent_that_is_killed_goes_on_where_it_was";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (started, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill_agent();
    fleet.hosts[0].service.record_of(&started).assert_outcome("ok");
    let status = |fleet: &TestFleet<'_>| fleet.hosts[0].published_status();
    fleet.wait_for("the reason", |fleet| status(fleet).contains("cannot reach the gate"));
    std::thread::sleep(Duration::from_secs(2));
    assert!(claimed.iter().all(|id| fleet.runs_of(id) == 0), "{}", fleet.logs());
    assert_eq!(fleet.state_of(&started), "started");
    fleet.hosts[0].spawn_agent();
    fleet.assert_run_once(&[started]);
    fleet.assert_run_once(&claimed);
    fleet.stop();
}
