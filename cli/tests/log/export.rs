//! Export of a log: only new data is written, a different history never overwrites a copy, and a
//! crash at any moment leaves a copy that verifies and can be completed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use records::log::{LogView, fsck};

use crate::fixture::skip::skip;
use crate::fixture::{flip, replace};
use crate::test_log::{ORIGIN, TestLog, copy};

/// Returns every file of the copy, with its inode, which changes when the file is replaced.
fn files(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let inode = fs::metadata(&path).unwrap().ino();
            found.push((path, inode));
        }
    }
    found.sort();
    found
}

fn bytes(bench: &TestLog) -> (u64, u64) {
    let json = bench.on_state(&["export", "stick", "--format", "json"]).assert(0, &[]).json();
    (json["from"].as_u64().unwrap(), json["bytes"].as_u64().unwrap())
}

#[test]
fn second_export_writes_only_new_data() {
    let bench = TestLog::new(2000);
    fs::create_dir(bench.path("state/log/witness")).unwrap();
    let (from, first) = bytes(&bench);
    let whole: u64 =
        files(&bench.path("stick")).iter().map(|(it, _)| fs::metadata(it).unwrap().len()).sum();
    assert_eq!((from, first), (0, whole));
    assert!(fsck(&bench.path("stick"), bench.key("state").public()).unwrap().faults.is_empty());
    let before = files(&bench.path("stick"));
    assert_eq!(bytes(&bench), (2000, 0));
    assert_eq!(files(&bench.path("stick")), before);
    drop(bench.grown("state", 2010));
    let (from, second) = bytes(&bench);
    assert!(from == 2000 && second < first / 6, "{first} then {second} bytes");
    println!("export: {first} bytes for 2000 entries, {second} for 10 more");
    let after = files(&bench.path("stick"));
    // All except the checkpoint.
    assert_eq!(before.iter().filter(|it| after.contains(it)).count(), before.len() - 1);
    for size in [2048, 2049, 2600] {
        drop(bench.grown("state", size));
        bench.on_state(&["export", "stick"]).assert(0, &["of them new", "bytes written"]);
        assert!(fsck(&bench.path("stick"), bench.key("state").public()).unwrap().faults.is_empty());
    }
    // Partial tiles are removed once the full tile exists, and only log files are copied.
    assert!(!bench.path("stick/tile/entries/007.p").exists());
    let mut names: Vec<_> =
        fs::read_dir(bench.path("stick")).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".lock", "checkpoint", "tile"]);
    bench.save("host1.vkey", &bench.key("state").public().verifier_line());
    bench.log(&["head", "--log", "stick", "--log-key", "host1.vkey"]).assert(0, &[ORIGIN, "2600"]);
}

#[test]
fn different_history_never_overwrites_a_copy() {
    let bench = TestLog::new(300);
    bench.on_state(&["export", "stick"]).assert(0, &[]);
    let before = files(&bench.path("stick"));
    let here = bench.grown("state", 300).head().root().to_string();
    bench.rewrite("anew", 400);
    let there = LogView::open(&bench.path("anew/log"), bench.key("anew").public()).unwrap();
    let theirs = there.root(300).unwrap().to_string();
    let output = bench.log(&["export", "stick", "--state", "anew"]);
    output.assert(1, &["the copy has another history", &here, &theirs]);
    bench.rewrite("short", 200);
    bench.log(&["export", "stick", "--state", "short"]).assert(1, &["300 entries", "truncated"]);
    drop(bench.grown("stranger", 400));
    bench
        .log(&["export", "stick", "--state", "stranger"])
        .assert(1, &["not signed by the log key"]);
    assert_eq!(files(&bench.path("stick")), before);
}

#[test]
fn export_continues_across_a_key_change() {
    let bench = TestLog::new(300);
    bench.on_state(&["export", "stick"]).assert(0, &[]);
    let before = bench.key("state").public().verifier_line();
    // The same entries under another key.
    drop(bench.grown("later", 400));
    bench.log(&["export", "stick", "--state", "later"]).assert(1, &["not signed by the log key"]);
    let now = bench.key("later").public().verifier_line();
    bench.save("keys", &format!("# newest first\n{now}\n{before}\n"));
    let place = ["--log", "later/log", "--log-key", "keys"];
    bench.log(&[&["export", "stick"][..], &place].concat()).assert(0, &["100 of them new"]);
    assert!(fsck(&bench.path("stick"), bench.key("later").public()).unwrap().faults.is_empty());
    let note = bench.on_state(&["head", "--note"]).out;
    bench.save("seen", &note);
    bench.log(&[&["consistency", "seen"][..], &place].concat()).assert(0, &["consistent:"]);
}

/// Flips a bit in the last entry of a bundle. A second call restores it.
fn flip_last_bit(bundle: &Path) {
    let mut bytes = fs::read(bundle).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    replace(bundle, &bytes);
}

#[test]
fn changed_log_is_not_exported() {
    let bench = TestLog::new(600);
    bench.on_state(&["export", "stick"]).assert(0, &[]);
    drop(bench.grown("state", 900));
    let entries = bench.path("state/log/tile/entries/002");
    flip_last_bit(&entries);
    bench.on_state(&["export", "stick"]).assert(1, &["its entries do not match"]);
    let key = bench.key("state").public().clone();
    assert_eq!(LogView::open(&bench.path("stick"), &key).unwrap().head().size(), 600);
    flip_last_bit(&entries);
    bench.on_state(&["export", "stick"]).assert(0, &["900 entries, 300 of them new"]);
    assert!(fsck(&bench.path("stick"), &key).unwrap().faults.is_empty());
    // Hashes are computed from the entries, so a changed tile beyond the copy's size is not copied.
    drop(bench.grown("state", 1300));
    flip(&bench.path("state/log/tile/0/004"));
    let output = bench.on_state(&["export", "stick"]);
    assert!(output.code == 1 || fsck(&bench.path("stick"), &key).unwrap().faults.is_empty());
}

/// The system calls that create, rename, sync or delete files.
const SYSCALLS: [&str; 6] = ["renameat", "syncfs", "fdatasync", "fsync", "mkdirat", "unlinkat"];

#[test]
fn killed_export_verifies_and_can_be_completed() {
    let test = "killed_export_verifies_and_can_be_completed";
    let bench = TestLog::new(700);
    bench.on_state(&["export", "base"]).assert(0, &[]);
    drop(bench.grown("state", 1100));
    let key = bench.key("state").public().clone();
    let mut killed = 0;
    for from in ["base", "nothing"] {
        for syscall in SYSCALLS {
            for when in 1.. {
                fs::remove_dir_all(bench.path("stick")).ok();
                if from == "base" {
                    copy(&bench.path(from), &bench.path("stick"));
                }
                match run_to(&bench, syscall, when) {
                    None => return skip(test, "strace cannot run here"),
                    Some(true) => break,
                    Some(false) => killed += 1,
                }
                let death = format!("{from}, {syscall} {when}");
                match LogView::open(&bench.path("stick"), &key) {
                    Ok(view) => {
                        assert!([700, 1100].contains(&view.head().size()), "{death}");
                        let faults = fsck(&bench.path("stick"), &key).unwrap().faults;
                        assert!(faults.is_empty(), "{death}: {faults:?}");
                    }
                    Err(error) => assert_eq!(from, "nothing", "{death}: {error}"),
                }
                bench.on_state(&["export", "stick"]).assert(0, &["1100 entries"]);
                let faults = fsck(&bench.path("stick"), &key).unwrap().faults;
                assert!(faults.is_empty(), "{death}: {faults:?}");
            }
        }
    }
    assert!(killed > 30, "only {killed} deaths: the program is not where it should be");
}

/// Kills an export at this call. Returns whether it finished before, or `None` without strace.
fn run_to(bench: &TestLog, syscall: &str, when: u32) -> Option<bool> {
    let inner = bench.command(&["export", "stick", "--state", "state"]);
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={syscall}")])
        .args(["-e", &format!("inject={syscall}:signal=KILL:when={when}")])
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(bench.path(""))
        .output()
        .ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("PTRACE") || stderr.contains("attach") {
        return None;
    }
    assert!(stderr.is_empty(), "{stderr}");
    Some(output.status.success())
}
