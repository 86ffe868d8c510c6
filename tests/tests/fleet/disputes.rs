//! Logs of hosts: each host cosigns the logs of the others, and disputes a log that was rolled
//! back.

use serde_json::Value;
use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, TestFleet};

/// Returns what the database states about host-a.
fn host_a(fleet: &TestFleet<'_>) -> Value {
    let hosts = fleet.status().json()["hosts"].as_array().unwrap().clone();
    hosts.into_iter().find(|host| host["host"] == "host-a").unwrap()
}

fn wait_for_cosignature(fleet: &TestFleet<'_>, entries: u64) {
    fleet.wait_for("the cosignature of host-b", |fleet| {
        let host = host_a(fleet);
        let is_cosigned = host["witnesses"].as_array().unwrap().contains(&"host-b".into());
        is_cosigned && host["log_size"].as_u64().is_some_and(|size| size >= entries)
    });
}

/// Copies the spool and the state of host-a's daemon, which does not run.
fn keep(fleet: &TestFleet<'_>, name: &str) {
    let script = format!("mkdir {name}; cp -a spool daemon {name}");
    CliOutput::of(&mut fleet.hosts[0].bench.shell(&script)).assert_code(0);
}

fn restore(fleet: &TestFleet<'_>, name: &str) {
    let script = format!("rm -r spool daemon; cp -a {name}/. .");
    CliOutput::of(&mut fleet.hosts[0].bench.shell(&script)).assert_code(0);
}

#[test]
fn a_host_whose_log_was_rolled_back_is_disputed_and_its_requests_wait() {
    let test = "a_host_whose_log_was_rolled_back_is_disputed_and_its_requests_wait";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let first = fleet.submit(&fleet.request_for("host-a"));
    fleet.assert_run_once(&[first]);
    fleet.hosts[0].stop();
    keep(&fleet, "older");
    fleet.hosts[0].spawn();
    let later = [0, 1].map(|_| fleet.submit(&fleet.request_for("host-a")));
    fleet.assert_run_once(&later);
    wait_for_cosignature(&fleet, 3);
    fleet.status().assert_code(0);
    fleet.hosts[0].stop();
    keep(&fleet, "newer");

    // The files of the host are consistent, and only its witness knows that they are old.
    restore(&fleet, "older");
    fleet.hosts[0].spawn();
    fleet.hosts[0].service.fsck().assert_code(0);
    fleet.wait_for("the dispute", |fleet| fleet.status().code == Some(1));
    let dispute = host_a(&fleet)["disputes"][0].clone();
    assert_eq!(dispute["witness"], "host-b");
    assert!(fleet.hosts[1].agent_log().contains("log of host host-a: "), "{}", fleet.logs());
    let waiting = fleet.submit(&fleet.request_for("host-a"));
    let local = fleet.request();
    fleet.place_on(&fleet.hosts[0], &local);
    fleet.wait_for("the reason", |fleet| {
        let reason = "host host-a: witness host-b disputes its log";
        fleet.hosts[0].published_status().contains(reason)
    });
    let of_all = fleet.submit(&fleet.request_for("farm"));
    fleet.assert_run_once(std::slice::from_ref(&of_all));
    assert_eq!(fleet.row(&of_all)["host"], "host-b");
    assert_eq!((fleet.state_of(&waiting).as_str(), fleet.runs_of(&waiting)), ("queued", 0));
    assert_eq!(fleet.runs_of(&local.id), 0);

    // The right log is back, and the owner of the tables ends the dispute.
    fleet.hosts[0].stop();
    restore(&fleet, "newer");
    fleet.hosts[0].spawn();
    wait_for_cosignature(&fleet, 3);
    fleet.status().assert_code(1);
    assert_eq!(fleet.runs_of(&waiting), 0);
    fleet.database.query("DELETE FROM toolexec.dispute");
    fleet.assert_run_once(&[waiting]);
    fleet.status().assert_code(0);
    fleet.stop();
}
