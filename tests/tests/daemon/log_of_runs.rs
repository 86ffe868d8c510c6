//! The log of a host from the view of a user who runs requests. Without an entry in the log no run
//! starts. A request that used nothing up can run again.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, Service, ServiceConfig, list};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

#[test]
fn without_its_log_nothing_is_run_and_nothing_used_up() {
    let bench = Bench::new();
    bench.run(&bench.save(&good())).assert_code(0);
    let (log, aside) = (bench.state().join("log"), bench.state().join("aside"));
    fs::rename(&log, &aside).unwrap();
    let request = bench.save(&good());
    let before = list(&bench.results());
    let output = bench.run(&request);
    output.assert_code(3);
    output.assert_stderr(&["this log had 1 entries and is missing", "log.head"]);
    assert_eq!(list(&bench.results()), before, "something was told");
    assert!(!log.exists(), "another log was begun");
    fs::rename(&aside, &log).unwrap();
    Record::of(&bench.run(&request)).assert_outcome("ok");
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

#[test]
fn a_damaged_log_is_found_before_the_run() {
    let bench = Bench::new();
    bench.run(&bench.save(&good())).assert_code(0);
    let checkpoint = bench.state().join("log/checkpoint");
    let whole = fs::read(&checkpoint).unwrap();
    fs::write(&checkpoint, "").unwrap();
    let request = bench.save(&good());
    bench.run(&request).assert_code(3);
    fs::write(&checkpoint, whole).unwrap();
    Record::of(&bench.run(&request)).assert_outcome("ok");
}

/// Waits until a watched file was opened so often.
fn wait_for_opens(watch: &OwnedFd, count: u32) {
    let mut buffer = vec![MaybeUninit::uninit(); 1024];
    let mut reader = Reader::new(watch, &mut buffer);
    let (begun, mut opens) = (Instant::now(), 0);
    while opens < count {
        match reader.next() {
            Ok(_) => opens += 1,
            Err(Errno::AGAIN) => {
                assert!(begun.elapsed() < Duration::from_secs(20), "opened {opens} times");
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(errno) => panic!("inotify: {errno}"),
        }
    }
}

#[test]
fn a_log_that_another_appends_to_is_waited_for() {
    let bench = Bench::new();
    bench.run(&bench.save(&good())).assert_code(0);
    let lock = bench.state().join("log/.lock");
    let mut holder = Command::new("flock");
    // One process, which holds the lock until it is killed.
    holder.args(["-x", "-F"]).arg(&lock).args(["sh", "-c", "echo held; exec sleep 60"]);
    let Ok(mut holder) = holder.stdout(Stdio::piped()).spawn() else {
        return toolexec_tests::skip("a_log_that_another_appends_to_is_waited_for", "no flock");
    };
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, &lock, WatchFlags::OPEN).unwrap();
    let request = bench.save(&good());
    let mut command = bench.command("toolexec");
    command.arg("run").arg(&request.path).args(["--format", "json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let mut run = command.spawn().unwrap();
    // It opens the file again for each attempt to take the lock.
    wait_for_opens(&watch, 5);
    let ended = run.try_wait().unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    let output = CliOutput::from_output(&run.wait_with_output().unwrap(), begun.elapsed());
    assert_eq!(ended, None, "it did not wait: {output:#?}");
    Record::of(&output).assert_outcome("ok");
}

#[test]
fn a_daemon_does_not_begin_another_log_in_place_of_one_that_is_gone() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    let (log, aside) = (service.path("log"), service.path("aside"));
    fs::rename(&log, &aside).unwrap();
    let output = CliOutput::of(&mut service.command());
    output.assert_code(3);
    output.assert_stderr(&["and is missing", "log.head"]);
    fs::rename(&aside, &log).unwrap();
    service.spawn();
    service.verify().assert_code(0);
}
