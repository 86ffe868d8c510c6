//! A stuck launcher, seen from outside. `run` and the daemon report it and end in time with a
//! record that verifies. The tool is killed at its time limit regardless.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod service;
mod stopping;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use stopping::{SilentFileSystem, StopMeans, StoppedProcesses, available_means, state_of};
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{
    Bench, CliOutput, Process, Record, RequestText, SavedRequest, kill, parent_of, skip,
    wait_for_process,
};

/// Longest time of `run` without its waits: a record and its check.
const OVERHEAD: Duration = Duration::from_secs(10);
/// `run` prints a message after one second; this is far less than the wait itself.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(8);
/// A process ends within this time after a signal; one that ignores it continues for 30 s and more.
pub(crate) const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The bit of TERM, signal 15, in the sets of `/proc/PID/status`.
const TERM_BIT: u64 = 1 << 14;

pub(crate) fn seconds(number: u64) -> Duration {
    Duration::from_secs(number) * time_factor()
}

/// The embedded policy with another start timeout, and more directories mounted for Python.
fn policy(bench: &Bench, start_sec_max: u32, mounts: &str) -> PathBuf {
    let shown = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let bound = shown.replacen("start_sec_max: 30", &format!("start_sec_max: {start_sec_max}"), 1);
    bench.scratch().file("policy.yaml", bound.replacen("mounts: [/usr]", mounts, 1))
}

struct RunningCommand {
    child: Child,
    begun: Instant,
    lines: Receiver<(Duration, String)>,
    received: Vec<(Duration, String)>,
}

impl RunningCommand {
    fn start(bench: &Bench, request: &SavedRequest, policy: Option<&PathBuf>) -> Self {
        let mut command = bench.command("toolexec");
        command.arg("run").arg(&request.path).args(["--format", "json"]);
        command.args(policy.into_iter().flat_map(|path| ["--policy".as_ref(), path.as_os_str()]));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if send.send((begun.elapsed(), line)).is_err() {
                    break;
                }
            }
        });
        Self { child, begun, lines, received: Vec::new() }
    }

    fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// Waits for a line of stderr with this text.
    #[track_caller]
    fn wait_for_line(&mut self, words: &str, within: Duration) {
        let begun = Instant::now();
        loop {
            let left = within.saturating_sub(begun.elapsed());
            match self.lines.recv_timeout(left) {
                Ok((at, line)) => {
                    let found = line.contains(words);
                    self.received.push((at, line));
                    if found {
                        return;
                    }
                }
                Err(_) => panic!("{words:?} is not said within {within:?}: {:#?}", self.received),
            }
        }
    }

    /// Waits for the end. Returns the output, and the signal that ended it, if any.
    #[track_caller]
    fn wait_for_end(mut self, within: Duration) -> (CliOutput, Option<i32>) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > within {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                self.received.extend(self.lines.try_iter());
                panic!("`run` does not end within {within:?}: {:#?}", self.received);
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let took = self.begun.elapsed();
        // Other processes that hold its stderr may be stuck.
        while let Ok(more) = self.lines.recv_timeout(Duration::from_millis(200)) {
            self.received.push(more);
        }
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let lines: Vec<_> = self.received.iter().map(|(_, line)| line.as_str()).collect();
        let output =
            CliOutput { code: status.code(), stdout, stderr: lines.join("\n"), elapsed: took };
        (output, std::os::unix::process::ExitStatusExt::signal(&status))
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // It has ended already, unless a test fails.
        if std::thread::panicking() && matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().unwrap();
        }
    }
}

fn benches(test: &str) -> Vec<Bench> {
    let root = Bench::as_root(&format!("as_root::{test}"));
    let ordinary = Bench::as_ordinary_user(&format!("as_an_ordinary_user::{test}"));
    root.into_iter().chain(ordinary).collect()
}

fn sleeper(time_sec: u32) -> (RequestText, String) {
    let text = RequestText::python("import time; time.sleep(60)").time_sec(time_sec);
    let word = format!("word-of-{}", text.id);
    let command = format!("python script.py {word}");
    (text.command(&command), word)
}

/// Asserts that a run did not start, and that its record gives this reason.
#[track_caller]
fn assert_not_started(output: &CliOutput, words: &[&str]) {
    output.assert_code(3);
    let record = Record::of(output);
    record.assert_outcome("setup_error");
    for word in words {
        assert!(
            record.front_matter_value("reason").contains(word),
            "{word:?} is not in {}",
            record.text
        );
    }
}

#[test]
fn run_names_a_launcher_that_stands_still_from_its_start() {
    for bench in benches("run_names_a_launcher_that_stands_still_from_its_start") {
        for means in available_means() {
            let launcher = bench.scratch().path().join("bin/toolexec-launch");
            let mut still = StoppedProcesses::new(means);
            still.stop_at_start(&launcher);
            let request = bench.save(&RequestText::python("print(1)"));
            let mut run =
                RunningCommand::start(&bench, &request, Some(&policy(&bench, 3, "mounts: [/usr]")));
            run.wait_for_line("waiting for the launcher", MESSAGE_TIMEOUT);
            let (output, _) = run.wait_for_end(seconds(3) + OVERHEAD);
            let state = if means == StopMeans::Freezer {
                "uninterruptible sleep (D)"
            } else {
                "stopped (T)"
            };
            assert_not_started(&output, &["after 3 s", "wait for a worker slot", state]);
            if means == StopMeans::Freezer {
                output.assert_stderr(&["left behind", "(D)"]);
            }
            still.resume();
            fs::rename(launcher.with_extension("real"), &launcher).unwrap();
        }
    }
}

#[test]
fn run_with_the_shipped_bound_ends_within_45_seconds() {
    let bench = Bench::new();
    let means = available_means()[0];
    let mut still = StoppedProcesses::new(means);
    still.stop_at_start(&bench.scratch().path().join("bin/toolexec-launch"));
    let request = bench.save(&RequestText::python("print(1)"));
    let mut run = RunningCommand::start(&bench, &request, None);
    run.wait_for_line("waiting for the launcher", MESSAGE_TIMEOUT);
    let (output, _) = run.wait_for_end(seconds(45));
    assert_not_started(&output, &["after 30 s", "wait for a worker slot"]);
    assert!(output.elapsed > Duration::from_secs(29), "{:?}", output.elapsed);
    still.resume();
}

#[test]
fn run_names_the_step_that_hangs() {
    let test = "run_names_the_step_that_hangs";
    for (name, step) in [
        ("tel-base-root", "make the launcher's root"),
        ("tel-clone-rt", "clone the runtime's mounts"),
        ("tel-landlock", "restrict files with Landlock"),
    ] {
        let Some(bench) = Bench::as_root(test) else { return };
        let silent = match SilentFileSystem::mount(name) {
            Ok(silent) => silent,
            Err(why) => return skip(test, &format!("no file system in user space: {why}")),
        };
        let mounts = format!("mounts: [/usr, {}]", silent.place().display());
        let policy = policy(&bench, 4, &mounts);
        let request = bench.save(&RequestText::python("print(1)"));
        let mut run = RunningCommand::start(&bench, &request, Some(&policy));
        run.wait_for_line("waiting for the launcher", MESSAGE_TIMEOUT);
        let (output, _) = run.wait_for_end(seconds(4) + OVERHEAD);
        assert_not_started(&output, &[step]);
        drop(silent);
    }
}

/// Starts a run and stops its launcher. Returns the run, its tool and the start time.
fn run_without_launcher(
    bench: &Bench,
    time_sec: u32,
    still: &mut StoppedProcesses,
) -> (RunningCommand, Process, Instant) {
    let (text, word) = sleeper(time_sec);
    let run = RunningCommand::start(bench, &bench.save(&text), None);
    let tool = wait_for_process(&word)[0];
    let begun = Instant::now();
    let slot = parent_of(parent_of(tool));
    still.stop(&[parent_of(slot), slot]);
    (run, tool, begun)
}

#[test]
fn the_tool_is_dead_at_its_limit_though_the_launcher_stands_still() {
    for bench in benches("the_tool_is_dead_at_its_limit_though_the_launcher_stands_still") {
        for means in available_means() {
            let mut still = StoppedProcesses::new(means);
            let (mut run, tool, begun) = run_without_launcher(&bench, 5, &mut still);
            run.wait_for_line("does not answer", seconds(13));
            while state_of(tool).is_some() {
                // `run` itself gives up after 15 s, which would also end the tool.
                assert!(
                    begun.elapsed() < seconds(13),
                    "the tool runs on after {:?}",
                    begun.elapsed()
                );
                std::thread::sleep(Duration::from_millis(10));
            }
            println!("{means:?}: a tool limited to 5 s was dead after {:?}", begun.elapsed());
            let (output, _) = run.wait_for_end(seconds(15) + OVERHEAD);
            println!("{means:?}: run ended after {:?}", output.elapsed);
            output.assert_code(3);
            let record = Record::of(&output);
            record.assert_outcome("indeterminate");
            assert!(record.front_matter_value("reason").contains("process "), "{}", record.text);
            still.resume();
        }
    }
}

/// A launcher that resumes in time reports the end of the run and the limit it reached.
#[test]
fn a_resumed_launcher_reports_the_enforced_limit() {
    let bench = Bench::new();
    let mut still = StoppedProcesses::new(StopMeans::Stop);
    let (run, tool, _) = run_without_launcher(&bench, 6, &mut still);
    stopping::wait_until("the tool is dead", || state_of(tool).is_none());
    still.resume();
    let (output, _) = run.wait_for_end(OVERHEAD);
    output.assert_code(1);
    Record::of(&output).assert_outcome("wall_limit");
}

/// The reverse: init is stuck, and the launcher enforces the limit.
#[test]
fn the_tool_is_dead_at_its_limit_though_its_init_stands_still() {
    let test = "the_tool_is_dead_at_its_limit_though_its_init_stands_still";
    let Some(bench) = Bench::as_root(test) else { return };
    if !std::path::Path::new("/sys/fs/cgroup/unified/cgroup.procs").exists()
        && !std::path::Path::new("/sys/fs/cgroup/cgroup.procs").exists()
    {
        return skip(test, "no cgroup v2 tree, by which a tree is killed without its init");
    }
    let mut still = StoppedProcesses::new(available_means()[0]);
    let (text, word) = sleeper(6);
    let run = RunningCommand::start(&bench, &bench.save(&text), None);
    let tool = wait_for_process(&word)[0];
    let begun = Instant::now();
    still.stop(&[parent_of(tool)]);
    while state_of(tool).is_some() {
        assert!(begun.elapsed() < seconds(20), "the tool runs on after {:?}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("a tool limited to 6 s was dead after {:?}", begun.elapsed());
    let (output, _) = run.wait_for_end(seconds(15) + OVERHEAD);
    output.assert_code(1);
    Record::of(&output).assert_outcome("wall_limit");
    still.resume();
}

#[test]
fn a_cancelled_tool_is_dead_though_the_launcher_stands_still() {
    let bench = Bench::new();
    let mut still = StoppedProcesses::new(available_means()[0]);
    let (run, tool, _) = run_without_launcher(&bench, 60, &mut still);
    kill("TERM", run.process());
    let (output, _) = run.wait_for_end(seconds(10) + OVERHEAD);
    output.assert_code(3);
    Record::of(&output).assert_outcome("indeterminate");
    stopping::wait_until("the tool is dead", || state_of(tool).is_none());
    still.resume();
}

#[test]
fn a_signal_is_not_swallowed_by_a_run_that_waits_for_its_launcher() {
    let bench = Bench::new();
    let mut still = StoppedProcesses::new(available_means()[0]);
    still.stop_at_start(&bench.scratch().path().join("bin/toolexec-launch"));
    for signal in ["TERM", "INT"] {
        let request = bench.save(&RequestText::python("print(1)"));
        let mut run = RunningCommand::start(&bench, &request, None);
        run.wait_for_line("waiting for the launcher", MESSAGE_TIMEOUT);
        kill(signal, run.process());
        let (output, _) = run.wait_for_end(END_TIMEOUT);
        assert_not_started(&output, &["wait for the sandbox: cancelled", "wait for a worker slot"]);
    }
    still.resume();
}

/// Waits until a process has taken a TERM: two pending signals would be one.
fn wait_until_term_is_taken(process: Process) {
    stopping::wait_until("the signal is taken", || {
        let status = fs::read_to_string(format!("/proc/{}/status", process.0)).unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
        u64::from_str_radix(pending.trim(), 16).unwrap() & TERM_BIT == 0
    });
}

#[test]
fn a_second_signal_ends_a_run_whose_launcher_stands_still() {
    let bench = Bench::new();
    let mut still = StoppedProcesses::new(available_means()[0]);
    let (run, tool, _) = run_without_launcher(&bench, 60, &mut still);
    kill("TERM", run.process());
    wait_until_term_is_taken(run.process());
    std::thread::sleep(Duration::from_millis(300));
    kill("TERM", run.process());
    let (_, signal) = run.wait_for_end(END_TIMEOUT);
    assert_eq!(signal, Some(15));
    stopping::wait_until("the tool is dead", || state_of(tool).is_none());
    still.resume();
}
