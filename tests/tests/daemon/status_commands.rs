//! `list`, `status`, `show`, `wait` and `watch`, on spools built by the test and beside a real
//! daemon. Their output is correct in every state and for every user.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, DocPage, RequestText, Service, ServiceConfig, list, skip};

const A: &str = "TR-20260209-160501Z-python-stats";
const B: &str = "TR-20260209-160502Z-copy";

/// A spool that the test builds without a daemon.
struct ManualSpool<'a> {
    bench: &'a Bench,
    spool: PathBuf,
}

impl<'a> ManualSpool<'a> {
    fn new(bench: &'a Bench) -> Self {
        let spool = bench.scratch().dir("spool");
        for part in ["approved", "results", "public/held", "public/running"] {
            fs::create_dir_all(spool.join(part)).unwrap();
        }
        Self { bench, spool }
    }

    fn write_file(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.spool.join(path), content).unwrap();
    }

    fn submit_request(&self, id: &str) {
        self.write_file(&format!("approved/{id}.md"), "a request");
    }

    /// Publishes the part of a record that lists read.
    fn publish(&self, stamp: &str, id: &str, outcome: &str) -> PathBuf {
        let result = format!("TS-{stamp}-{id}");
        let directory = self.spool.join("results").join(&result);
        // One rename, as the daemon does: a partial record cannot be read.
        let hidden = self.spool.join("results").join(format!(".new-{result}"));
        fs::create_dir(&hidden).unwrap();
        let text = format!(
            "---\nresult_id: \"{result}\"\nrequest_id: \"{id}\"\n\
             created_utc: \"2026-02-09T16:10:30Z\"\noutcome: {outcome}\nexit_code: 0\n---\n"
        );
        fs::write(hidden.join(format!("{result}.md")), text).unwrap();
        fs::rename(hidden, &directory).unwrap();
        directory
    }

    fn write_running(&self, id: &str, step: &str) {
        let status = json!({
            "request_id": id, "since_utc": "2026-02-09T16:05:01Z", "step": step,
            "step_since_utc": "2026-02-09T16:05:02Z", "time_sec_max": 60,
            "memory_bytes_max": 268_435_456, "submitter": "alice",
        });
        self.write_file(&format!("public/running/{id}.json"), status.to_string());
    }

    fn status(state: &str, pid: u32) -> Value {
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap();
        json!({
            "process": { "pid": pid, "boot_id": boot_id.trim_end(), "pid_namespace": namespace },
            "version": "0.1.0", "started_utc": "2026-02-09T16:00:00Z",
            "at_utc": "2026-02-09T16:05:00Z", "state": state, "reason": null,
            "admission_stopped": null,
            "counts": { "waiting": 0, "held": 0, "claimed": 0, "staging": 0, "running": 0,
                        "publishing": 0 },
            "runs_max": 2, "memory_bytes_reserved": 0, "memory_bytes_max": null,
            "policy": { "name": "for-tests", "sha256": "a".repeat(64) },
        })
    }

    fn write_status(&self, status: &Value) {
        self.write_file("public/status.json", status.to_string());
    }

    fn run_command(&self, words: &[&str]) -> CliOutput {
        CliOutput::of(self.bench.command("toolexec").args(words).arg("--spool").arg(&self.spool))
    }

    /// Starts `wait` for a request, and returns it when it sleeps.
    fn start_wait(&self, id: &str) -> Child {
        let mut command = self.bench.command("toolexec");
        command.args(["wait", id, "--spool"]).arg(&self.spool).stdout(Stdio::piped());
        let waiting = command.spawn().unwrap();
        let begun = Instant::now();
        while !sleeps_beside_a_watch(waiting.id()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not wait for {id}");
            std::thread::sleep(Duration::from_millis(5));
        }
        waiting
    }

    fn states(&self) -> Vec<(String, String)> {
        let output = self.run_command(&["list", "--format", "json"]);
        output.assert_code(0);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let rows = output.json_lines();
        rows.iter().map(|row| (text(&row["request_id"]), text(&row["state"]))).collect()
    }

    #[track_caller]
    fn assert_state(&self, id: &str, state: &str) {
        let states = self.states();
        assert!(states.contains(&(id.to_owned(), state.to_owned())), "{states:?}");
    }

    /// Returns the daemon state that `status` prints, and the exit code.
    fn daemon(&self) -> (String, Option<i32>) {
        let output = self.run_command(&["status", "--format", "json"]);
        (output.json()["daemon"]["state"].as_str().unwrap().to_owned(), output.code)
    }

    /// Holds the spool's lock as a daemon does, until the value is dropped.
    fn hold_lock(&self) -> SpoolLockHolder {
        let lock = self.spool.join(".lock");
        fs::write(&lock, "").unwrap();
        fs::set_permissions(&lock, Permissions::from_mode(0o600)).unwrap();
        let mut command = std::process::Command::new("flock");
        command.args(["-x", "-F"]).arg(&lock).args(["sh", "-c", "echo held; exec sleep 60"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        SpoolLockHolder(child)
    }
}

struct SpoolLockHolder(Child);

impl Drop for SpoolLockHolder {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Returns true if a process watches directories and sleeps. `wait` begins to watch before it reads
/// the spool, and does not sleep before it has read it.
fn sleeps_beside_a_watch(pid: u32) -> bool {
    let files = PathBuf::from(format!("/proc/{pid}/fd"));
    let is_watch = |file: &String| {
        let target = fs::read_link(files.join(file)).unwrap_or_default();
        target.as_os_str() == "anon_inode:inotify"
    };
    if !list(&files).iter().any(is_watch) {
        return false;
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().unwrap_or_default().starts_with(" S")
}

#[test]
fn every_state_is_reported_as_what_it_is() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.submit_request(A);
    hand.assert_state(A, "waiting");
    let held = json!({
        "since_utc": "2026-02-09T16:05:01Z", "until_utc": "2026-02-16T16:05:01Z",
        "waits_for": [{ "code": "approval.count", "message": "one more \u{1b}[31m" }],
    });
    hand.write_file(&format!("public/held/{A}.md.json"), held.to_string());
    hand.assert_state(A, "held");
    let output = hand.run_command(&["status"]);
    assert!(output.stdout.contains("approval.count: one more \\u{1b}[31m"), "{output:#?}");

    // Refused once, fixed and submitted again: the present wait is shown.
    let record = hand.publish("20260209-160430Z", A, "refused");
    hand.assert_state(A, "held");
    let shown = hand.run_command(&["show", A]).stdout;
    let help = "\n           help: put the missing signatures of other approvers next to";
    for words in ["state      held", "approval.count", help, "outcome  refused"] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    fs::remove_dir_all(record).unwrap();

    let holder = hand.hold_lock();
    // It is decided again, and the file about its wait is gone.
    fs::remove_file(hand.spool.join(format!("public/held/{A}.md.json"))).unwrap();
    for step in ["claimed", "staging", "running", "publishing"] {
        hand.write_running(A, step);
        hand.assert_state(A, step);
        let shown = hand.run_command(&["show", A]).stdout;
        assert_eq!(shown.matches("\nclaimed ").count(), 1, "{shown}");
    }
    // Published but not yet removed from `approved/`: it must not be shown as waiting.
    let record = hand.publish("20260209-161030Z", A, "ok");
    hand.assert_state(A, "recorded");
    hand.assert_state(A, "ok");
    fs::remove_file(hand.spool.join(format!("public/running/{A}.json"))).unwrap();
    hand.assert_state(A, "recorded");
    fs::remove_file(hand.spool.join(format!("approved/{A}.md"))).unwrap();
    assert_eq!(hand.states(), [(A.to_owned(), "ok".to_owned())]);
    // An incomplete result has a hidden name and does not count.
    fs::rename(&record, record.with_file_name(format!(".new-TS-20260209-161030Z-{A}"))).unwrap();
    assert_eq!(hand.states(), []);
    hand.run_command(&["show", A]).assert_code(2);
    drop(holder);
}

#[test]
fn the_status_of_a_dead_daemon_is_not_shown_as_the_present() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    assert_eq!(hand.daemon(), ("absent".to_owned(), Some(1)));
    hand.submit_request(A);
    hand.write_running(A, "running");

    let holder = hand.hold_lock();
    let pid = holder.0.id();
    assert_eq!(hand.daemon(), ("unreported".to_owned(), Some(1)));
    hand.write_status(&ManualSpool::status("serving", pid));
    assert_eq!(hand.daemon(), ("serving".to_owned(), Some(0)));
    hand.assert_state(A, "running");
    let output = hand.run_command(&["status"]);
    assert!(output.stdout.contains(&format!("serving since 2026-02-09T16:00:00Z, process {pid}")));
    for word in ["for-tests", "of 60 s, 256 MiB, submitted by alice", "1 running"] {
        assert!(output.stdout.contains(word), "{word}: {output:#?}");
    }
    let mut full = ManualSpool::status("serving", pid);
    full["admission_stopped"] = "no room for one more record".into();
    hand.write_status(&full);
    let output = hand.run_command(&["status"]);
    output.assert_code(1);
    assert!(output.stdout.contains("stopped: no room for one more record"), "{output:#?}");
    // From an earlier daemon: this one has not written its status yet.
    hand.write_status(&ManualSpool::status("serving", pid + 1));
    assert_eq!(hand.daemon(), ("unreported".to_owned(), Some(1)));
    hand.write_status(&ManualSpool::status("stopped", pid));
    assert_eq!(hand.daemon(), ("unreported".to_owned(), Some(1)));
    hand.write_status(&ManualSpool::status("serving", pid));
    drop(holder);

    assert_eq!(hand.daemon(), ("died".to_owned(), Some(1)));
    hand.assert_state(A, "interrupted");
    let output = hand.run_command(&["status"]);
    assert!(output.stdout.contains("ended without writing a state"), "{output:#?}");
    assert!(!output.stdout.contains("of 60 s"), "{output:#?}");
    let mut halted = ManualSpool::status("halted", pid);
    halted["reason"] = "the disk is full".into();
    hand.write_status(&halted);
    assert_eq!(hand.daemon(), ("halted".to_owned(), Some(1)));
    assert!(hand.run_command(&["status"]).stdout.contains("the disk is full"));
}

#[test]
fn lock_state_is_visible_without_access_to_the_lock() {
    let Some(bench) = Bench::as_ordinary_user("lock seen by an ordinary user") else { return };
    let hand = ManualSpool::new(&bench);
    let holder = hand.hold_lock();
    hand.write_status(&ManualSpool::status("serving", holder.0.id()));
    assert_eq!(hand.daemon(), ("serving".to_owned(), Some(0)));
    drop(holder);
    assert_eq!(hand.daemon(), ("died".to_owned(), Some(1)));
    // From another host or container, with other process numbers.
    let mut elsewhere = ManualSpool::status("serving", 1);
    elsewhere["process"]["boot_id"] = "another".into();
    hand.write_status(&elsewhere);
    let lock = fs::metadata(hand.spool.join(".lock")).unwrap();
    // A user who can open the lock can test it. Other users cannot know.
    let expected = if lock.uid() == bench.uid() { "died" } else { "unknown" };
    assert_eq!(hand.daemon(), (expected.to_owned(), Some(1)));
    if expected == "unknown" {
        let output = hand.run_command(&["status"]);
        assert!(output.stdout.contains("serving as of 2026-02-09T16:05:00Z"), "{output:#?}");
    }
}

#[test]
fn malformed_status_files_are_ignored() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.submit_request(A);
    let _holder = hand.hold_lock();
    let running = hand.spool.join(format!("public/running/{A}.json"));
    let big = format!("{{\"request_id\":\"{}\"}}", "a".repeat(1 << 20));
    for text in ["", "{", "[]", "{\"request_id\": \"x\"}", "null", &big] {
        fs::write(&running, text).unwrap();
        hand.assert_state(A, "waiting");
        hand.write_file("public/status.json", text);
        assert_eq!(hand.daemon(), ("unreported".to_owned(), Some(1)), "{:.20}", text);
    }
    // A file with another request's id, a link, and a file that never ends.
    hand.write_running(B, "running");
    fs::rename(hand.spool.join(format!("public/running/{B}.json")), &running).unwrap();
    hand.assert_state(A, "waiting");
    fs::remove_file(&running).unwrap();
    symlink("/dev/zero", &running).unwrap();
    hand.assert_state(A, "waiting");
    fs::remove_file(hand.spool.join("public/status.json")).unwrap();
    let fifo = hand.spool.join("public/status.json");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    assert_eq!(hand.daemon(), ("unreported".to_owned(), Some(1)));
    // Control characters in a name are escaped, not sent to the terminal.
    hand.write_file("approved/TR-\u{1b}[31m.md", "odd");
    // `watch` does not end by itself.
    for (command, seconds) in [("list", "30"), ("watch", "5")] {
        let mut timed = bench.command("timeout");
        let bin = bench.scratch().path().join("bin/toolexec");
        timed.arg(seconds).arg(bin).arg(command).arg("--spool").arg(&hand.spool);
        let output = CliOutput::of(&mut timed);
        assert!(output.stdout.contains("TR-\\u{1b}[31m"), "{output:#?}");
        assert!(!output.stdout.contains('\u{1b}'), "{output:#?}");
    }
}

#[test]
fn part_of_an_id_selects_the_only_match() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.submit_request(A);
    let directory = hand.publish("20260209-161030Z", B, "exit_nonzero");
    fs::create_dir(directory.join("artifacts")).unwrap();
    fs::write(directory.join("artifacts/a \u{7f}.txt"), "four").unwrap();
    for (typed, id, state) in [
        (A, A, "waiting"),
        ("stats", A, "waiting"),
        ("TR-20260209-160502", B, "exit_nonzero"),
        ("copy", B, "exit_nonzero"),
        ("TS-2026", B, "exit_nonzero"),
        (directory.to_str().unwrap(), B, "exit_nonzero"),
    ] {
        let output = hand.run_command(&["show", typed, "--format", "json"]);
        output.assert_code(0);
        assert_eq!(
            (&output.json()["request_id"], &output.json()["state"]),
            (&id.into(), &state.into())
        );
        assert_eq!(output.json()["verified"], false);
    }
    let output = hand.run_command(&["show", "copy"]);
    for word in ["exit_nonzero", "artifacts/a \\u{7f}.txt", "not verified here: run"] {
        assert!(output.stdout.contains(word), "{word}: {output:#?}");
    }
    for (typed, code) in [("TR-2026", 3), ("nothing", 2), ("st", 2), ("/no/where", 3), ("../x", 3)]
    {
        hand.run_command(&["show", typed]).assert_code(code);
    }
    hand.run_command(&["show", "TR-2026"]).assert_stderr(&[A, B, "type more of it"]);
    CliOutput::of(bench.command("toolexec").args(["status", "--spool", "/no/spool"]))
        .assert_code(3);
}

#[test]
fn wait_ends_with_the_record_and_its_outcome() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    for (number, (outcome, code)) in
        [("ok", 0), ("exit_nonzero", 1), ("refused", 2), ("indeterminate", 3)].iter().enumerate()
    {
        let id = format!("TR-20260209-16050{number}Z-x");
        hand.publish("20260209-161030Z", &id, outcome);
        let output = hand.run_command(&["wait", &id, "--format", "json"]);
        output.assert_code(*code);
        assert_eq!(output.json()["outcome"], *outcome);
    }
    // It ran once, and was refused when it was submitted again.
    hand.publish("20260209-161040Z", "TR-20260209-160500Z-x", "refused");
    hand.run_command(&["wait", "TR-20260209-160500Z-x"]).assert_code(0);
    // Its sandbox could not be made, and it ran when it was submitted again.
    let id = "TR-20260209-160504Z-x";
    hand.publish("20260209-161041Z", id, "setup_error");
    hand.publish("20260209-161042Z", id, "ok");
    hand.run_command(&["wait", id]).assert_code(0);
    let standing = hand.run_command(&["wait", "SA-20260209-160501Z-means"]);
    standing.assert_code(3);
    standing.assert_stderr(&["a standing approval has no record", "toolexec standing list"]);
    let both = hand.run_command(&["wait", "160500Z-x", "160501Z-x"]);
    both.assert_code(1);
    assert_eq!(both.stdout.lines().count(), 2);
    let unknown = hand.run_command(&["wait", "TR-20260209-160509Z-x"]);
    unknown.assert_code(2);
    unknown.assert_stderr(&["TR-20260209-160509Z-x: no such request", "toolexec list --spool "]);

    hand.submit_request(A);
    let output = hand.run_command(&["wait", "stats", "--timeout", "1"]);
    output.assert_code(3);
    assert!(output.stdout.contains("has no record yet"), "{output:#?}");
    output.assert_stderr(&["the time is over", "toolexec list --waiting --spool "]);
    let waiting = hand.start_wait("stats");
    let begun = Instant::now();
    let hidden = hand.publish("20260209-161050Z", A, "ok");
    fs::remove_file(hand.spool.join(format!("approved/{A}.md"))).unwrap();
    assert_eq!(waiting.wait_with_output().unwrap().status.code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    fs::remove_dir_all(hidden).unwrap();

    // Submitted again: the old record does not end the wait.
    let unmade = hand.publish("20260209-161029Z", A, "setup_error");
    hand.submit_request(A);
    let output = hand.run_command(&["wait", A, "--timeout", "1"]);
    assert!(output.stdout.contains("has no record yet"), "{output:#?}");
    fs::remove_dir_all(unmade).unwrap();
    let refused = hand.publish("20260209-161030Z", A, "refused");
    hand.submit_request(A);
    hand.run_command(&["wait", A, "--timeout", "1"]).assert_code(3);
    fs::remove_file(hand.spool.join(format!("approved/{A}.md"))).unwrap();
    hand.write_running(A, "running");
    // No daemon works on it.
    hand.run_command(&["wait", A, "--timeout", "1"]).assert_code(2);
    let holder = hand.hold_lock();
    hand.run_command(&["wait", A, "--timeout", "1"]).assert_code(3);
    drop(holder);
    fs::remove_file(hand.spool.join(format!("public/running/{A}.json"))).unwrap();
    hand.run_command(&["wait", A, "--timeout", "1"]).assert_code(2);
    fs::remove_dir_all(refused).unwrap();

    // The submitter removes it, so there will never be a record.
    hand.submit_request(A);
    let waiting = hand.start_wait("stats");
    fs::remove_file(hand.spool.join(format!("approved/{A}.md"))).unwrap();
    let output = CliOutput::from_output(&waiting.wait_with_output().unwrap(), Duration::ZERO);
    output.assert_code(2);
    assert!(output.stdout.contains("gone without a record"), "{output:#?}");
}

#[test]
fn watch_prints_each_change_once_and_ends_with_its_reader() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.publish("20260209-161030Z", B, "ok");
    hand.submit_request(A);
    let mut command = bench.command("toolexec");
    command.args(["watch", "--format", "json", "--spool"]).arg(&hand.spool).stdout(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["daemon"]["state"], "absent");
    let first = next();
    assert_eq!((&first["from"], &first["to"]), (&Value::Null, &"waiting".into()));
    let holder = hand.hold_lock();
    hand.write_status(&ManualSpool::status("serving", holder.0.id()));
    while next()["daemon"]["state"] != "serving" {}
    hand.write_running(A, "running");
    let change = next();
    assert_eq!((&change["from"], &change["to"]), (&"waiting".into(), &"running".into()));
    hand.publish("20260209-161050Z", A, "wall_limit");
    let change = next();
    assert_eq!((&change["from"], &change["to"]), (&"running".into(), &"wall_limit".into()));
    assert_eq!(change["result_id"], format!("TS-20260209-161050Z-{A}"));
    drop(lines);
    let begun = Instant::now();
    while watching.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(10), "nobody reads, and it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// On a terminal it uses the alternate screen and restores everything.
#[test]
fn on_a_terminal_it_draws_and_q_ends_it() {
    if !std::path::Path::new("/usr/bin/python3").is_file() {
        return skip("observed::watch on a terminal", "no /usr/bin/python3 to make one with");
    }
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.submit_request(A);
    let script = "import os, pty, subprocess, sys, termios\n\
        ours, theirs = pty.openpty()\n\
        before = termios.tcgetattr(theirs)\n\
        child = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs)\n\
        said = b''\n\
        while b'waiting' not in said: said += os.read(ours, 65536)\n\
        assert termios.tcgetattr(theirs) != before, 'keys would be shown'\n\
        os.write(ours, b'q')\n\
        while b'1049l' not in said: said += os.read(ours, 65536)\n\
        code = child.wait()\n\
        assert termios.tcgetattr(theirs) == before, 'the terminal is not as it was'\n\
        assert said.startswith(b'\\x1b[?1049h') and b'\\x1b[?25h' in said, said\n\
        sys.exit(code)\n";
    let mut command = bench.command("timeout");
    let bin = bench.scratch().path().join("bin/toolexec");
    command.args(["20", "/usr/bin/python3", "-c", script]).arg(bin);
    let output = CliOutput::of(command.args(["watch", "--spool"]).arg(&hand.spool));
    output.assert_code(0);
}

/// With a real daemon: its lock is held, its states are shown, and its death is noticed.
#[test]
fn output_beside_a_daemon_is_correct() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let spool = service.spool();
    let toolexec = |words: &[&str]| {
        CliOutput::of(bench.command("toolexec").args(words).arg("--spool").arg(&spool))
    };
    let status = || toolexec(&["status", "--format", "json"]).json();
    assert_eq!(status()["daemon"]["alive"], true);
    let slow = service.submit(&RequestText::python("import time; time.sleep(2)"));
    toolexec(&["wait", &slow.id, "--timeout", "30"]).assert_code(0);
    let record = service.record_of(&slow.id);
    assert_eq!(toolexec(&["show", &slow.id, "--format", "json"]).json()["state"], "ok");
    assert_eq!(status()["last"][0]["result_id"], record.id());
    let script = "import time; time.sleep(60)";
    let endless = service.submit(&RequestText::python(script).time_sec(120));
    let state = || toolexec(&["show", &endless.id, "--format", "json"]).json()["state"].clone();
    // The daemon logs the start of the run before it shows the run.
    service.wait_for("the run to be shown", |_| state() == "running");
    service.signal("KILL");
    service.wait();
    assert_eq!(status()["daemon"]["alive"], false);
    assert_eq!(state(), "interrupted");
    toolexec(&["wait", &endless.id, "--timeout", "1"]).assert_code(3);
    service.spawn();
    let output = toolexec(&["wait", &endless.id, "--timeout", "40", "--format", "json"]);
    output.assert_code(3);
    assert_eq!(output.json()["outcome"], "indeterminate");
    service.record_of(&endless.id).assert_outcome("indeterminate");
}

/// Runs the commands of the page on an existing spool.
#[test]
fn the_commands_of_the_page_work() {
    let bench = Bench::new();
    let hand = ManualSpool::new(&bench);
    hand.publish("20260209-161030Z", A, "ok");
    let config = bench.scratch().file(
        "toolexecd.yaml",
        format!("config_version: 1\nspool: {0}\nstate: {0}\n", hand.spool.display()),
    );
    let mut typed = 0;
    for line in DocPage::open("docs/operating.md").script().lines() {
        if !line.starts_with("toolexec ") {
            continue;
        }
        let line = line.replace("/var/spool/toolexec", hand.spool.to_str().unwrap());
        let line = line.replace("/etc/toolexec/toolexecd.yaml", config.to_str().unwrap());
        let command = line.split(' ').nth(1).unwrap();
        // `watch` does not end by itself.
        let seconds = if command == "watch" { 5 } else { 60 };
        let output = CliOutput::of(&mut bench.shell(&format!("timeout {seconds} {line}")));
        let expected: &[i32] = match command {
            "status" => &[1],
            // `doctor` may find problems of this host.
            "doctor" => &[0, 1],
            "watch" => &[0, 124],
            _ => &[0],
        };
        assert!(expected.contains(&output.code.unwrap()), "{line}: {output:#?}");
        typed += 1;
    }
    assert!(typed >= 5, "{typed} commands");
}
