//! A host whose way to the database is cut for longer than its beat. No packet says so: bytes
//! disappear.

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

use super::cut_proxy::CutProxy;

#[test]
fn a_host_that_is_cut_off_starts_nothing_and_loses_its_claims() {
    let test = "a_host_that_is_cut_off_starts_nothing_and_loses_its_claims";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let proxy = CutProxy::to(fleet.database.listen_on_loopback());
    let way = format!("\"postgres://host-a@127.0.0.1:{}/toolexec\"", proxy.port);
    fleet.hosts[0].set_agent("database", &way);
    let unix = format!("\"{}\"", fleet.database.url("host-b"));
    fleet.hosts[1].set_agent("database", &unix);
    fleet.hosts[0].service.configure("runs_max: 1");
    fleet.hosts[0].spawn();
    let ids = [0, 1, 2, 3].map(|_| fleet.submit(&fleet.request_that("slow")));
    fleet.wait_for_states(&[("started", 1), ("claimed", 3)]);
    proxy.cut();
    fleet.hosts[1].spawn();
    // Nothing that begins after the cut is permitted on host-a.
    fleet.wait_for_states(&[("started", 1), ("ended", 3)]);
    let local = fleet.request();
    fleet.place_on(&fleet.hosts[0], &local);
    fleet.wait_for("a stop of admission", |fleet| {
        let stopped = "nothing is admitted until its gate is ready";
        fleet.hosts[0].published_status().contains(stopped)
    });
    assert_eq!(fleet.runs_of(&local.id), 0);
    proxy.heal();
    fleet.assert_run_once(&ids);
    let hosts: Vec<_> = ids.iter().map(|id| fleet.row(id)["host"].clone()).collect();
    assert_eq!(hosts.iter().filter(|host| **host == "host-a").count(), 1, "{hosts:?}");
    // The local request waited on host-a, and runs there.
    fleet.wait_for("the report", |fleet| fleet.rows().len() == ids.len() + 1);
    fleet.assert_run_once(std::slice::from_ref(&local.id));
    assert_eq!(fleet.row(&local.id)["host"], "host-a");
    fleet.status().assert_code(0);
    fleet.stop();
}
