//! The resources of an idle launcher: its processes with their descriptors, namespaces and mounts,
//! its control groups and its memory. It must never change any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The most time that leftovers of a run may take to disappear.
const SETTLE_TIME_MAX: Duration = Duration::from_secs(30);
/// Memory that the allocator occasionally takes and keeps.
const MEMORY_KIB: u64 = 256;
/// Kernel objects that no sandbox may leave behind. The counts include the whole host's, so a leak
/// is an increase of a considerable fraction of one per run.
const OBJECTS: [&str; 5] =
    ["net_namespace", "pid_namespace", "uts_namespace", "mnt_cache", "nsproxy"];
/// Further objects, which the host uses too much for a verdict; they are only printed.
const REPORTED: [&str; 4] = ["filp", "task_struct", "cred_jar", "shmem_inode_cache"];

/// Processes whose descriptors we may not read.
const UNSEEN: &str = "unseen";

pub(crate) struct LauncherState {
    launcher: u32,
    counts: BTreeMap<String, usize>,
    memory_kib: u64,
    objects: BTreeMap<String, usize>,
}

/// The differences between two states of a launcher.
pub(crate) struct StateChanges {
    /// Processes, descriptors, mounts, namespaces and groups: each one is a leak.
    pub(crate) counts: Vec<String>,
    /// Memory and kernel objects: a leak grows again in the next runs.
    pub(crate) growth: Vec<String>,
}

impl StateChanges {
    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.growth.is_empty()
    }
}

impl LauncherState {
    /// Returns the state at rest: two consecutive equal snapshots.
    pub(crate) fn at_rest(launcher: u32) -> Self {
        let begun = Instant::now();
        let mut before = Self::now(launcher);
        loop {
            std::thread::sleep(Duration::from_millis(300));
            let now = Self::now(launcher);
            if now.counts == before.counts {
                assert_eq!(now.counts[UNSEEN], 0, "what cannot be seen cannot be compared");
                return now;
            }
            assert!(begun.elapsed() < SETTLE_TIME_MAX, "never at rest: {:?}", now.counts);
            before = now;
        }
    }

    fn now(launcher: u32) -> Self {
        let mut counts = BTreeMap::new();
        let mut count = |what: String, of: usize| *counts.entry(what).or_default() += of;
        let family = family(launcher);
        let mut namespaces = BTreeSet::new();
        for (pid, depth) in &family {
            let place = PathBuf::from(format!("/proc/{pid}"));
            count(format!("processes, generation {depth}"), 1);
            // A process that has just ended is missing from the next snapshot.
            let fds = fs::read_dir(place.join("fd"));
            count(UNSEEN.to_owned(), usize::from(fds.is_err()));
            for fd in fds.into_iter().flatten().flatten() {
                let target = fs::read_link(fd.path()).unwrap_or_default();
                count(format!("descriptors, generation {depth}: {}", kind(&target)), 1);
            }
            let mounts = fs::read_to_string(place.join("mountinfo")).unwrap_or_default();
            count(format!("mounts, generation {depth}"), mounts.lines().count());
            // The launcher itself is in the network namespace that it made last.
            if *depth > 0 {
                let links = fs::read_dir(place.join("ns")).into_iter().flatten().flatten();
                namespaces.extend(links.filter_map(|link| fs::read_link(link.path()).ok()));
            }
        }
        for namespace in namespaces {
            count(format!("namespaces: {}", kind(&namespace)), 1);
        }
        let pids: BTreeSet<_> = family.iter().map(|(pid, _)| *pid).collect();
        count("control groups".to_owned(), groups(Path::new("/sys/fs/cgroup"), &pids));
        Self { launcher, counts, memory_kib: memory_kib(launcher), objects: objects() }
    }

    /// Returns the changes over so many runs that do not disappear.
    pub(crate) fn changes_since(before: &Self, runs: usize) -> StateChanges {
        let begun = Instant::now();
        loop {
            let now = Self::at_rest(before.launcher);
            let changes =
                StateChanges { counts: before.changed(&now), growth: before.growth(&now, runs) };
            if changes.is_empty() || begun.elapsed() > SETTLE_TIME_MAX {
                now.print_changes(before);
                return changes;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    fn changed(&self, now: &Self) -> Vec<String> {
        let mut changed = Vec::new();
        for what in self.counts.keys().chain(now.counts.keys()).collect::<BTreeSet<_>>() {
            let of = |counts: &BTreeMap<String, usize>| counts.get(what).copied().unwrap_or(0);
            let (before, after) = (of(&self.counts), of(&now.counts));
            if before != after {
                changed.push(format!("{what}: {before}, then {after}"));
            }
        }
        changed
    }

    fn growth(&self, now: &Self, runs: usize) -> Vec<String> {
        let mut grown = Vec::new();
        if now.memory_kib > self.memory_kib + MEMORY_KIB {
            grown.push(format!("memory: {} KiB, then {}", self.memory_kib, now.memory_kib));
        }
        for what in OBJECTS {
            let (before, after) = (self.objects.get(what), now.objects.get(what));
            if let (Some(before), Some(after)) = (before, after)
                && *after > before + runs / 4
            {
                grown.push(format!("kernel objects, {what}: {before}, then {after}"));
            }
        }
        grown
    }

    fn print_changes(&self, before: &Self) {
        let descriptors = |of: &Self| -> usize {
            let mut all = of.counts.iter().filter(|(what, _)| what.starts_with("descriptors"));
            all.by_ref().map(|(_, count)| count).sum()
        };
        println!(
            "  the launcher's processes {}, descriptors {} (before: {}), memory {} KiB (before: {})",
            self.counts
                .iter()
                .filter(|it| it.0.starts_with("processes"))
                .map(|it| it.1)
                .sum::<usize>(),
            descriptors(self),
            descriptors(before),
            self.memory_kib,
            before.memory_kib,
        );
        let changes = self.objects.iter().filter_map(|(what, now)| {
            Some(format!("{what} {} → {now}", before.objects.get(what)?))
        });
        println!("  the kernel's objects: {}", changes.collect::<Vec<_>>().join(", "));
    }
}

/// Returns the launcher that this process has started.
pub(crate) fn launcher() -> u32 {
    let me = std::process::id();
    let mut ours = parents()
        .into_iter()
        .filter(|(_, (parent, name))| *parent == me && name.as_str() == "toolexec-launch");
    let (pid, _) = ours.next().unwrap();
    assert!(ours.next().is_none(), "more than one launcher");
    pid
}

/// Returns a process and its descendants, each with its distance.
fn family(first: u32) -> Vec<(u32, usize)> {
    let parents = parents();
    let mut family = vec![(first, 0)];
    let mut at = 0;
    while let Some((parent, depth)) = family.get(at).copied() {
        let children = parents.iter().filter(|(_, (of, _))| *of == parent);
        family.extend(children.map(|(pid, _)| (*pid, depth + 1)));
        at += 1;
    }
    family
}

/// Returns every process's parent and name.
fn parents() -> BTreeMap<u32, (u32, String)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // proc_pid_stat(5): the name is in parentheses; the parent is the second field after it.
        let (Some((before, rest)), Some(begin)) = (stat.rsplit_once(')'), stat.find('(')) else {
            continue;
        };
        if let Some(Ok(parent)) = rest.split_whitespace().nth(1).map(str::parse) {
            found.insert(pid, (parent, before[begin + 1..].to_owned()));
        }
    }
    found
}

/// Returns the target of a `/proc` link without the numbers that differ between processes.
fn kind(target: &Path) -> String {
    target.to_string_lossy().chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Counts the groups of these processes' sandboxes; those of ended ones are checked at the end.
fn groups(directory: &Path, family: &BTreeSet<u32>) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix("sandbox-")?.parse().ok());
        count += usize::from(owner.is_some_and(|pid| family.contains(&pid)));
        count += groups(&entry.path(), family);
    }
    count
}

/// Returns the launcher's own memory, without pages shared with its program file.
fn memory_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Returns counts of the whole host; only root may read them.
fn objects() -> BTreeMap<String, usize> {
    let slabs = fs::read_to_string("/proc/slabinfo").unwrap_or_default();
    let wanted = |name: &str| OBJECTS.contains(&name) || REPORTED.contains(&name);
    let lines = slabs.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, active) = (words.next()?, words.next()?);
        wanted(name).then_some((name.to_owned(), active.parse().ok()?))
    });
    lines.collect()
}
