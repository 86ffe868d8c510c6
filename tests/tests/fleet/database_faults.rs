//! A database that stops, is another one, or accepts no changes: a clear reason, nothing runs, and
//! nothing is lost.

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet, TestFleetHost};

/// Places a request on host-a, which the daemon must not admit for this reason. Returns its id.
#[track_caller]
fn assert_nothing_admitted(fleet: &TestFleet<'_>, reason: &str) -> String {
    let is_ready = |fleet: &TestFleet<'_>| fleet.hosts[0].metric("toolexec_fleet_ready");
    fleet.wait_for("the end of admission", |fleet| is_ready(fleet) == Some(0.0));
    let request = fleet.request();
    fleet.place_on(&fleet.hosts[0], &request);
    fleet.wait_for(reason, |fleet| fleet.hosts[0].published_status().contains(reason));
    let status = fleet.hosts[0].published_status();
    assert!(status.contains("nothing is admitted until its gate is ready"), "{status}");
    assert_eq!(fleet.runs_of(&request.id), 0);
    let file = fleet.hosts[0].service.path(&format!("approved/{}.md", request.id));
    assert!(file.exists(), "it was taken");
    request.id
}

/// Asserts that what waited runs once when the database can be used again.
#[track_caller]
fn assert_runs_again(fleet: &TestFleet<'_>, waited: &[String]) {
    fleet.wait_for("the requests that waited", |fleet| {
        let rows = fleet.rows();
        waited.iter().all(|id| rows.iter().any(|row| row["request_id"] == id.as_str()))
    });
    fleet.assert_run_once(waited);
    let next = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[next]);
    fleet.status().assert_code(0);
}

/// Starts the agent again with another database.
fn change_database(host: &mut TestFleetHost<'_>, url: &str) {
    host.stop_agent();
    host.set_agent("database", &format!("\"{url}\""));
    host.spawn_agent();
}

#[test]
fn a_database_that_crashes_during_runs_loses_and_repeats_nothing() {
    let test = "a_database_that_crashes_during_runs_loses_and_repeats_nothing";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let mut ids = Vec::new();
    for round in 0..3 {
        ids.extend((0..12).map(|_| fleet.submit(&fleet.request())));
        // In the middle of claims, starts and reports.
        fleet.wait_for("some runs", |fleet| fleet.counted.counts().len() > round * 12 + 3);
        fleet.database.crash();
        fleet.database.run();
    }
    fleet.assert_run_once(&ids);
    fleet.status().assert_code(0);
    for host in &fleet.hosts {
        host.service.verify().assert_code(0);
        host.service.fsck().assert_code(0);
    }
    fleet.stop();
}

#[test]
fn without_a_database_nothing_is_admitted() {
    let test = "without_a_database_nothing_is_admitted";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.database.stop();
    // Both programs start without it.
    fleet.spawn();
    let first = assert_nothing_admitted(&fleet, "it cannot be reached");
    let failed = fleet.toolexec(&["list"]);
    failed.assert_code(3);
    failed.assert_stderr(&["database at", "it cannot be reached", "help: "]);
    fleet.database.run();
    assert_runs_again(&fleet, &[first]);
    fleet.database.stop();
    let second = assert_nothing_admitted(&fleet, "fleet: ");
    fleet.database.run();
    assert_runs_again(&fleet, &[second]);
    fleet.stop();
}

#[test]
fn tables_of_another_version_are_not_used() {
    let test = "tables_of_another_version_are_not_used";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let known = fleet.database.query("SELECT schema_version FROM toolexec.fleet");
    fleet.database.query("UPDATE toolexec.fleet SET schema_version = 99");
    fleet.database.cut_connections();
    let waited = assert_nothing_admitted(&fleet, "its tables have version 99");
    let failed = fleet.toolexec(&["list"]);
    failed.assert_code(3);
    let version = format!("this program knows version {known}");
    failed.assert_stderr(&["its tables have version 99", version.as_str(), "help: update"]);
    let refused = fleet.fleet_command(&["init", "--name", "farm"]);
    refused.assert_code(3);
    refused.assert_stderr(&["its tables have version 99"]);
    fleet.database.query(&format!("UPDATE toolexec.fleet SET schema_version = {known}"));
    let same = fleet.fleet_command(&["init", "--name", "farm"]);
    same.assert_code(0);
    assert!(same.stdout.starts_with(&format!("farm: tables of version {known} unchanged\n")));
    assert_runs_again(&fleet, &[waited]);
    fleet.stop();
}

#[test]
fn a_database_without_tables_is_not_used() {
    let test = "a_database_without_tables_is_not_used";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    fleet.database.query("ALTER SCHEMA toolexec RENAME TO aside");
    fleet.database.cut_connections();
    let waited = assert_nothing_admitted(&fleet, "it does not have the tables of a fleet");
    let failed = fleet.toolexec(&["list"]);
    failed.assert_code(3);
    failed.assert_stderr(&["it does not have the tables of a fleet", "toolexec fleet init"]);
    fleet.database.query("ALTER SCHEMA aside RENAME TO toolexec");
    assert_runs_again(&fleet, &[waited]);
    fleet.stop();
}

/// The signed list names the fleet of a host. Its database cannot be exchanged for another one.
#[test]
fn the_database_of_another_fleet_is_not_used() {
    let test = "the_database_of_another_fleet_is_not_used";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let other_id = fleet.make_another_fleet("elsewhere");
    assert_ne!(other_id, fleet.fleet_id);
    let ours = fleet.database.url("host-a");
    let other = format!("\"{}\"", fleet.database.url_of("host-a", "elsewhere"));
    fleet.hosts[0].set_agent("database", &other);
    fleet.spawn();
    let reason = format!("belongs to fleet other with id {other_id}");
    let waited = assert_nothing_admitted(&fleet, &reason);
    let hosts = "SELECT (SELECT count(*) FROM toolexec.host) + \
                 (SELECT count(*) FROM toolexec.claim)";
    assert_eq!(fleet.database.query_in("elsewhere", hosts), "0", "it wrote there");
    // `init` does not take over the tables of another fleet either.
    let refused = fleet.fleet_command(&["init", "--name", "other"]);
    refused.assert_code(3);
    refused.assert_stderr(&["it belongs to the fleet `farm`", "help: "]);
    change_database(&mut fleet.hosts[0], &ours);
    assert_runs_again(&fleet, &[waited]);
    fleet.stop();
}

#[test]
fn a_read_only_database_admits_nothing() {
    let test = "a_read_only_database_admits_nothing";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    fleet.database.set("default_transaction_read_only", "on");
    let waited = assert_nothing_admitted(&fleet, "it is read-only");
    let saved = fleet.save(&fleet.request());
    let failed = fleet.submit_saved(&saved);
    failed.assert_code(3);
    failed.assert_stderr(&["it is read-only", "help: use the address of the primary server"]);
    fleet.database.set("default_transaction_read_only", "off");
    fleet.submit_saved(&saved).assert_code(0);
    assert_runs_again(&fleet, &[waited, saved.id]);
    fleet.stop();
}

#[test]
fn a_standby_is_not_used() {
    let test = "a_standby_is_not_used";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let standby = fleet.database.start_standby();
    let ours = fleet.database.url("host-a");
    fleet.hosts[0].set_agent("database", &format!("\"{}\"", standby.url("host-a")));
    fleet.spawn();
    let waited = assert_nothing_admitted(&fleet, "it is read-only");
    change_database(&mut fleet.hosts[0], &ours);
    assert_runs_again(&fleet, &[waited]);
    fleet.stop();
}

/// A backup that is restored does not know later starts: the host that saw a later one notices.
#[test]
fn an_older_copy_of_the_database_is_not_used() {
    let test = "an_older_copy_of_the_database_is_not_used";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let first = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[first]);
    let copy = fleet.database.start_copy();
    let beats = "SELECT beats FROM toolexec.host";
    let known: u64 = copy.query(beats).parse().unwrap();
    let later = fleet.submit(&fleet.request());
    fleet.assert_run_once(std::slice::from_ref(&later));
    fleet.wait_for("later beats", |fleet| {
        fleet.database.query(beats).parse::<u64>().unwrap() > known + 5
    });
    change_database(&mut fleet.hosts[0], &copy.url("host-a"));
    let reason = "it is an older copy, which does not know later starts";
    assert_nothing_admitted(&fleet, reason);
    assert_eq!(fleet.runs_of(&later), 1);
    fleet.hosts[0].stop();
}
