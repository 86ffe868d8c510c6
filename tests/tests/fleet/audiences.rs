//! Names and labels: a host claims what is for it, and nothing else.

use std::time::{Duration, Instant};

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

#[test]
fn a_request_waits_for_a_host_of_its_audience() {
    let test = "a_request_waits_for_a_host_of_its_audience";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    for host in &fleet.hosts {
        host.set_agent("without_audience", "false");
    }
    fleet.spawn();
    let [of_any, of_another] = [fleet.request(), fleet.request_for("tpu")];
    let [of_any, of_another] = [fleet.submit(&of_any), fleet.submit(&of_another)];
    let ids = ["gpu", "cpu", "host-b"].map(|audience| fleet.submit(&fleet.request_for(audience)));
    fleet.assert_run_once(&ids);
    // Several more looks at the table change nothing.
    std::thread::sleep(Duration::from_secs(5));
    for id in [&of_any, &of_another] {
        assert_eq!((fleet.state_of(id).as_str(), fleet.runs_of(id)), ("queued", 0));
    }
    fleet.hosts[1].stop_agent();
    fleet.hosts[1].set_agent("without_audience", "true");
    fleet.hosts[1].spawn_agent();
    fleet.assert_run_once(std::slice::from_ref(&of_any));
    assert_eq!(fleet.row(&of_any)["host"], "host-b");
    assert_eq!(fleet.state_of(&of_another), "queued");
    fleet.stop();
}

/// The signed list has the labels. A host that states others in the database gets nothing by it.
#[test]
fn a_label_counts_only_if_it_is_in_the_signed_list() {
    let test = "a_label_counts_only_if_it_is_in_the_signed_list";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.hosts[1].spawn();
    let beats = "SELECT beats FROM toolexec.host WHERE name = 'host-b'";
    fleet.wait_for("a beat", |fleet| !fleet.database.query(beats).is_empty());
    let forge = || fleet.database.edit_by_hand("UPDATE toolexec.host SET labels = '{farm,gpu}'");
    forge();
    let id = fleet.submit(&fleet.request_for("gpu"));
    // The agent of host-b corrects its row with each beat, and looks for requests several times.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        forge();
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!((fleet.state_of(&id).as_str(), fleet.runs_of(&id)), ("queued", 0));
    let labels = "SELECT labels FROM toolexec.host WHERE name = 'host-b'";
    fleet.wait_for("the next beat", |fleet| !fleet.database.query(labels).contains("gpu"));
    fleet.hosts[0].spawn();
    fleet.assert_run_once(std::slice::from_ref(&id));
    assert_eq!(fleet.row(&id)["host"], "host-a");
    let list = fleet.list_path();
    let words = ["hosts", "--list", list.to_str().unwrap(), "--approvers"];
    let compared = fleet.fleet_command(&[&words[..], &[fleet.signers.to_str().unwrap()]].concat());
    compared.assert_code(0);
    fleet.stop();
}

/// Both programs use a label after the next list is installed and the daemon is restarted.
#[test]
fn a_new_list_gives_a_host_new_labels() {
    let test = "a_new_list_gives_a_host_new_labels";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let id = fleet.submit(&fleet.request_for("tpu"));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(fleet.state_of(&id), "queued");
    fleet.publish_list(|text| text.replace("[farm, gpu]", "[farm, gpu, tpu]"));
    fleet.hosts[0].service.signal("TERM");
    assert_eq!(fleet.hosts[0].service.wait(), Some(0));
    fleet.hosts[0].begin_daemon();
    fleet.assert_run_once(&[id]);
    fleet.stop();
}
