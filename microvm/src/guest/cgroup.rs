//! The control group of the tool: it limits processes and memory, and counts what it refused. Files
//! in memory belong to the group too, so a tool cannot take the memory of pid 1 with them.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};

use nix::mount::{MsFlags, mount};

use super::failure::InitFailure;

const TOP: &str = "/cgroup";
const GROUP: &str = "/cgroup/tool";
/// The memory of pid 1 and of the archive on its way to the disk.
const RESERVE_BYTES: u64 = 16 << 20;

/// Returns the bytes of memory for the tool and its files in `/out`, `/tmp` and `/dev/shm`.
pub(super) fn tool_memory() -> Result<u64, InitFailure> {
    let facts = fs::read_to_string("/proc/meminfo").map_err(InitFailure::at("/proc/meminfo"))?;
    let available = count(&facts, "MemAvailable:");
    let available = available.ok_or_else(|| InitFailure::new("/proc/meminfo: no MemAvailable"))?;
    Ok(without_reserve(available.saturating_mul(1024)))
}

/// A guest that is smaller than two reserves gives half of its memory.
fn without_reserve(available: u64) -> u64 {
    available.saturating_sub(RESERVE_BYTES).max(available / 2)
}

/// Makes the group.
pub(super) fn limit(pids: u64, memory_bytes: u64) -> Result<(), InitFailure> {
    let flags = MsFlags::MS_NODEV | MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let mounted = mount(Some("cgroup2"), TOP, Some("cgroup2"), flags, None::<&str>);
    mounted.map_err(InitFailure::at("mount cgroup2"))?;
    put(&format!("{TOP}/cgroup.subtree_control"), "+pids +memory")
        .and_then(|()| fs::create_dir(GROUP))
        .and_then(|()| put(&format!("{GROUP}/pids.max"), &pids.to_string()))
        .and_then(|()| put(&format!("{GROUP}/memory.max"), &memory_bytes.to_string()))
        .map_err(InitFailure::at("limits of pids and memory"))
}

/// Moves this process into the group.
pub(super) fn enter() -> io::Result<()> {
    put(&format!("{GROUP}/cgroup.procs"), "0")
}

/// Returns how often the limit refused a process or thread.
pub(super) fn pids_refused() -> u64 {
    count_in(&format!("{GROUP}/pids.events"), "max")
}

/// Returns how many processes the kernel killed for want of memory, in the group or outside of it.
pub(super) fn oom_kills() -> u64 {
    count_in("/proc/vmstat", "oom_kill")
}

fn put(path: &str, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

fn count_in(path: &str, word: &str) -> u64 {
    count(&fs::read_to_string(path).unwrap_or_default(), word).unwrap_or_default()
}

/// Returns the number after the word that begins a line. A unit may follow it.
fn count(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut parts = line.split_whitespace();
        let is_named = parts.next() == Some(word);
        let number = parts.next()?;
        if is_named { number.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_have_a_unit() {
        let text = "MemTotal:  9 kB\nMemAvailable:     123 kB\nmax 4\noom_kill 5\noom_kill_x 6\n";
        assert_eq!(count(text, "MemAvailable:"), Some(123));
        assert_eq!(count(text, "max"), Some(4));
        assert_eq!(count(text, "oom_kill"), Some(5));
        assert_eq!(count(text, "Mem"), None);
        assert_eq!(count("max\nmax x\n", "max"), None);
        assert_eq!(count("", "max"), None);
    }

    #[test]
    fn pid_1_keeps_a_reserve() {
        assert_eq!(without_reserve(116 << 20), 100 << 20);
        assert_eq!(without_reserve(20 << 20), 10 << 20);
    }
}
