//! Kills the log's writer at each of its system calls, in appends, in batches, and while rolling
//! forward. Acknowledged entries must exist, others may, and the log must continue in either case.

use std::fs;
use std::path::Path;
use std::process::Command;

use records::log::{Log, LogView, fsck};

use crate::fixture::RecordScratch;
use crate::fixture::skip::skip;
use crate::log::{entry, grown, log_key, opened};

/// The directory of the log that the child appends to.
const CHILD: &str = "TOOLEXEC_TEST_CRASH_LOG";
const FIRST: u64 = 253;
const LAST: u64 = 258;
/// The system calls that name a file, make it durable, or delete it.
const SYSCALLS: [&str; 5] = ["fdatasync", "renameat", "fsync", "mkdirat", "unlinkat"];

/// Not a separate test: the code that runs under `strace`. Leaves a file for each acknowledgement.
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
    let before = RecordScratch::in_memory();
    drop(grown(before.path(), FIRST));
    for syscall in SYSCALLS {
        // Five hundred partial files are deleted alike.
        let step = if syscall == "unlinkat" { 97 } else { 1 };
        for when in (1..).step_by(step) {
            let scratch = RecordScratch::in_memory();
            copy(before.path(), &scratch.path().join("log"));
            match run_to("child_appends_over_the_edge_of_a_tile", scratch.path(), syscall, when) {
                None => return skip(test, "strace cannot run here"),
                Some(true) => break,
                Some(false) => killed += 1,
            }
            judge(scratch.path(), &format!("{syscall} {when}"));
        }
    }
    assert!(killed > 35, "only {killed} deaths: the child is not where it should be");
}

/// Not a separate test, as above. A batch is acknowledged before it is adopted.
#[test]
fn child_appends_batches_over_the_edge_of_a_tile() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let directory = Path::new(&directory);
    let mut log = Log::open_or_create(&directory.join("log"), log_key()).unwrap();
    for batch in [253..255, 255..258, 258..300] {
        let entries: Vec<Vec<u8>> = batch.clone().map(entry).collect();
        let prepared = log.prepare(&entries).unwrap();
        rustix::fs::syncfs(fs::File::open(log.directory()).unwrap()).unwrap();
        fs::File::create(directory.join(format!("acknowledged-{}", batch.end))).unwrap();
        log.adopt(prepared).unwrap();
    }
}

#[test]
fn a_killed_appender_of_batches_loses_none_that_was_durable() {
    let test = "a_killed_appender_of_batches_loses_none_that_was_durable";
    let (whole, torn) = (RecordScratch::in_memory(), RecordScratch::in_memory());
    drop(grown(whole.path(), FIRST));
    copy(whole.path(), torn.path());
    // A log that rolls forward first, to a batch that was not adopted.
    let batch: Vec<Vec<u8>> = (FIRST..255).map(entry).collect();
    drop(opened(torn.path()).unwrap().prepare(&batch).unwrap());
    let mut killed = 0;
    for (before, most) in [(&whole, FIRST), (&torn, 255)] {
        for syscall in SYSCALLS.iter().chain(&["syncfs"]) {
            let step = if *syscall == "unlinkat" { 53 } else { 1 };
            for when in (1..).step_by(step) {
                let scratch = RecordScratch::in_memory();
                copy(before.path(), &scratch.path().join("log"));
                let child = "child_appends_batches_over_the_edge_of_a_tile";
                match run_to(child, scratch.path(), syscall, when) {
                    None => return skip(test, "strace cannot run here"),
                    Some(true) => break,
                    Some(false) => killed += 1,
                }
                judge_batches(scratch.path(), most, &format!("{syscall} {when}"));
            }
        }
    }
    assert!(killed > 40, "only {killed} deaths: the child is not where it should be");
}

fn judge_batches(directory: &Path, least: u64, death: &str) {
    let log = directory.join("log");
    let acknowledged = |end: &u64| directory.join(format!("acknowledged-{end}")).exists();
    let least = [255, 258, 300].into_iter().filter(acknowledged).max().unwrap_or(least);
    assert!(fsck(&log, log_key().public()).unwrap().faults.is_empty(), "{death}");
    let size = opened(&log).unwrap().head().size();
    assert!(size >= least && [FIRST, 255, 258, 300].contains(&size), "{death}: {size}, {least}");
    let after = grown(&log, 301);
    let view = LogView::open(&log, after.key()).unwrap();
    assert!((0..301).all(|index| view.entry(index).unwrap().0 == entry(index)), "{death}");
    assert!(fsck(&log, log_key().public()).unwrap().faults.is_empty(), "{death}");
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

/// Runs the child and kills it at this call. Returns whether the child ended before, or `None` if
/// it cannot be traced.
fn run_to(child: &str, directory: &Path, syscall: &str, when: u32) -> Option<bool> {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={syscall}")])
        .args(["-e", &format!("inject={syscall}:signal=KILL:when={when}")])
        .arg(std::env::current_exe().unwrap())
        .args([&format!("crash::{child}"), "--exact", "--test-threads=1"])
        .env(CHILD, directory)
        .env_remove("RUST_BACKTRACE")
        .output()
        .ok()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        assert!(stdout.contains("1 passed"), "{stdout}");
        return Some(true);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("PTRACE") || stderr.contains("attach") {
        return None;
    }
    assert!(!stdout.contains("panicked"), "{stdout}");
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
    let faults = fsck(&log, log_key().public()).unwrap().faults;
    assert!(faults.is_empty(), "{death}: {faults:?}");
}
