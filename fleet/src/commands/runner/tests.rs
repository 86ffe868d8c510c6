//! Tests of the runner with programs of the shell.
#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::commands::FleetAct;

/// A directory with a program, removed when dropped.
struct FakeProgram(PathBuf);

impl FakeProgram {
    fn new(script: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-fleet-runner-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let fake = Self(directory);
        fs::write(fake.path(), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(fake.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fake
    }

    fn path(&self) -> PathBuf {
        self.0.join("toolexec-fleet")
    }

    /// Starts the program. A child of another test may hold the file open for a moment.
    fn start(&self, command: &FleetCommand) -> FleetProgram {
        loop {
            match FleetProgram::start(&self.path(), command) {
                Err(CommandError::Program { error, .. })
                    if error.kind() == ErrorKind::ExecutableFileBusy =>
                {
                    thread::sleep(Duration::from_millis(10));
                }
                started => return started.unwrap(),
            }
        }
    }
}

impl Drop for FakeProgram {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn command(act: FleetAct) -> FleetCommand {
    FleetCommand {
        database: "postgres:///toolexec".to_owned(),
        password_file: None,
        ca_file: None,
        store: None,
        act,
    }
}

#[track_caller]
fn assert_fails(script: &str, expected: &str) {
    let fake = FakeProgram::new(script);
    let error = fake.start(&command(FleetAct::Status)).next_answer().unwrap_err().to_string();
    assert!(error.contains(expected) && error.contains("; help: "), "{error}");
}

#[test]
fn the_command_is_one_line_and_answers_are_read_in_turn() {
    let answers = r#"{"lost":{"requests":["TR-1"],"released":2}}"#;
    let script = format!(
        "read -r line; printf '%s' \"$1 $line\" > \"$(dirname \"$0\")/seen\"\n\
         echo '\"timed_out\"'; echo '{answers}'"
    );
    let fake = FakeProgram::new(&script);
    let sent = command(FleetAct::Show { request: "TR-1".to_owned() });
    let mut program = fake.start(&sent);
    assert_eq!(program.next_answer().unwrap(), Some(FleetAnswer::TimedOut));
    let lost = FleetAnswer::Lost { requests: vec!["TR-1".to_owned()], released: 2 };
    assert_eq!(program.next_answer().unwrap(), Some(lost));
    assert_eq!(program.next_answer().unwrap(), None);
    let seen = fs::read_to_string(fake.0.join("seen")).unwrap();
    let (word, json) = seen.split_once(' ').unwrap();
    assert_eq!(word, "command");
    assert_eq!(serde_json::from_str::<FleetCommand>(json).unwrap(), sent);
}

#[test]
fn a_failure_is_an_error_with_its_message() {
    let failed = r#"{"failed":{"message":"database: away; help: wait"}}"#;
    let fake = FakeProgram::new(&format!("echo '{failed}'"));
    match fake.start(&command(FleetAct::Status)).next_answer().unwrap_err() {
        CommandError::Failed(message) => assert_eq!(message, "database: away; help: wait"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_an_answer_is_an_error() {
    assert_fails("exit 3", "ended with exit status: 3");
    assert_fails("kill -9 $$", "signal: 9");
    assert_fails("echo", "sent an empty line");
    assert_fails("echo nonsense", "cannot be read");
    assert_fails("echo '{\"started\":{}}'", "cannot be read");
    assert_fails("printf '\"timed_out\"'", "has no end");
    assert_fails("head -c 9000000 /dev/zero", "too long or has no end");
    let missing = FleetProgram::start(Path::new("/nonexistent"), &command(FleetAct::Status));
    assert!(missing.unwrap_err().to_string().contains("; help: install"));
}

#[test]
fn a_long_command_is_refused_before_a_start() {
    let requests = vec!["TR-".repeat(1000); 2000];
    let wait = command(FleetAct::Wait { requests, timeout_sec: None });
    let error = FleetProgram::start(Path::new("/nonexistent"), &wait).unwrap_err();
    assert!(matches!(error, CommandError::Command(_)), "{error}");
}

#[test]
fn the_program_ends_with_its_handle() {
    let fake = FakeProgram::new(
        "echo $$ > \"$(dirname \"$0\")/pid\"; echo '\"timed_out\"'; exec sleep 60",
    );
    let mut program = fake.start(&command(FleetAct::Status));
    assert_eq!(program.next_answer().unwrap(), Some(FleetAnswer::TimedOut));
    let pid = fs::read_to_string(fake.0.join("pid")).unwrap();
    let begun = Instant::now();
    drop(program);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "{pid}");
}

#[test]
fn the_program_sees_the_end_of_its_input_when_the_handle_is_gone() {
    let fake = FakeProgram::new(
        "read -r line; echo '\"timed_out\"'; read -r more || echo '\"timed_out\"'",
    );
    let mut program = fake.start(&command(FleetAct::Status));
    assert_eq!(program.next_answer().unwrap(), Some(FleetAnswer::TimedOut));
    program.stdin = None;
    assert_eq!(program.next_answer().unwrap(), Some(FleetAnswer::TimedOut));
    assert_eq!(program.next_answer().unwrap(), None);
}
