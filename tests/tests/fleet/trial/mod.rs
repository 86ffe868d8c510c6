//! The trial: three hosts and several clients, while daemons, agents and the database are killed,
//! one host is cut off for longer than its beat, and the clock of another is ten minutes ahead. In
//! the end each request has one record, and none ran twice: runs are counted from outside.
//! `TOOLEXEC_FLEET_TRIAL=10000 cargo test -p toolexec-tests --test fleet trial -- --nocapture` is
//! the full trial and prints the tally (`tests/figures`). It must never fail because time is short,
//! only because progress stops.

mod faults;
mod judge;
mod submissions;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::timing::env_number;
use toolexec_tests::{Bench, ShiftedClock, TestFleet};

use super::cut_proxy::CutProxy;
use faults::TrialFaults;
use submissions::{CLIENTS, TrialRequests};

const REQUESTS: usize = 300;
const CLOCK_AHEAD_SEC: i64 = 600;
/// Not a multiple of any interval of the programs.
const FAULT_INTERVAL: Duration = Duration::from_millis(2_700);
const LOOK: Duration = Duration::from_millis(250);
/// The trial fails if no request ends for this long.
const STUCK_AFTER: Duration = Duration::from_secs(180);

/// Prepares three hosts. One is reached through the proxy, and one has another clock.
fn prepare<'a>(
    test: &str,
    tool: &CountedTool,
    benches: &'a [Bench],
) -> Option<(TestFleet<'a>, CutProxy)> {
    let clock = ShiftedClock::build(test, &benches[1])?;
    let mut fleet = TestFleet::prepare(test, tool, benches)?;
    let proxy = CutProxy::to(fleet.database.listen_on_loopback());
    for host in &fleet.hosts {
        host.set_agent("database", &format!("\"{}\"", fleet.database.url(&host.name)));
    }
    let way = format!("\"postgres://host-c@127.0.0.1:{}/toolexec\"", proxy.port);
    fleet.hosts[2].set_agent("database", &way);
    fleet.hosts[1].shift_clock(clock, CLOCK_AHEAD_SEC);
    fleet.use_store();
    Some((fleet, proxy))
}

#[test]
fn under_faults_no_request_of_a_fleet_is_lost_or_run_twice() {
    let test = "under_faults_no_request_of_a_fleet_is_lost_or_run_twice";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new(), Bench::new()];
    let Some((mut fleet, proxy)) = prepare(test, &tool, &benches) else { return };
    let count = env_number("TOOLEXEC_FLEET_TRIAL", REQUESTS);
    let requests = TrialRequests::prepare(&fleet, &benches[0], count);
    fleet.spawn();
    let begun = Instant::now();
    let submitting = AtomicUsize::new(CLIENTS);
    let mut faults = TrialFaults::new(&proxy);
    let repeats: usize = std::thread::scope(|scope| {
        let (requests, submitting) = (&requests, &submitting);
        let mut clients = Vec::new();
        for client in 0..CLIENTS {
            clients.push(scope.spawn(move || {
                let repeats = requests.submit_as(client);
                submitting.fetch_sub(1, Ordering::SeqCst);
                repeats
            }));
        }
        run_until_done(&mut fleet, &mut faults, submitting, requests.ids.len());
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let took = begun.elapsed();
    faults.end();
    judge::wait_for_rest(&fleet);
    let judged = judge::judge(&fleet, &requests.ids);
    judged.print(&faults, repeats, took);
    judged.assert_right();
    assert!(repeats > 0, "no request was submitted by two clients");
    judge::assert_logs_and_records(&fleet, &benches[0]);
    fleet.stop();
}

/// Causes faults until every request has its record, and there was a fault of each kind.
fn run_until_done(
    fleet: &mut TestFleet<'_>,
    faults: &mut TrialFaults<'_>,
    submitting: &AtomicUsize,
    count: usize,
) {
    let (mut fault_at, mut moved_at, mut ended) = (Instant::now(), Instant::now(), 0);
    loop {
        std::thread::sleep(LOOK);
        let query = "SELECT count(*) FROM toolexec.claim WHERE state = 'ended'";
        let now: usize = fleet.database.query(query).parse().unwrap();
        if now != ended {
            (ended, moved_at) = (now, Instant::now());
        }
        let is_done = submitting.load(Ordering::SeqCst) == 0 && ended == count;
        if is_done && faults.has_caused_each() {
            return;
        }
        let is_stuck = moved_at.elapsed() > STUCK_AFTER * time_factor();
        assert!(!is_stuck, "{ended} of {count} ended, and no more: {}", fleet.logs());
        if fault_at.elapsed() >= FAULT_INTERVAL * time_factor() {
            faults.next(fleet);
            fault_at = Instant::now();
        }
    }
}
