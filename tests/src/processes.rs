//! Finds processes by an argument that only one test uses.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process(pub u32);

fn processes_with(word: &str) -> Vec<Process> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let name = entry.unwrap().file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()) {
            found.push(Process(pid));
        }
    }
    found
}

/// Waits until a process has this argument, and returns all that have it.
///
/// # Panics
/// Panics if no process has it after 30 seconds.
#[must_use]
#[track_caller]
pub fn wait_for_process(word: &str) -> Vec<Process> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        let found = processes_with(word);
        if !found.is_empty() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no process has {word} among its arguments");
}

/// Waits until no process has this argument.
///
/// # Panics
/// Panics if a process still has it after 30 seconds.
#[track_caller]
pub fn wait_for_no_process(word: &str) {
    let begun = Instant::now();
    while !processes_with(word).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?} lives on", processes_with(word));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the parent of a process.
///
/// # Panics
/// Panics if the process does not exist.
#[must_use]
#[track_caller]
pub fn parent_of(process: Process) -> Process {
    parent(process).unwrap_or_else(|| panic!("{process:?} is gone"))
}

/// Returns true if a process is a child of another. A process that does not exist is not.
#[must_use]
pub fn is_child_of(process: Process, other: Process) -> bool {
    parent(process) == Some(other)
}

fn parent(process: Process) -> Option<Process> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.0)).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok().map(Process)
}

/// Sends a signal such as `KILL` or `TERM`.
pub fn kill(signal: &str, process: Process) {
    let sent = Command::new("kill").args(["-s", signal, &process.0.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Kills a process, unless it has ended already, for example because another was killed.
pub fn kill_if_running(process: Process) {
    let pid = process.0.to_string();
    let output = Command::new("kill").args(["-s", "KILL", &pid]).output().unwrap();
    assert!(output.status.success() || parent(process).is_none(), "{output:?}");
}
