//! The sandbox's processes, read from outside through its own `/proc`, which lists exactly them.
//! The only text from a tool in these files is its name, which is skipped.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::confine::SHARED_USER_FILES_MAX;

/// Linux allows a process 65,536 supplementary groups, each a number of up to ten digits.
const STATUS_BYTES_MAX: usize = 1024 * 1024;

/// A snapshot of all processes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ProcSnapshot {
    /// Sum of anonymous pages: too high if processes share them after a fork, never too low.
    pub(super) anonymous_bytes: u64,
    /// User plus system time of each live process, microseconds, by pid.
    pub(super) own_cpu_us: BTreeMap<u32, u64>,
    /// The same for children that live processes have waited for, summed.
    pub(super) waited_cpu_us: u64,
    /// Processes and threads.
    pub(super) tasks: u64,
}

/// Takes a snapshot of every process below `proc_dir`. Processes that end meanwhile are omitted.
pub(super) fn snapshot(proc_dir: &OwnedFd) -> io::Result<ProcSnapshot> {
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let page_bytes = u64::try_from(rustix::param::page_size()).unwrap_or(4096);
    let mut sum = ProcSnapshot::default();
    // Listed first: a tree at its limit may have ended before every process was read.
    let pids = pids(proc_dir)?;
    for pid in &pids {
        if let Some(statm) = read_small(proc_dir, &format!("{pid}/statm"))? {
            sum.anonymous_bytes += private_pages(&statm) * page_bytes;
        }
        if let Some(stat) = read_small(proc_dir, &format!("{pid}/stat"))? {
            sum.own_cpu_us.insert(*pid, stat_fields(&stat, 14..=15) * tick_us);
            sum.waited_cpu_us += stat_fields(&stat, 16..=17) * tick_us;
            sum.tasks += stat_fields(&stat, 20..=20);
        }
    }
    sum.tasks = sum.tasks.max(u64::try_from(pids.len()).unwrap_or(u64::MAX));
    Ok(sum)
}

/// Returns every process except our own init.
fn pids(proc_dir: &OwnedFd) -> io::Result<Vec<u32>> {
    let mut pids = Vec::new();
    for entry in Dir::read_from(proc_dir)? {
        let pid = entry?.file_name().to_str().ok().and_then(|name| name.parse::<u32>().ok());
        pids.extend(pid.filter(|pid| *pid > 1));
    }
    Ok(pids)
}

/// Returns `None` if the process has ended.
fn read_small(dir: impl AsFd, path: &str) -> io::Result<Option<String>> {
    let file = match openat(dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::SRCH | Errno::ACCESS) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let mut bytes = [0; 4096];
    match rustix::io::read(&file, &mut bytes) {
        Ok(len) => Ok(Some(String::from_utf8_lossy(&bytes[..len]).into_owned())),
        Err(Errno::SRCH) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Reads a `status`, whose line of groups can be very long. Returns false if the process has ended.
fn read_status(proc_dir: &OwnedFd, pid: u32, status: &mut Vec<u8>) -> io::Result<bool> {
    status.clear();
    let path = format!("{pid}/status");
    let file = match openat(proc_dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::SRCH | Errno::ACCESS) => return Ok(false),
        Err(errno) => return Err(errno.into()),
    };
    let mut part = [0; 8192];
    loop {
        match rustix::io::read(&file, &mut part) {
            Ok(len) => {
                status.extend_from_slice(&part[..len]);
                // The kernel writes it at once, so that a partial read is the last.
                if len < part.len() || status.len() >= STATUS_BYTES_MAX {
                    return Ok(true);
                }
            }
            Err(Errno::SRCH) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Memory of all processes outside their resident pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NonresidentMemory {
    /// Anonymous pages that were swapped out; too high if processes share them.
    pub(super) swapped_bytes: u64,
    /// Page tables, and huge pages, for which the kernel reports no sharing.
    pub(super) fixed_bytes: u64,
}

/// Returns the memory that [`snapshot`] omits, because it takes several times as long to read.
pub(super) fn nonresident_memory(proc_dir: &OwnedFd) -> io::Result<NonresidentMemory> {
    let (mut sum, mut status) = (NonresidentMemory::default(), Vec::new());
    for pid in pids(proc_dir)? {
        if read_status(proc_dir, pid, &mut status)? {
            sum.add(&String::from_utf8_lossy(&status));
        }
    }
    Ok(sum)
}

/// More than 30,000 sockets.
const SOCKETS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Lists the sockets (`unix`, `tcp`, `tcp6`) of the tool's network; empty if the kernel has none of
/// the kind. A process of the tool is asked: without privileges, `hidepid` hides init.
pub(super) fn sockets(proc_dir: &OwnedFd, name: &str) -> io::Result<String> {
    for pid in pids(proc_dir)? {
        let path = format!("{pid}/net/{name}");
        match openat(proc_dir, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => return read_sockets(file.into(), name),
            // It has ended.
            Err(Errno::NOENT | Errno::SRCH) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(String::new())
}

fn read_sockets(file: File, name: &str) -> io::Result<String> {
    let mut list = Vec::new();
    file.take(SOCKETS_BYTES_MAX).read_to_end(&mut list)?;
    if u64::try_from(list.len()) == Ok(SOCKETS_BYTES_MAX) {
        return Err(io::Error::other(format!("net/{name}: too many sockets")));
    }
    Ok(String::from_utf8_lossy(&list).into_owned())
}

/// Kernel memory for an open file of any kind.
const FILE_BYTES: u64 = 1024;
/// The capacity of a pipe that was not enlarged.
const PIPE_BYTES: u64 = 64 * 1024;
/// The most descriptors that are read; further ones count as pipes.
const DESCRIPTORS_MAX: u64 = 4096;

/// Returns the most kernel memory that all descriptors can hold, without data queued in sockets.
pub(super) fn descriptors_bytes(proc_dir: &OwnedFd) -> io::Result<u64> {
    let (mut looked_at, mut beyond, mut pipes) = (0, 0, HashSet::new());
    for pid in pids(proc_dir)? {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = match openat(proc_dir, format!("{pid}/fd"), flags, Mode::empty()) {
            Ok(directory) if looked_at < DESCRIPTORS_MAX => directory,
            // A process that is undumpable, and so hides its descriptors.
            Ok(_) | Err(Errno::ACCESS) => {
                beyond += descriptors_of(proc_dir, pid)?;
                continue;
            }
            Err(Errno::NOENT | Errno::SRCH) => continue,
            Err(errno) => return Err(errno.into()),
        };
        for entry in Dir::read_from(&directory)? {
            let Ok(entry) = entry else { break };
            looked_at += 1;
            let Ok(target) = readlinkat(&directory, entry.file_name(), Vec::new()) else {
                continue;
            };
            if target.as_bytes().starts_with(b"pipe:") {
                pipes.insert(target);
            }
        }
    }
    let pipes = u64::try_from(pipes.len()).unwrap_or(u64::MAX).saturating_add(beyond);
    Ok((looked_at + beyond) * FILE_BYTES + pipes.saturating_mul(PIPE_BYTES))
}

/// Returns the number of a process's descriptors, or an upper bound if it is not reported.
fn descriptors_of(proc_dir: &OwnedFd, pid: u32) -> io::Result<u64> {
    // A process that is ending has no memory, and its descriptors cannot be read either.
    let statm = read_small(proc_dir, &format!("{pid}/statm"))?.unwrap_or_default();
    if statm.is_empty() || statm.starts_with("0 ") {
        return Ok(0);
    }
    match statat(proc_dir, format!("{pid}/fd"), AtFlags::empty()) {
        // The directory's size, since Linux 6.2.
        Ok(stat) if stat.st_size > 0 => Ok(stat.st_size.unsigned_abs()),
        Ok(_) => Ok(SHARED_USER_FILES_MAX),
        Err(Errno::NOENT | Errno::SRCH) => Ok(0),
        Err(errno) => Err(errno.into()),
    }
}

impl NonresidentMemory {
    /// Adds proc_pid_status(5). An ending process has none of these lines and no such memory.
    fn add(&mut self, status: &str) {
        for line in status.lines() {
            let mut words = line.split_ascii_whitespace();
            let sum = match words.next() {
                Some("VmSwap:") => &mut self.swapped_bytes,
                Some("VmPTE:" | "HugetlbPages:") => &mut self.fixed_bytes,
                _ => continue,
            };
            *sum += words.next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024;
        }
    }
}

/// proc_pid_statm(5): the second number is resident pages, the third those shared with files.
fn private_pages(statm: &str) -> u64 {
    let mut numbers = statm.split_ascii_whitespace().map(|n| n.parse::<u64>().unwrap_or(0));
    let resident = numbers.nth(1).unwrap_or(0);
    resident.saturating_sub(numbers.next().unwrap_or(0))
}

/// Sums fields of proc_pid_stat(5): 14 and 15 are own times, 16 and 17 those of waited-for
/// children, 20 is threads. Counting starts after the last parenthesis: a name may contain others.
fn stat_fields(stat: &str, fields: RangeInclusive<usize>) -> u64 {
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let numbers = after.split_ascii_whitespace().map(|n| n.parse::<u64>().unwrap_or(0));
    numbers.skip(fields.start() - 3).take(fields.end() - fields.start() + 1).sum()
}

/// Returns the anonymous memory of all processes, including swap, counting each shared page once.
/// It is exact, but too slow for every sample. Pages of the tmpfs are counted through their mounts.
pub(super) fn proportional_bytes(proc_dir: &OwnedFd) -> io::Result<u64> {
    let mut kib = 0;
    for pid in pids(proc_dir)? {
        let Some(rollup) = read_small(proc_dir, &format!("{pid}/smaps_rollup"))? else {
            continue;
        };
        for line in rollup.lines() {
            let mut words = line.split_ascii_whitespace();
            if matches!(words.next(), Some("Pss_Anon:" | "SwapPss:")) {
                kib += words.next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
            }
        }
    }
    Ok(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_numbers_changes_nothing() {
        let stat = "7 (a) 9 9 9 (b) S 1 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 5 0 99 1 1";
        assert_eq!((stat_fields(stat, 14..=17), stat_fields(stat, 20..=20)), (100, 5));
        assert_eq!(stat_fields(stat, 16..=17), 70);
        assert_eq!(stat_fields("garbage", 14..=17), 0);
    }

    #[test]
    fn swapped_pages_and_page_tables_and_huge_pages_are_memory() {
        let status = "Name:\tVmSwap: 9\\nVmPTE:\nVmRSS:\t    900 kB\nRssAnon:\t     300 kB\n\
                      RssFile:\t    600 kB\nVmPTE:\t      40 kB\n\
                      VmSwap:\t      5 kB\nHugetlbPages:\t 2048 kB\n";
        let mut sum = NonresidentMemory::default();
        for status in [status, "Name:\tgone\nState:\tZ (zombie)\n", ""] {
            sum.add(status);
            assert_eq!((sum.swapped_bytes, sum.fixed_bytes), (5 * 1024, 2088 * 1024));
        }
        assert_eq!(private_pages("1000 300 100 1 0 1 0"), 200);
        assert_eq!(private_pages(""), 0);
    }
}
