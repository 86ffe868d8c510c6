//! Requests that are submitted in the spool of a host of a fleet, as on a host that runs alone. The
//! database decides their starts too.

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet, list};

#[test]
fn a_request_that_another_host_has_is_not_started_here() {
    let test = "a_request_that_another_host_has_is_not_started_here";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.hosts[1].set_agent("without_audience", "false");
    fleet.spawn();
    let request = fleet.request_that("slow");
    let id = fleet.submit(&request);
    fleet.wait_for_states(&[("started", 1)]);
    fleet.place_on(&fleet.hosts[1], &request);
    let record = fleet.hosts[1].service.record_of(&id);
    record.assert_outcome("setup_error");
    assert!(record.text.contains("host-a has started the request"), "{}", record.text);
    fleet.assert_run_once(std::slice::from_ref(&id));
    // After its end, the other host says so.
    let next = fleet.request_for("host-a");
    let next_id = fleet.submit(&next);
    fleet.assert_run_once(std::slice::from_ref(&next_id));
    assert_eq!(fleet.row(&id)["host"], "host-a");
    fleet.status().assert_code(0);
    fleet.hosts[1].service.verify().assert_code(0);
    fleet.hosts[1].service.fsck().assert_code(0);
    fleet.stop();
}

#[test]
fn a_local_request_is_in_the_fleet_and_its_submission_there_changes_nothing() {
    let test = "a_local_request_is_in_the_fleet_and_its_submission_there_changes_nothing";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let request = fleet.request();
    let saved = fleet.save(&request);
    fleet.place_on(&fleet.hosts[1], &request);
    fleet.hosts[1].service.record_of(&saved.id).assert_outcome("ok");
    fleet.wait_for_states(&[("ended", 1)]);
    let row = fleet.row(&saved.id);
    assert_eq!((&row["host"], &row["outcome"]), (&"host-b".into(), &"ok".into()));
    let again = fleet.submit_saved(&saved);
    again.assert_code(0);
    assert!(again.stdout.contains("already in the fleet"), "{again:#?}");
    // Its record travels as every other one does.
    let into = benches[0].scratch().dir("fetched");
    fleet.verify(&fleet.fetch(&saved.id, &into)).assert_code(0);
    fleet.assert_run_once(&[saved.id]);
    fleet.stop();
}

#[test]
fn of_two_hosts_with_the_same_request_one_starts_it() {
    let test = "of_two_hosts_with_the_same_request_one_starts_it";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    for _ in 0..5 {
        let request = fleet.request();
        for host in &fleet.hosts {
            fleet.place_on(host, &request);
        }
        let records = [0, 1].map(|at| fleet.hosts[at].service.record_of(&request.id));
        let mut outcomes = records.each_ref().map(|record| record.outcome());
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["ok", "setup_error"]);
        assert_eq!(fleet.runs_of(&request.id), 1);
    }
    fleet.wait_for_states(&[("ended", 5)]);
    // Nothing is left to be reported.
    for host in &fleet.hosts {
        fleet.wait_for("the claims to be forgotten", |_| {
            list(&host.agent_state().join("claims")).is_empty()
        });
    }
    fleet.stop();
}
