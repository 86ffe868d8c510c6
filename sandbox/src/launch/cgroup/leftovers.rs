//! Groups that a killed launcher left, and the removal of groups.
//!
//! Must never kill anything: whose pid does not live here may live in another pid namespace, and its group
//! then has processes in it and cannot be removed.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::process::ProcessState;

/// Removes groups of launchers that are no more, beside `directory`: one that was killed could not. Only
/// before this process makes its own.
pub(super) fn sweep_beside(directory: &Path) {
    let Some(Ok(beside)) = directory.parent().map(fs::read_dir) else { return };
    for entry in beside.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let launcher = name.strip_prefix("cell-").and_then(|rest| rest.split('-').next());
        let Some(Ok(pid)) = launcher.map(str::parse::<u32>) else { continue };
        // Ours is not made yet: in a container, whoever was killed may have had the same pid as we have.
        let gone = pid == std::process::id() || !lives(pid);
        // One with processes in it is EBUSY; they may be on their way out. Those that are stuck in the kernel
        // are not, and whoever left them has said so.
        if gone
            && !holds_stuck(&entry.path())
            && let Err(error) = remove(&entry.path())
            // Another user's is that user's to remove.
            && error.kind() != io::ErrorKind::PermissionDenied
        {
            eprintln!("toolexec-launch: {}: {error}", entry.path().display());
        }
    }
}

/// Whether a process in this group can do nothing by itself, not even end.
fn holds_stuck(group: &Path) -> bool {
    let inside = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let pids = inside.lines().filter_map(|pid| pid.parse().ok());
    pids.filter_map(ProcessState::read).any(|process| process.is_stuck())
}

/// Whether this process can still do anything: one that waits to be reaped cannot.
fn lives(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // proc_pid_stat(5): the state follows the name, which may hold anything but ends with a bracket.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// The tree is dead when this happens, but the kernel may need a moment to let its last tasks go.
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
        // A read-only file system says so of what was never made, too.
        Err(error) if directory.symlink_metadata().is_ok() => Err(error),
        _ => Ok(()),
    }
}
