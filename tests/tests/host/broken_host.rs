//! A host that fails during a run: a full disk, a launcher that dies, a user who presses Ctrl-C.
//! Nothing is lost, half-published or run twice, and the tool does not survive.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{
    Bench, CliOutput, Process, Record, RequestText, SavedRequest, SmallDisk, kill, list, parent_of,
    remove_control_group, skip, wait_for_no_process, wait_for_process,
};

toolexec_tests::as_both!(
    a_launcher_that_dies_leaves_indeterminate,
    a_launcher_that_dies_leaves_no_control_group_for_long,
    ctrl_c_cancels_the_run,
    the_next_run_records_a_killed_one,
    an_unfinished_run_is_not_a_record,
);

/// Returns a request that sleeps, and an argument that identifies its tool.
fn sleeper() -> (RequestText, String) {
    let text = RequestText::python("import time; print('begun', flush=True); time.sleep(60)");
    let word = format!("word-of-{}", text.id);
    let command = format!("python script.py {word}");
    (text.command(&command), word)
}

fn spawn(bench: &Bench, request: &SavedRequest) -> Child {
    let mut command = bench.command("toolexec");
    command.arg("run").arg(&request.path).args(["--format", "json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> CliOutput {
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    let output = CliOutput::from_output(&output, begun.elapsed());
    assert!(output.elapsed < Duration::from_secs(10) * time_factor(), "{output:#?}");
    output
}

/// Follows toolexec → launcher → init of the sandbox → tool.
fn launcher_of(word: &str, child: &Child) -> Process {
    let mut process = wait_for_process(word)[0];
    loop {
        let parent = parent_of(process);
        if parent == Process(child.id()) {
            return process;
        }
        process = parent;
    }
}

fn a_launcher_that_dies_leaves_indeterminate(bench: &Bench) {
    let (text, word) = sleeper();
    let request = bench.save(&text);
    let child = spawn(bench, &request);
    let launcher = launcher_of(&word, &child);
    let groups = groups_of(wait_for_process(&word)[0]);
    kill("KILL", launcher);
    let output = end(child);
    wait_for_no_process(&word);
    // The next test checks whether the product removes them.
    remove(&groups);
    output.assert_code(3);
    output.assert_stderr(&[request.path.to_str().unwrap(), "launcher"]);
    let record = Record::of(&output);
    record.assert_outcome("indeterminate");
    assert_eq!(record.front_matter_value("exit_code"), "-1");
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    bench.assert_nothing_left();

    let again = bench.run(&request);
    again.assert_code(2);
    again.assert_stderr(&["spool.replayed", record.path.to_str().unwrap()]);
}

/// Removes leftover control groups without a process, so that the host stays clean. Returns them.
fn remove(groups: &[String]) -> Vec<&String> {
    let left: Vec<_> = groups.iter().filter(|group| Path::new(group).exists()).collect();
    for group in &left {
        remove_control_group(Path::new(group));
    }
    left
}

/// Returns the control groups that were created for a process.
fn groups_of(process: Process) -> Vec<String> {
    let own = fs::read_to_string(format!("/proc/{}/cgroup", process.0)).unwrap();
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap();
    let theirs = own.lines().filter(|line| !ours.contains(*line));
    let names: Vec<_> = theirs.filter_map(|line| line.rsplit('/').next()).collect();
    let mut groups = Vec::new();
    for name in names {
        let found = std::process::Command::new("find")
            .args(["/sys/fs/cgroup", "-type", "d", "-name", name])
            .output();
        let found = String::from_utf8_lossy(&found.unwrap().stdout).into_owned();
        groups.extend(found.lines().map(str::to_owned));
    }
    groups.sort();
    groups.dedup();
    groups
}

/// The launcher cannot clean up when it dies, so the next run must.
fn a_launcher_that_dies_leaves_no_control_group_for_long(bench: &Bench) {
    let (text, word) = sleeper();
    let child = spawn(bench, &bench.save(&text));
    let launcher = launcher_of(&word, &child);
    let groups = groups_of(wait_for_process(&word)[0]);
    assert!(!bench.is_root() || !groups.is_empty(), "root's runs have groups of their own");
    kill("KILL", launcher);
    end(child).assert_code(3);
    wait_for_no_process(&word);
    bench.run(&bench.save(&RequestText::python("pass"))).assert_code(0);
    let left = remove(&groups);
    assert!(left.is_empty(), "left behind: {left:?}");
}

fn ctrl_c_cancels_the_run(bench: &Bench) {
    let (text, word) = sleeper();
    let request = bench.save(&text);
    let child = spawn(bench, &request);
    assert!(!wait_for_process(&word).is_empty());
    kill("INT", Process(child.id()));
    let output = end(child);
    wait_for_no_process(&word);
    output.assert_code(1);
    let record = Record::of(&output);
    record.assert_outcome("cancelled");
    bench.assert_nothing_left();
}

fn the_next_run_records_a_killed_one(bench: &Bench) {
    let (text, word) = sleeper();
    let request = bench.save(&text);
    let mut child = spawn(bench, &request);
    assert!(!wait_for_process(&word).is_empty());
    kill("KILL", Process(child.id()));
    child.wait().unwrap();
    wait_for_no_process(&word);
    assert_eq!(list(&bench.results()).iter().filter(|name| !name.starts_with('.')).count(), 0);

    let other = bench.run(&bench.save(&RequestText::python("pass")));
    other.assert_code(0);
    other.assert_stderr(&["interrupted", &request.id]);
    let name = list(&bench.results()).into_iter().find(|name| name.ends_with(&request.id)).unwrap();
    let record = Record::at(&bench.results().join(name));
    record.assert_outcome("indeterminate");
    assert_eq!(list(&bench.results()).len(), 2);
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
    let again = bench.run(&request);
    again.assert_code(2);
    again.assert_stderr(&["spool.replayed", record.path.to_str().unwrap()]);
}

fn an_unfinished_run_is_not_a_record(bench: &Bench) {
    let (text, word) = sleeper();
    let mut child = spawn(bench, &bench.save(&text));
    assert!(!wait_for_process(&word).is_empty());
    // During the run, readers of results see nothing, and there is nothing to list.
    let visible: Vec<_> =
        list(&bench.results()).into_iter().filter(|name| !name.starts_with('.')).collect();
    assert_eq!(visible, Vec::<String>::new());
    let listed =
        bench.toolexec(["list", "--format", "json", "--state", bench.state().to_str().unwrap()]);
    assert_eq!(listed.stdout, "");
    // It does not stop another run, and the other run does not take it for dead.
    bench.run(&bench.save(&RequestText::python("pass"))).assert_code(0);
    assert!(child.try_wait().unwrap().is_none());
    kill("TERM", Process(child.id()));
    let output = end(child);
    Record::of(&output).assert_outcome("cancelled");
    wait_for_no_process(&word);
}

/// Mounts a small disk for state and results that the user can write.
fn small_disk(bench: &Bench, test: &str, kib: u32) -> Option<(SmallDisk, std::path::PathBuf)> {
    let place = bench.scratch().dir("disk");
    let disk = SmallDisk::mount(&place, kib);
    if disk.is_none() {
        skip(test, "this host does not let root mount a tmpfs");
    }
    disk.map(|disk| (disk, place))
}

fn run_on(bench: &Bench, place: &Path, request: &SavedRequest) -> CliOutput {
    let state = place.join("state");
    let mut command = bench.command("toolexec");
    command.arg("run").arg(&request.path).arg("--state").arg(state).args(["--format", "json"]);
    CliOutput::of(&mut command)
}

#[test]
fn a_full_disk_keeps_what_ran_and_admits_nothing() {
    let test = "a_full_disk_keeps_what_ran_and_admits_nothing";
    let Some(bench) = Bench::as_root(test) else { return };
    // Enough for the reserve and the key, too little for the files of the tool.
    let Some((disk, place)) = small_disk(&bench, test, 8 * 1024) else { return };
    let script = "import os; open('/out/big','wb').write(os.urandom(12 << 20))";
    let request = bench.save(&RequestText::python(script).output("big"));
    let output = run_on(&bench, &place, &request);
    output.assert_code(3);
    output.assert_stderr(&["No space left"]);
    assert!(!output.stderr.contains("panicked"), "{output:#?}");
    let results = place.join("state/results");
    let hidden: Vec<_> = list(&results).into_iter().filter(|it| it.starts_with('.')).collect();
    assert_eq!(hidden, Vec::<String>::new(), "nothing half-published");
    let record = Record::of(&output);
    record.assert_outcome("indeterminate");
    assert_eq!(list(&place.join("state/work")), Vec::<String>::new());
    assert_eq!(list(&place.join("state/staging")), Vec::<String>::new());

    disk.grow(64 * 1024);
    let again = run_on(&bench, &place, &request);
    again.assert_code(2);
    again.assert_stderr(&["spool.replayed", record.path.to_str().unwrap()]);
    let other = run_on(&bench, &place, &bench.save(&RequestText::python(script).output("big")));
    other.assert_code(0);
    let verified = CliOutput::of(
        bench
            .command("toolexec")
            .arg("verify")
            .arg(&results)
            .arg("--state")
            .arg(place.join("state")),
    );
    verified.assert_code(0);
    assert_eq!(verified.stdout.lines().count(), 3, "{verified:#?}");
}

#[test]
fn a_disk_that_is_full_before_begins_nothing() {
    let test = "a_disk_that_is_full_before_begins_nothing";
    let Some(bench) = Bench::as_root(test) else { return };
    let Some((disk, place)) = small_disk(&bench, test, 1024) else { return };
    let request = bench.save(&RequestText::python("print('ran')"));
    let output = run_on(&bench, &place, &request);
    output.assert_code(3);
    output.assert_stderr(&[place.to_str().unwrap(), "No space left"]);
    let problems = output.stderr.lines().filter(|line| !line.starts_with("help: ")).count();
    assert_eq!((output.stdout.as_str(), problems), ("", 1), "{output:#?}");
    assert_eq!(list(&place.join("state/results")), Vec::<String>::new());
    assert_eq!(list(&place.join("state/work")), Vec::<String>::new());
    disk.grow(64 * 1024);
    run_on(&bench, &place, &request).assert_code(0);
}

#[test]
fn a_disk_too_small_for_the_inputs_uses_nothing_up() {
    let test = "a_disk_too_small_for_the_inputs_uses_nothing_up";
    let Some(bench) = Bench::as_root(test) else { return };
    let Some((disk, place)) = small_disk(&bench, test, 8 * 1024) else { return };
    let request = RequestText::python("print('ran')").input("data", vec![b'x'; 6 << 20]);
    let request = bench.save(&request);
    let output = run_on(&bench, &place, &request);
    output.assert_code(3);
    output.assert_stderr(&["No space left"]);
    let results = list(&place.join("state/results"));
    assert_eq!(results.len(), 1, "one record says why nothing ran: {results:?}");
    assert!(results[0].starts_with("TS-"), "{results:?}");
    for left in ["work", "staging"] {
        assert_eq!(list(&place.join("state").join(left)), Vec::<String>::new(), "{left}");
    }
    disk.grow(64 * 1024);
    run_on(&bench, &place, &request).assert_code(0);
}

#[test]
fn a_launcher_that_ends_at_its_start_is_reported() {
    let bench = Bench::new();
    let launcher = bench.scratch().path().join("bin/toolexec-launch");
    let mode = fs::metadata(&launcher).unwrap().permissions();
    for (act, end) in [("exit 7", "it ended with status 7"), ("kill -9 $$", "killed by signal 9")] {
        fs::remove_file(&launcher).unwrap();
        fs::write(&launcher, format!("#!/bin/sh\n{act}\n")).unwrap();
        fs::set_permissions(&launcher, mode.clone()).unwrap();
        let output = bench.run(&bench.save(&RequestText::python("pass")));
        output.assert_code(3);
        output.assert_stderr(&[end]);
    }
}
