//! Runs at the same time on one state: independent, once per request, cleaned up if abandoned.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, SavedRequest, list, remove_control_group,
};

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
    run_at_once_observed(bench, requests).0
}

/// Runs all requests at the same time. Also returns the pids of the processes that worked on them,
/// which are in the names of their control groups.
fn run_at_once_observed<'a>(
    bench: &Bench,
    requests: impl IntoIterator<Item = &'a SavedRequest>,
) -> (Vec<CliOutput>, BTreeSet<u32>) {
    assert!(Path::new("/proc/thread-self/children").exists(), "no list of children on this host");
    let requests: Vec<_> = requests.into_iter().collect();
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            requests.iter().map(|request| scope.spawn(|| bench.run(request))).collect();
        let mut pids = BTreeSet::new();
        while !runs.iter().all(|run| run.is_finished()) {
            add_descendants(std::process::id(), &mut pids);
            std::thread::sleep(Duration::from_millis(5));
        }
        (runs.into_iter().map(|run| run.join().unwrap()).collect(), pids)
    })
}

/// Adds the pids of the present descendants of a process.
fn add_descendants(process: u32, pids: &mut BTreeSet<u32>) {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    for thread in threads {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().map(|pid| pid.parse().unwrap()) {
            pids.insert(child);
            add_descendants(child, pids);
        }
    }
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
    let (tries, pids) = run_at_once_observed(bench, [&request; 4]);
    remove_leftover_groups(&tries, &pids);
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
    let (tries, pids) = run_at_once_observed(bench, [&request; 3]);
    assert_eq!(remove_leftover_groups(&tries, &pids), Vec::<String>::new());
    // A launcher also reports a group of another test that it cannot remove.
    let is_of_another_test = |line: &str| {
        line.contains("cannot be removed") && groups_in(line).any(|group| !is_of(group, &pids))
    };
    for output in &tries {
        let mut complaints = output.stderr.lines().filter(|line| line.contains("toolexec-launch:"));
        assert!(complaints.all(is_of_another_test), "the launcher complains: {output:#?}");
    }
}

/// Removes and returns the control groups that a launcher left, so that the host stays clean.
fn remove_leftover_groups(tries: &[CliOutput], pids: &BTreeSet<u32>) -> Vec<String> {
    let groups = tries.iter().flat_map(|output| groups_in(&output.stderr));
    let mut left: Vec<_> = groups.filter(|group| is_of(group, pids)).map(str::to_owned).collect();
    left.retain(|group| Path::new(group).is_dir());
    for group in &left {
        remove_control_group(Path::new(group));
    }
    left
}

/// Returns the control groups that a text names.
fn groups_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().filter(|word| word.starts_with("/sys/fs/cgroup/"));
    words.map(|word| word.trim_end_matches(':'))
}

/// Returns true if a control group belongs to one of these processes: its name contains the pid.
fn is_of(group: &str, pids: &BTreeSet<u32>) -> bool {
    let name = group.rsplit('/').next().unwrap_or_default();
    name.split('-').filter_map(|part| part.parse::<u32>().ok()).any(|pid| pids.contains(&pid))
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
