//! The control group of the tool: it limits processes, and counts those that it refused.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};

use nix::mount::{MsFlags, mount};

use super::failure::InitFailure;

const TOP: &str = "/cgroup";
const GROUP: &str = "/cgroup/tool";

/// Makes the group.
pub(super) fn limit_pids(pids: u64) -> Result<(), InitFailure> {
    let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let mounted = mount(Some("cgroup2"), TOP, Some("cgroup2"), flags, None::<&str>);
    mounted.map_err(InitFailure::at("mount cgroup2"))?;
    put(&format!("{TOP}/cgroup.subtree_control"), "+pids")
        .and_then(|()| fs::create_dir(GROUP))
        .and_then(|()| put(&format!("{GROUP}/pids.max"), &pids.to_string()))
        .map_err(InitFailure::at("limit of pids"))
}

/// Moves this process into the group.
pub(super) fn enter() -> io::Result<()> {
    put(&format!("{GROUP}/cgroup.procs"), "0")
}

/// Returns how often the limit refused a process or thread.
pub(super) fn pids_refused() -> u64 {
    count(&format!("{GROUP}/pids.events"), "max")
}

/// Returns how many processes the kernel killed for want of memory.
pub(super) fn oom_kills() -> u64 {
    count("/proc/vmstat", "oom_kill")
}

fn put(path: &str, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Reads the number after a word of a file.
fn count(path: &str, word: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let values = text.lines().filter_map(|line| line.split_once(' '));
    let mut values = values.filter(|(name, _)| *name == word);
    values.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or_default()
}
