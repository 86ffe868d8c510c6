//! Kill points: SIGKILL ends the daemon at every failpoint, at each arrival, and again while it
//! recovers. Afterwards no tool ran without a durable intent or twice, each request has one record,
//! no partial file is visible, and a second recovery changes no byte. `cargo test -p toolexec-tests
//! --test daemon crash -- --nocapture` prints the table. The recovery is killed only for the first
//! arrival at each failpoint, with `TOOLEXEC_CRASH=full` for every one.
//! `TOOLEXEC_CRASH_ONLY=<name>` selects one failpoint. Must never skip a failpoint that no daemon
//! reached.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod crash_run;
mod table;

use std::collections::BTreeMap;

use crash_run::{CrashRun, CrashRunResult, KillPoint};
use table::FailpointTable;
use toolexec_tests::crash_support::{CountedTool, CrashFileKind, FailpointDaemon};
use toolexec_tests::hostile::two_at_a_time;
use toolexec_tests::{Bench, RequestText, Service};

/// Failpoints that `retention.rs` tests, because a removed result must be an hour old.
const TESTED_ELSEWHERE: [&str; 2] = ["retention-hidden", "retention-removed"];

#[test]
fn killed_anywhere_nothing_is_lost_or_run_twice() {
    let test = "killed_anywhere_nothing_is_lost_or_run_twice";
    let (Some(failpoints), Some(tool)) = (FailpointDaemon::get(test), CountedTool::build(test))
    else {
        return;
    };
    let play = CrashRun { failpoints: &failpoints, tool: &tool };
    let mut table = FailpointTable::new(FailpointDaemon::names());

    let unharmed = play.run(&CrashFileKind::ALL, &[]);
    assert_eq!(unharmed.faults, Vec::<String>::new(), "{}", unharmed.log);
    table.add_arrivals(&unharmed.arrivals);
    let first: Vec<_> = kills(&unharmed.arrivals, u32::MAX).collect();
    for (kill, played) in first.iter().zip(two_at_a_time(&first, |kill| {
        play.run(&CrashFileKind::ALL, std::slice::from_ref(kill))
    })) {
        table.add_kill(kill, &played);
        table.add_arrivals(&played.recovery);
    }
    for kind in CrashFileKind::ALL {
        in_recovery(&play, kind, &mut table);
    }
    table.print();
    let faults = table.faults(&TESTED_ELSEWHERE);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two requests with the same argument: each run is counted, and the refused one has none.
#[test]
fn a_second_run_is_counted() {
    let Some(tool) = CountedTool::build("a_second_run_is_counted") else { return };
    let bench = Bench::new();
    let service = Service::start(&bench, &tool.service_config(&bench));
    let counted = tool.count();
    let command = format!("python script.py {}", counted.run_argument("both"));
    for _ in 0..2 {
        let text = RequestText::python("the tool does not read it").command(&command);
        let request = service.submit(&text);
        service.record_of(&request.id).assert_outcome("ok");
    }
    assert_eq!(counted.counts(), [("both".to_owned(), 2)].into());
}

/// Kills at each failpoint that one request reaches, and then at each that its recovery reaches.
fn in_recovery(play: &CrashRun<'_>, kind: CrashFileKind, table: &mut FailpointTable) {
    let nth_max = if full() { u32::MAX } else { 1 };
    let alone = play.run(&[kind], &[]);
    let first: Vec<_> = kills(&alone.arrivals, nth_max).collect();
    let recoveries = two_at_a_time(&first, |kill| {
        let played = play.run(&[kind], std::slice::from_ref(kill));
        let then = kills(&played.recovery, nth_max).map(|second| [kill.clone(), second]);
        let chains: Vec<[KillPoint; 2]> = then.collect();
        let chained: Vec<CrashRunResult> =
            chains.iter().map(|chain| play.run(&[kind], chain)).collect();
        (played, chains, chained)
    });
    for (kill, (played, chains, chained)) in first.iter().zip(recoveries) {
        table.add_kill(kill, &played);
        table.add_arrivals(&played.recovery);
        for (chain, played) in chains.iter().zip(&chained) {
            table.add_recovery_kill(&chain[1], &chain[0], played);
            table.add_arrivals(&played.recovery);
        }
    }
}

fn full() -> bool {
    std::env::var("TOOLEXEC_CRASH").is_ok_and(|value| value == "full")
}

fn kills(arrivals: &BTreeMap<String, u32>, nth_max: u32) -> impl Iterator<Item = KillPoint> + '_ {
    let only = std::env::var("TOOLEXEC_CRASH_ONLY").ok();
    let selected = move |point: &str| only.as_ref().is_none_or(|only| only == point);
    let points = arrivals.iter().filter(move |(point, _)| selected(point));
    points.flat_map(move |(point, arrivals)| {
        (1..=(*arrivals).min(nth_max)).map(|nth| KillPoint { point: point.clone(), nth })
    })
}
