//! Runs at the same time on one state: independent, once per request, cleaned up if abandoned.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, Record, RequestText, SavedRequest, list};

toolexec_tests::as_both!(
    different_requests_do_not_disturb_each_other,
    one_request_runs_once_however_many_try,
    a_sandbox_that_is_given_up_leaves_nothing,
    the_first_runs_of_all_share_one_key,
);

/// Runs all requests at the same time.
fn run_at_once<'a>(
    bench: &Bench,
    requests: impl IntoIterator<Item = &'a SavedRequest>,
) -> Vec<CliOutput> {
    let requests: Vec<_> = requests.into_iter().collect();
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            requests.iter().map(|request| scope.spawn(|| bench.run(request))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// Creates keys and directories before the test.
fn prepare(bench: &Bench) {
    bench.run(&bench.save(&RequestText::python("pass"))).assert_code(0);
}

fn saved(bench: &Bench, count: usize) -> Vec<SavedRequest> {
    (0..count).map(|it| bench.save(&RequestText::python(&format!("print({it})")))).collect()
}

fn different_requests_do_not_disturb_each_other(bench: &Bench) {
    prepare(bench);
    for _ in 0..3 {
        for (number, output) in run_at_once(bench, &saved(bench, 6)).iter().enumerate() {
            output.assert_code(0);
            assert_eq!(Record::of(output).stdout(), format!("{number}\n"));
        }
    }
    assert_eq!(list(&bench.results()).len(), 19);
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

fn one_request_runs_once_however_many_try(bench: &Bench) {
    prepare(bench);
    let request = bench.save(&RequestText::python("print('once')"));
    let tries = run_at_once(bench, [&request; 4]);
    remove_leftover_groups(&tries);
    let of = |code| tries.iter().filter(|output| output.code == Some(code)).count();
    assert_eq!((of(0), of(2)), (1, 3), "{tries:#?}");
    for output in &tries {
        let record = Record::of(output);
        assert_eq!(record.outcome() == "ok", record.stdout() == "once\n", "{output:#?}");
    }
    assert_eq!(list(&bench.results()).len(), 5);
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

/// The second run has already built a sandbox and must discard it.
fn a_sandbox_that_is_given_up_leaves_nothing(bench: &Bench) {
    prepare(bench);
    let request = bench.save(&RequestText::python("print('once')"));
    let tries = run_at_once(bench, [&request; 3]);
    assert_eq!(remove_leftover_groups(&tries), Vec::<String>::new());
    for output in &tries {
        assert!(!output.stderr.contains("toolexec-launch:"), "the launcher complains: {output:#?}");
    }
}

/// Removes and returns the control groups that a launcher left, so that the host stays clean.
fn remove_leftover_groups(tries: &[CliOutput]) -> Vec<String> {
    let words = tries.iter().flat_map(|output| output.stderr.split_whitespace());
    let groups = words.filter(|word| word.starts_with("/sys/fs/cgroup/"));
    let mut left: Vec<_> = groups.map(|word| word.trim_end_matches(':').to_owned()).collect();
    left.retain(|group| Path::new(group).is_dir());
    for group in &left {
        fs::remove_dir(group).unwrap();
    }
    left
}

fn the_first_runs_of_all_share_one_key(bench: &Bench) {
    let requests = saved(bench, 4);
    for output in run_at_once(bench, &requests) {
        output.assert_code(0);
    }
    let verified = bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]);
    verified.assert_code(0);
    assert_eq!(verified.stdout.lines().count(), 4);
    let keys = ["allowed_signers", "log", "log.pub", "result", "result.pub"];
    assert_eq!(list(&bench.state().join("keys")), keys);
}
