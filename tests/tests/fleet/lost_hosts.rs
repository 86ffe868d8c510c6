//! Hosts that stop. Another host takes over what such a host has claimed, and never what it has
//! started.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, TestFleet};

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

/// Returns the verdict about the order that declares host-a lost.
fn order_about_host_a(status: &CliOutput) -> Value {
    let hosts = status.json()["hosts"].as_array().unwrap().clone();
    let host = hosts.into_iter().find(|host| host["host"] == "host-a").unwrap();
    host["lost"].clone()
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

/// The owner of the tables can write any order. Only the signature of an operator frees claims.
#[test]
fn an_order_that_was_changed_by_hand_declares_no_host_lost() {
    let test = "an_order_that_was_changed_by_hand_declares_no_host_lost";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (started, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill();
    let mut make_key = benches[0].shell("ssh-keygen -q -t ed25519 -N '' -f other");
    CliOutput::of(&mut make_key).assert_code(0);
    let refused = fleet.declare_lost_with("host-a", &benches[0].home().join("other"));
    refused.assert_code(2);
    refused.assert_stderr(&["order of a lost host: ", "is not in allowed_signers", "help: "]);
    assert_eq!(fleet.database.query("SELECT count(*) FROM toolexec.lost"), "0");

    fleet.declare_lost("host-a").assert_code(0);
    assert_eq!(order_about_host_a(&fleet.status())["counts"], true);
    fleet.database.edit_by_hand(
        "UPDATE toolexec.lost SET order_text = replace(order_text, 'host host-a', 'host host-b')",
    );
    fleet.hosts[1].spawn();
    let defect = "host host-a: order of a lost host: is for host host-b, not for this one; help: ";
    fleet.wait_for("the defect", |fleet| fleet.hosts[1].agent_log().contains(defect));
    std::thread::sleep(AFTER_TAKEOVER);
    fleet.wait_for_states(&[("queued", 3), ("indeterminate", 1)]);
    assert!(claimed.iter().all(|id| fleet.runs_of(id) == 0), "{}", fleet.logs());
    let status = fleet.status();
    status.assert_code(1);
    let order = order_about_host_a(&status);
    assert_eq!(order["counts"], false);
    assert!(order["text"].as_str().unwrap().starts_with("not declared lost: "), "{order:#}");

    // A new order of an operator replaces it.
    fleet.declare_lost("host-a").assert_code(0);
    fleet.assert_run_once(&claimed);
    assert!(claimed.iter().all(|id| fleet.row(id)["host"] == "host-b"));
    assert_eq!(fleet.runs_of(&started), 1);
    fleet.status().assert_code(0);
    fleet.hosts[1].stop();
}

/// The file of a claim names its host and its fleet. So a copied state directory runs nothing.
#[test]
fn an_agent_refuses_the_claims_of_another_host_or_fleet() {
    let test = "an_agent_refuses_the_claims_of_another_host_or_fleet";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let (_, claimed) = busy_host(&mut fleet);
    fleet.hosts[0].kill();
    let file = fleet.hosts[0].agent_state().join(format!("claims/{}.json", claimed[0]));
    let own = fs::read_to_string(&file).unwrap();
    for (from, to) in [("host-a", "host-b"), (fleet.fleet_id.as_str(), "ffff-0123")] {
        assert!(own.contains(from), "{own}");
        fs::write(&file, own.replace(from, to)).unwrap();
        let refused = CliOutput::of(&mut fleet.hosts[0].agent_command("serve"));
        refused.assert_code(3);
        refused.assert_stderr(&[claimed[0].as_str(), "a claim of host", to, "help: "]);
    }
    assert!(claimed.iter().all(|id| fleet.runs_of(id) == 0));
    fs::write(&file, own).unwrap();
    fleet.hosts[0].spawn();
    fleet.assert_run_once(&claimed);
    fleet.stop();
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
