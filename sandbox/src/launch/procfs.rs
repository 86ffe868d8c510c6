//! The cell's processes, seen through the cell's own `/proc`.
//!
//! The directory was opened inside the cell's pid namespace, so it lists exactly the cell's processes.
//! Read from outside, by descriptor; nothing a tool writes ends up in these files but its own name,
//! which is skipped.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;

/// What one look at all processes found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Pages that belong to one process alone, summed.
    pub(super) private_bytes: u64,
    /// User plus system time of live processes and of those they have waited for, microseconds.
    pub(super) cpu_us: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// Looks at every process below `proc_dir`. Processes that end meanwhile are left out.
pub(super) fn look(proc_dir: &OwnedFd) -> io::Result<Look> {
    let page_bytes = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let mut sum = Look::default();
    for entry in Dir::read_from(proc_dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        // Pid 1 is our own init.
        if name == "1" || !name.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        if let Some(statm) = read_small(proc_dir, &format!("{name}/statm"))? {
            sum.private_bytes += private_pages(&statm) * page_bytes;
        }
        if let Some(stat) = read_small(proc_dir, &format!("{name}/stat"))? {
            let (ticks, threads) = ticks_and_threads(&stat);
            sum.cpu_us += ticks * tick_us;
            sum.tasks += threads;
        }
    }
    Ok(sum)
}

/// `None` if the process has gone.
fn read_small(dir: impl AsFd, path: &str) -> io::Result<Option<String>> {
    let file = match openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::SRCH | Errno::ACCESS) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let mut bytes = [0; 1024];
    match rustix::io::read(&file, &mut bytes) {
        Ok(len) => Ok(Some(String::from_utf8_lossy(&bytes[..len]).into_owned())),
        Err(Errno::SRCH) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// proc_pid_statm(5): the second number is resident pages, the third those shared with files.
fn private_pages(statm: &str) -> u64 {
    let mut numbers = statm.split_ascii_whitespace().map(|n| n.parse::<u64>().unwrap_or(0));
    let resident = numbers.nth(1).unwrap_or(0);
    resident.saturating_sub(numbers.next().unwrap_or(0))
}

/// proc_pid_stat(5): fields 14 to 17 are times, 20 is threads. The name in field 2 may hold anything,
/// so counting starts after its last bracket.
fn ticks_and_threads(stat: &str) -> (u64, u64) {
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let number = |field: usize| {
        let text = after.split_ascii_whitespace().nth(field - 3);
        text.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
    };
    ((14..=17).map(number).sum(), number(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_numbers_changes_nothing() {
        let stat = "7 (a) 9 9 9 (b) S 1 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 5 0 99 1 1";
        assert_eq!(ticks_and_threads(stat), (100, 5));
        assert_eq!(ticks_and_threads("garbage"), (0, 0));
        assert_eq!(private_pages("1000 300 100 1 0 1 0"), 200);
        assert_eq!(private_pages(""), 0);
    }
}
