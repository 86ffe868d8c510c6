//! Figures of a fleet: the share of the database in a request, and the throughput of two hosts.
//! Each test prints what it has measured. `TOOLEXEC_FLEET_FIGURES=300` sets the number of requests.
//! Then nothing else may run on this host, and the targets are checked (`tests/figures`).

use std::collections::BTreeMap;
use std::time::Duration;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::timing::{PreparedRequests, Times, env_number};
use toolexec_tests::{Bench, Service, TestFleet};

const VARIABLE: &str = "TOOLEXEC_FLEET_FIGURES";
const REQUESTS: usize = 40;
const WARM_UP: usize = 5;
/// The share of the database in a request.
const SERVER_MS_MAX: f64 = 3.0;
/// The throughput of two hosts relative to one, at least. Where the disk is fast, one host uses 85 %
/// of two cores, so that two hosts have little to gain.
const TWO_HOSTS_MIN: f64 = 0.9;

/// Returns whether this host has nothing else to do.
fn is_alone() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Submits requests in turn, and returns the times until each has a durable record.
fn times_of(service: &Service<'_>, count: usize) -> Times {
    let mut requests = PreparedRequests::of(service);
    requests.submit_warm_up(WARM_UP);
    let mut times = Times::default();
    for _ in 0..count {
        times.extend(requests.submit_timed(1).0);
    }
    times
}

/// Returns the time of each start in the database, from the log of the agent.
fn database_times(log: &str) -> Vec<Duration> {
    let fields = log.lines().filter_map(|line| line.split_once("database_ms="));
    let ms = fields.map(|(_, field)| field.split(' ').next().unwrap().parse::<f64>().unwrap());
    ms.map(|ms| Duration::from_secs_f64(ms / 1e3)).collect()
}

/// Returns the time that the server itself works on one start, from its log of statements: those of
/// the transactions that insert a start, with their commits.
fn server_ms(log: &str, starts: f64) -> f64 {
    let mut pending: BTreeMap<&str, (f64, bool)> = BTreeMap::new();
    let mut total_ms = 0.0;
    for line in log.lines() {
        let Some((session, (took_ms, statement))) = duration_of(line) else { continue };
        let (sum_ms, is_start) = pending.entry(session).or_default();
        if statement == "BEGIN" {
            (*sum_ms, *is_start) = (0.0, false);
        }
        *sum_ms += took_ms;
        *is_start |= statement.starts_with("INSERT INTO toolexec.start ");
        if statement == "COMMIT" && *is_start {
            total_ms += *sum_ms;
        }
    }
    total_ms / starts
}

/// Returns the session, the milliseconds and the statement of a line like `2026-11-27 08:00:00.000 UTC
/// [812] LOG:  duration: 0.4 ms  execute s1: INSERT INTO`.
fn duration_of(line: &str) -> Option<(&str, (f64, &str))> {
    let (prefix, rest) = line.split_once("] LOG:  duration: ")?;
    let (_, session) = prefix.rsplit_once('[')?;
    let (took_ms, rest) = rest.split_once(" ms  ")?;
    let (_, statement) = rest.split_once(": ")?;
    Some((session, (took_ms.parse().ok()?, statement)))
}

/// The requests are local ones, which cost the database most: it learns of them with their start.
#[test]
fn the_database_has_a_small_share_of_a_request() {
    let test = "the_database_has_a_small_share_of_a_request";
    let Some(tool) = CountedTool::build(test) else { return };
    let count = env_number(VARIABLE, REQUESTS);
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &tool.service_config(&bench));
    service.configure("log: {heartbeat_sec: 0}");
    service.spawn();
    let alone = times_of(&service, count);
    drop(service);

    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    // The sessions that begin after this log each statement with its time.
    let logged = "ALTER DATABASE toolexec SET log_min_duration_statement = 0";
    fleet.database.sql("postgres", logged).assert_code(0);
    fleet.spawn();
    let host = &fleet.hosts[0];
    let is_ready = || host.metric("toolexec_fleet_ready") == Some(1.0);
    fleet.wait_for("admission", |_| is_ready());
    let shared = times_of(&host.service, count);
    let done = f64::from(u32::try_from(count + WARM_UP).unwrap());
    let of_starts = |name: &str| host.metric(&format!("toolexec_fleet_start_seconds_{name}"));
    fleet.wait_for("the metrics", |_| of_starts("count") == Some(done));
    let mean_ms = of_starts("sum").unwrap() * 1e3 / done;
    let of_database = database_times(&host.agent_log());
    assert_eq!(of_database.len(), count + WARM_UP, "{}", host.agent_log());
    // The first start opens the connection and plans its statements.
    let mut warm = Times::default();
    warm.extend(of_database.into_iter().skip(WARM_UP));
    let (database_ms, database_middle_ms) = (warm.mean_ms(), warm.ms_at(50));
    let server_ms = server_ms(&fleet.database.log(), done);
    let (alone_ms, shared_ms) = (alone.ms_at(50), shared.ms_at(50));
    println!(
        "{test}: a request in the middle of {count}: {alone_ms:.1} ms alone, {shared_ms:.1} ms in \
         a fleet; on average the answer to a start {mean_ms:.2} ms, of it the call of the database \
         {database_ms:.2} ms (in the middle {database_middle_ms:.2} ms), in which the server works \
         {server_ms:.2} ms"
    );
    assert!(0.0 < server_ms && server_ms < mean_ms, "{server_ms} of {mean_ms} ms");
    assert!(0.0 < database_ms && database_ms < mean_ms, "{database_ms} of {mean_ms} ms");
    assert!(!is_alone() || server_ms < SERVER_MS_MAX, "{server_ms} ms");
    fleet.wait_for("the records", |fleet| {
        fleet.rows().iter().filter(|row| row["fleet_state"] == "ended").count() == count + WARM_UP
    });
    fleet.stop();
}

/// Runs requests on every host of a fleet, and returns the number in a second by the clock of the
/// database: from the first start to the last record.
fn throughput(test: &str, tool: &CountedTool, benches: &[Bench], count: usize) -> Option<f64> {
    let mut fleet = TestFleet::prepare(test, tool, benches)?;
    let ids: Vec<String> = (0..count).map(|_| fleet.submit(&fleet.request())).collect();
    for host in &mut fleet.hosts {
        host.spawn_agent();
    }
    for host in &mut fleet.hosts {
        host.begin_daemon();
    }
    fleet.assert_run_once(&ids);
    let took = "SELECT extract(epoch FROM (SELECT max(reported_at) FROM toolexec.result) \
                - (SELECT min(started_at) FROM toolexec.start))";
    let seconds: f64 = fleet.database.query(took).parse().unwrap();
    let hosts = "SELECT count(DISTINCT host) FROM toolexec.result";
    let hosts = fleet.database.query(hosts);
    assert!(!is_alone() || hosts == benches.len().to_string(), "{hosts} hosts ran something");
    fleet.hosts.iter().for_each(|host| {
        host.service.wait_for("the daemon", |service| service.log().contains("ready"));
    });
    fleet.stop();
    Some(f64::from(u32::try_from(count).unwrap()) / seconds)
}

#[test]
fn two_hosts_on_one_machine_are_not_slower_than_one() {
    let test = "two_hosts_on_one_machine_are_not_slower_than_one";
    let Some(tool) = CountedTool::build(test) else { return };
    let count = env_number(VARIABLE, REQUESTS);
    let benches = [Bench::new(), Bench::new()];
    let Some(one) = throughput(test, &tool, &benches[..1], count) else { return };
    // The processes of the first fleet are gone; their memory is given back.
    std::thread::sleep(Duration::from_millis(200));
    let benches = [Bench::new(), Bench::new()];
    let Some(two) = throughput(test, &tool, &benches, count) else { return };
    println!("{test}: {one:.1} requests in a second on one host, {two:.1} on two");
    assert!(!is_alone() || two >= one * TWO_HOSTS_MIN, "{two}, with one host {one}");
}
