//! The log's appender, killed at each of its system calls: what was acknowledged must be there, what
//! was not may be, and the log goes on either way.

use std::fs;
use std::path::Path;
use std::process::Command;

use records::log::{Log, LogView, fsck};

use crate::fixture::{Scratch, skipped};
use crate::log::{entry, grown, log_key};

/// The directory of the log that the child appends to.
const CHILD: &str = "TOOLEXEC_TEST_CRASH_LOG";
const FIRST: u64 = 253;
const LAST: u64 = 258;
/// All by which anything gets a name, or is made durable, or goes away.
const SYSCALLS: [&str; 5] = ["fdatasync", "renameat", "fsync", "mkdirat", "unlinkat"];

/// Not a test of its own: what runs under `strace`. It leaves a file for each acknowledgement.
#[test]
fn child_appends_over_the_edge_of_a_tile() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let directory = Path::new(&directory);
    let mut log = Log::open_or_create(&directory.join("log"), log_key()).unwrap();
    for number in log.head().size()..LAST {
        log.append(&entry(number)).unwrap();
        fs::File::create(directory.join(format!("acknowledged-{number}"))).unwrap();
    }
}

#[test]
fn a_killed_appender_loses_nothing_that_it_acknowledged() {
    let test = "a_killed_appender_loses_nothing_that_it_acknowledged";
    let mut killed = 0;
    let before = Scratch::in_memory();
    drop(grown(before.path(), FIRST));
    for syscall in SYSCALLS {
        // Five hundred partial files go away alike.
        let step = if syscall == "unlinkat" { 97 } else { 1 };
        for when in (1..).step_by(step) {
            let scratch = Scratch::in_memory();
            copy(before.path(), &scratch.path().join("log"));
            match run_to(scratch.path(), syscall, when) {
                None => return skipped(test, "strace cannot run here"),
                Some(true) => break,
                Some(false) => killed += 1,
            }
            judge(scratch.path(), &format!("{syscall} {when}"));
        }
    }
    assert!(killed > 35, "only {killed} deaths: the child is not where it should be");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs the child and kills it at this call; whether it came to its end before. `None` where that
/// cannot be done.
fn run_to(directory: &Path, syscall: &str, when: u32) -> Option<bool> {
    let child = "crash::child_appends_over_the_edge_of_a_tile";
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={syscall}")])
        .args(["-e", &format!("inject={syscall}:signal=KILL:when={when}")])
        .arg(std::env::current_exe().unwrap())
        .args([child, "--exact", "--test-threads=1"])
        .env(CHILD, directory)
        .env_remove("RUST_BACKTRACE")
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        assert!(said.contains("1 passed"), "{said}");
        return Some(true);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("PTRACE") || stderr.contains("attach") {
        return None;
    }
    assert!(!said.contains("panicked"), "{said}");
    Some(false)
}

fn judge(directory: &Path, death: &str) {
    let log = directory.join("log");
    let acknowledged = |number: &u64| directory.join(format!("acknowledged-{number}")).exists();
    let least = (FIRST..LAST).filter(acknowledged).count();
    let least = FIRST + u64::try_from(least).unwrap();
    // A reader needs no recovery.
    let view = LogView::open(&log, log_key().public()).unwrap();
    let size = view.head().size();
    assert!((least..=least + 1).contains(&size), "{death}: {size}, acknowledged {least}");
    let before = view.head().clone();
    for index in [0, size - 1] {
        assert_eq!(view.entry(index).unwrap().0, entry(index), "{death}");
    }
    let after = grown(&log, LAST + 2);
    let view = LogView::open(&log, log_key().public()).unwrap();
    let proof = view.consistency(size, LAST + 2).unwrap();
    assert!(before.grew_into(after.head(), &proof), "{death}");
    let faults = fsck(&log, log_key().public()).unwrap();
    assert!(faults.is_empty(), "{death}: {faults:?}");
}
