//! A program is killed in the middle of its writes, many times. Every acknowledged change persists,
//! and nothing else is permitted.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use policies::permissions::{PermissionManager, ToolAuthorizationState as State};

use super::scene::{StoreTestDir, answer, calls, noon, open, source, state, tool};

const STORE: &str = "TOOLEXEC_TEST_KILLED_STORE";
const FROM: &str = "TOOLEXEC_TEST_KILLED_FROM";
const ROUNDS: u64 = 30;
const WORKFLOWS_A_ROUND: u64 = 1_000_000;

/// Requests and grants permissions, revokes those of every second workflow, and prints each
/// acknowledged change. It does nothing unless the test below starts it.
#[test]
fn writes_until_it_is_killed() {
    let (Ok(store), Ok(from)) = (std::env::var(STORE), std::env::var(FROM)) else { return };
    let mut store = open(Path::new(&store)).unwrap();
    let first: u64 = from.parse().unwrap();
    let mut out = std::io::stdout().lock();
    for number in first..first + WORKFLOWS_A_ROUND {
        let mine = source(number);
        let filed = store.add_request(&mine, &calls(&["a"]), &noon(), number).unwrap();
        store.set(&mine, &answer(&filed, &["a"], &[], None), &noon()).unwrap();
        writeln!(out, "\ngranted {number}").unwrap();
        if number % 2 == 1 {
            store.revoke(&mine, &tool("a"), None, &noon()).unwrap();
            writeln!(out, "\nrevoked {number}").unwrap();
        }
        if number % 50 == 0 {
            store.start_new_trail(&noon()).unwrap();
        }
    }
}

#[test]
fn what_was_acknowledged_outlives_a_kill_and_nothing_else_is_permitted() {
    let place = StoreTestDir::new();
    let (mut acknowledged, mut granted_last) = (0, None);
    for round in 0..ROUNDS {
        let first = round * WORKFLOWS_A_ROUND;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["permissions::killed::writes_until_it_is_killed", "--exact", "--nocapture"])
            .env(STORE, place.store())
            .env(FROM, first.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, granted_any) = channel();
        let reader = thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            let seen = lines.inspect(|line| {
                if line.starts_with("granted ") {
                    // The receiver is gone if the test has failed.
                    send.send(()).unwrap_or_default();
                }
            });
            seen.collect::<Vec<String>>()
        });
        // On a busy host it may be killed before it writes, but not in every second round.
        if round % 2 == 1 {
            granted_any.recv_timeout(Duration::from_secs(60)).unwrap();
        }
        thread::sleep(Duration::from_micros(30_000 + round * 2_711));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = reader.join().unwrap();
        let mut store = place.open();
        let (mut granted, mut revoked) = (Vec::new(), Vec::new());
        for line in &output {
            // The last line may be truncated.
            let number = |word: &str| line.strip_prefix(word).and_then(|it| it.parse::<u64>().ok());
            granted.extend(number("granted "));
            revoked.extend(number("revoked "));
        }
        for number in &granted {
            acknowledged += 1;
            let found = state(&mut store, &source(*number), "a");
            let expected = match revoked.contains(number) {
                true => State::Requestable,
                // The last one may have been revoked without an acknowledgement.
                false if number % 2 == 1 => continue,
                false => State::Approved,
            };
            assert_eq!(found, expected, "round {round}, workflow {number}");
        }
        granted_last = granted.last().copied().or(granted_last);
        // The workflow in progress may have a permission; later ones were never requested.
        let next = granted.last().map_or(first, |last| last + 1);
        assert_eq!(state(&mut store, &source(next + 1), "a"), State::Requestable);
        assert_eq!(state(&mut store, &source(next), "b"), State::Requestable);
    }
    assert!(acknowledged >= ROUNDS / 2, "only {acknowledged}: it was killed before it wrote");
    assert!(granted_last.is_some());
}
