//! The daemon has no network, with and without a fleet: only the agent speaks with the database.

use std::collections::BTreeSet;
use std::fs;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, Process, RequestText, Service, ServiceConfig, TestFleet, skip};

/// Returns the inodes of all sockets of the kinds that reach a network, as this process sees them.
fn network_sockets(process: Process) -> BTreeSet<String> {
    let kinds = ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"];
    let tables = kinds.map(|kind| {
        fs::read_to_string(format!("/proc/{}/net/{kind}", process.0)).unwrap_or_default()
    });
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    rows.filter_map(|row| row.split_whitespace().nth(9)).map(str::to_owned).collect()
}

/// Returns the sockets of a process that reach a network.
fn open_network_sockets(process: Process) -> Vec<String> {
    let network = network_sockets(process);
    let entries = fs::read_dir(format!("/proc/{}/fd", process.0)).unwrap();
    // A descriptor may be closed in the meantime.
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let names = targets.map(|target| target.to_string_lossy().into_owned());
    let inodes =
        names.filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()));
    inodes.filter(|inode| network.contains(inode)).collect()
}

#[test]
fn only_the_agent_of_a_host_opens_a_network_socket() {
    let test = "only_the_agent_of_a_host_opens_a_network_socket";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let port = fleet.database.listen_on_loopback();
    let way = format!("\"postgres://host-a@127.0.0.1:{port}/toolexec\"");
    fleet.hosts[0].set_agent("database", &way);
    fleet.spawn();
    let id = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[id]);
    let none = Vec::<String>::new();
    assert_eq!(open_network_sockets(fleet.hosts[0].service.process()), none);
    // The same search finds those of the agent.
    assert_ne!(open_network_sockets(fleet.hosts[0].agent_process()), none);
    let clients = "SELECT DISTINCT application_name FROM pg_stat_activity \
                   WHERE usename = 'host-a' ORDER BY 1";
    let clients = fleet.database.query(clients);
    assert!(clients.lines().count() > 1, "{clients}");
    assert!(clients.lines().all(|name| name.starts_with("toolexec-fleet")), "{clients}");
    fleet.stop();
}

/// A host that runs alone needs no database and no agent, and has no file of theirs.
#[test]
fn a_host_that_runs_alone_has_nothing_of_a_fleet() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&request.id).assert_outcome("ok");
    if bench.is_root() {
        assert_eq!(open_network_sockets(service.process()), Vec::<String>::new());
    } else {
        skip("the sockets of a host that runs alone", "only root may look at those of a daemon");
    }
    let find = "find daemon spool -name '*fleet*' -o -name '*claims*'";
    let found = toolexec_tests::CliOutput::of(&mut bench.shell(find));
    found.assert_code(0);
    assert_eq!(found.stdout, "");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
}
