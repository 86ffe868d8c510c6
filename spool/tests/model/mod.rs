//! The state machine in memory, with crashes between any two operations, also during recovery, and
//! with the loss of unsynced data. Recovery uses the spool's own state table.

#![allow(clippy::unwrap_used, reason = "a model that cannot go on fails")]

mod disk;
mod host;

use std::panic::{AssertUnwindSafe, catch_unwind};

use disk::{ModelRandom, NameLoss};
use host::{BrokenRule, ModelHost, ModelRequest};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[derive(Clone, Debug)]
enum Crash {
    /// Everything written still exists.
    Killed,
    /// Unsynced data is lost at random, with this seed.
    PowerCut(u64),
}

#[derive(Clone, Debug)]
struct Scenario {
    kinds: Vec<ModelRequest>,
    /// Crashes, each with the number of operations since the previous one.
    crashes: Vec<(usize, Crash)>,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let kind = prop_oneof![3 => Just(ModelRequest::Runs), 2 => Just(ModelRequest::Refused), 1 => Just(ModelRequest::Object)];
    let crash = prop_oneof![
        1 => Just(Crash::Killed),
        2 => any::<u64>().prop_map(Crash::PowerCut),
    ];
    let crashes = prop::collection::vec((0_usize..28, crash), 0..7);
    (prop::collection::vec(kind, 1..4), crashes)
        .prop_map(|(kinds, crashes)| Scenario { kinds, crashes })
}

/// Checks that no incomplete result has a visible name, and that no request has run twice.
fn check_always(host: &ModelHost) {
    for name in host.disk.list("results") {
        let is_visible = !name.starts_with('.');
        assert!(!is_visible || host.is_whole(&format!("results/{name}")), "{name} is not whole");
    }
    assert!(host.ran.iter().all(|ran| *ran <= 1), "ran twice: {:?}", host.ran);
}

fn check_at_the_end(host: &ModelHost, kinds: &[ModelRequest]) {
    check_always(host);
    let results = host.disk.list("results");
    for request in 0..kinds.len() {
        let of =
            results.iter().filter(|id| host.request_of(&format!("results/{id}")) == Some(request));
        let of: Vec<_> = of.collect();
        assert_eq!(of.len(), 1, "request {request} was recorded as {of:?}");
        let log = format!("log/{}", of[0]);
        assert!(host.disk.is_there(&log), "{log}: its record is not logged");
    }
    for place in ["spool/work", "spool/approved"] {
        assert_eq!(host.disk.list(place), Vec::<String>::new(), "left in {place}");
    }
}

fn play(scenario: &Scenario, names: NameLoss, broken: BrokenRule) {
    let mut host = ModelHost::new(&scenario.kinds, names, broken);
    for (acts, crash) in &scenario.crashes {
        host.stop_after(Some(*acts));
        let stopped = host.serve().is_err();
        if let (true, Crash::PowerCut(seed)) = (stopped, crash) {
            host.disk.lose(&mut ModelRandom(*seed));
        }
        check_always(&host);
    }
    host.stop_after(None);
    host.serve().unwrap();
    check_at_the_end(&host, &scenario.kinds);
    let before = host.disk.seen();
    host.serve().unwrap();
    assert_eq!(host.disk.seen(), before, "recovering again changed something");
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
}

#[test]
fn every_request_is_recorded_once_and_runs_at_most_once() {
    let checked = runner(5_000).run(&scenarios(), |scenario| {
        play(&scenario, NameLoss::InOrder, BrokenRule::Nothing);
        Ok(())
    });
    checked.unwrap();
}

/// If names are lost in any order, only tidying needs an additional barrier.
#[test]
fn the_same_where_any_name_may_be_lost() {
    let checked = runner(5_000).run(&scenarios(), |scenario| {
        play(&scenario, NameLoss::Any, BrokenRule::Nothing);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn a_broken_rule_is_noticed() {
    let rules = [
        (BrokenRule::PublishedBeforeTheBarrier, NameLoss::InOrder),
        (BrokenRule::RunBeforeTheLineIsDurable, NameLoss::InOrder),
        (BrokenRule::TakenAwayBeforeTheResultIsDurable, NameLoss::InOrder),
        (BrokenRule::RefusalNotNoted, NameLoss::InOrder),
        (BrokenRule::DraftOfTheLogForgotten, NameLoss::InOrder),
        (BrokenRule::DraftOfTheLogBelieved, NameLoss::InOrder),
        (BrokenRule::TidiedWithoutABarrier, NameLoss::Any),
    ];
    for (broken, names) in rules {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let config = Config { failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, rng);
        let noticed = (0..20_000).any(|_| {
            let scenario = scenarios().new_tree(&mut runner).unwrap().current();
            let played = AssertUnwindSafe(|| play(&scenario, names, broken));
            catch_unwind(played).is_err()
        });
        assert!(noticed, "{broken:?} goes unnoticed");
    }
}
