//! Removes groups, also those that a killed launcher left behind. It must never kill a process: a
//! pid that does not exist here may exist in another pid namespace. Such a group contains processes
//! and cannot be removed.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::process::ProcessState;

/// Removes groups of ended launchers beside `directory`; call it before creating our own group.
pub(super) fn sweep_beside(directory: &Path) {
    let Some(Ok(beside)) = directory.parent().map(fs::read_dir) else { return };
    for entry in beside.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let launcher = name.strip_prefix("sandbox-").and_then(|rest| rest.split('-').next());
        let Some(Ok(pid)) = launcher.map(str::parse::<u32>) else { continue };
        // Our own group does not exist yet: in a container, a killed launcher may have had our pid.
        let gone = pid == std::process::id() || !is_alive(pid);
        // A group with processes is EBUSY, possibly until they have ended. Processes stuck in the
        // kernel do not end; their launcher has reported them.
        if gone
            && !holds_stuck(&entry.path())
            && let Err(error) = remove(&entry.path())
            // A group of another user is not ours to remove.
            && error.kind() != io::ErrorKind::PermissionDenied
        {
            eprintln!("toolexec-launch: {}: cannot be removed: {error}", entry.path().display());
        }
    }
}

/// Returns whether a process in this group is stuck and cannot even exit.
fn holds_stuck(group: &Path) -> bool {
    let inside = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let pids = inside.lines().filter_map(|pid| pid.parse().ok());
    pids.filter_map(ProcessState::read).any(|process| process.is_stuck())
}

/// Returns whether this process is alive: one that waits to be reaped is not.
fn is_alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // proc_pid_stat(5): the state follows the name, which ends with a parenthesis.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// Removes a group whose tree is dead. The kernel may need a moment to release its last tasks.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    let mut removed = fs::remove_dir(directory);
    for _ in 0..50 {
        match &removed {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(Duration::from_millis(2));
                removed = fs::remove_dir(directory);
            }
            _ => break,
        }
    }
    match removed {
        // A read-only file system also returns an error for a directory that does not exist.
        Err(error) if directory.symlink_metadata().is_ok() => Err(error),
        _ => Ok(()),
    }
}
