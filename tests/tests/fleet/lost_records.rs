//! Hosts that have lost the claims of their agent, or a record. A started request never runs again,
//! and does not stay started for ever.

use std::fs;
use std::path::PathBuf;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

/// Loses host-a during a run. The daemon alone then records the request, as after every crash.
/// Returns the directory of the record.
fn crash_during_run(fleet: &mut TestFleet<'_>, id: &str) -> PathBuf {
    fleet.wait_for_states(&[("started", 1)]);
    fleet.wait_for("the run", |fleet| fleet.runs_of(id) == 1);
    let host = &mut fleet.hosts[0];
    host.kill();
    host.begin_daemon();
    host.service.record_of(id).assert_outcome("indeterminate");
    host.kill_daemon();
    let names = host.service.visible_results();
    assert_eq!(names.len(), 1, "{names:?}");
    host.service.path("results").join(&names[0])
}

/// Loses host-a during a run, and forgets what its agent has noted. Returns the id, and the
/// directory of the record.
fn lose_claims_of_a_start(fleet: &mut TestFleet<'_>) -> (String, PathBuf) {
    fleet.hosts[0].spawn();
    let id = fleet.submit(&fleet.request_that("slow"));
    let record = crash_during_run(fleet, &id);
    fs::remove_dir_all(fleet.hosts[0].agent_state().join("claims")).unwrap();
    (id, record)
}

fn assert_runs_the_next(fleet: &TestFleet<'_>) {
    let next = fleet.submit(&fleet.request_for("host-a"));
    fleet.assert_run_once(&[next]);
}

#[test]
fn a_start_whose_record_is_lost_becomes_indeterminate_and_never_runs_again() {
    let test = "a_start_whose_record_is_lost_becomes_indeterminate_and_never_runs_again";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (id, record) = lose_claims_of_a_start(&mut fleet);
    let away = benches[0].home().join("away");
    fs::rename(&record, &away).unwrap();
    assert_eq!(fleet.state_of(&id), "started");
    fleet.hosts[0].spawn();
    fleet.wait_for_states(&[("indeterminate", 1)]);
    let waited = fleet.toolexec(&["wait", &id]);
    waited.assert_code(3);
    assert_eq!(waited.stdout, format!("{id}  indeterminate  on host-a\n"));
    let log = fleet.hosts[0].agent_log();
    assert!(log.contains("which has lost its record") && log.contains("help: "), "{log}");
    assert_runs_the_next(&fleet);
    assert_eq!((fleet.state_of(&id).as_str(), fleet.runs_of(&id)), ("indeterminate", 1));
    // A record that appears later is reported all the same.
    fs::rename(&away, &record).unwrap();
    fleet.wait_for("the late record", |fleet| fleet.state_of(&id) == "ended");
    assert_eq!((&fleet.row(&id)["outcome"], fleet.runs_of(&id)), (&"indeterminate".into(), 1));
    fleet.stop();
}

/// A host also asks the fleet for the start of a request in its own spool.
#[test]
fn a_local_start_whose_record_is_lost_becomes_indeterminate() {
    let test = "a_local_start_whose_record_is_lost_becomes_indeterminate";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.hosts[0].spawn();
    let request = fleet.request_that("slow");
    fleet.place_on(&fleet.hosts[0], &request);
    let record = crash_during_run(&mut fleet, &request.id);
    fs::remove_dir_all(&record).unwrap();
    fleet.hosts[0].spawn();
    fleet.wait_for_states(&[("indeterminate", 1)]);
    assert_runs_the_next(&fleet);
    assert_eq!(fleet.runs_of(&request.id), 1);
    // An operator may declare the host lost afterwards. It has nothing more to report.
    fleet.declare_lost("host-a").assert_code(0);
    assert_runs_the_next(&fleet);
    fleet.stop();
}

#[test]
fn a_lost_host_without_its_claims_reports_before_it_returns() {
    let test = "a_lost_host_without_its_claims_reports_before_it_returns";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (id, record) = lose_claims_of_a_start(&mut fleet);
    fleet.declare_lost("host-a").assert_code(0);
    assert_eq!(fleet.state_of(&id), "indeterminate");
    fleet.hosts[0].spawn();
    assert_runs_the_next(&fleet);
    let row = fleet.row(&id);
    let name = record.file_name().and_then(|name| name.to_str());
    assert_eq!((row["fleet_state"].as_str(), row["result_id"].as_str()), (Some("ended"), name));
    let order = "SELECT h.returned_at >= r.reported_at FROM toolexec.host h \
                 JOIN toolexec.result r ON r.host = h.name ORDER BY r.reported_at LIMIT 1";
    assert_eq!(fleet.database.query(order), "t");
    assert_eq!(fleet.runs_of(&id), 1);
    fleet.stop();
}

#[test]
fn a_lost_host_without_its_records_returns() {
    let test = "a_lost_host_without_its_records_returns";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (id, record) = lose_claims_of_a_start(&mut fleet);
    fs::remove_dir_all(&record).unwrap();
    fleet.declare_lost("host-a").assert_code(0);
    fleet.hosts[0].spawn();
    assert_runs_the_next(&fleet);
    assert_eq!((fleet.state_of(&id).as_str(), fleet.runs_of(&id)), ("indeterminate", 1));
    fleet.stop();
}
