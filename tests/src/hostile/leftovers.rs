//! Compares the host before and after a run, to find everything that a run could leave behind.
//! Other work may run beside the suite, so new objects are checked again until they disappear; a
//! leftover of a run never does. Must never remove anything. Must use only the standard library:
//! the leak test of `sandbox` includes this file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::slowdown::time_factor;

const NAMESPACES: [&str; 7] = ["pid", "net", "user", "mnt", "ipc", "uts", "cgroup"];
/// New objects may take this long to disappear.
const DISAPPEAR_WITHIN: Duration = Duration::from_secs(180);
/// Directories in which a run could leave files.
const LEFTOVER_DIRS: [&str; 6] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/opt", "/run"];

/// One line for each object that a run could leave.
pub struct HostLeftovers {
    lines: BTreeSet<String>,
    /// Files of other running tests. The process that has a file's number may be an unrelated one.
    /// Then a killed test left the file, and the file stays when that process ends.
    files_of_other_tests: BTreeSet<String>,
    network_namespaces: Option<usize>,
}

impl HostLeftovers {
    #[must_use]
    pub fn now() -> Self {
        let (mut lines, mut others) = (BTreeSet::new(), BTreeSet::new());
        processes(&mut lines);
        mounts(&mut lines);
        control_groups(Path::new("/sys/fs/cgroup"), &mut lines);
        for place in LEFTOVER_DIRS {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let line = format!("file {}", entry.path().display());
                // Files of a tool or of the ordinary user, and files with our name.
                if is_of_tool_user(&entry.path())
                    || !is_of_other_test(&entry.file_name().to_string_lossy())
                {
                    lines.insert(line);
                } else {
                    others.insert(line);
                }
            }
        }
        for table in ["shm", "sem", "msg"] {
            let text = fs::read_to_string(format!("/proc/sysvipc/{table}")).unwrap_or_default();
            let keys = text.lines().skip(1).map(|line| line.split_whitespace().take(2));
            lines.extend(keys.map(|key| format!("{table} {}", key.collect::<Vec<_>>().join(" "))));
        }
        for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            // The descriptor that reads this directory is not counted.
            if !target.ends_with("fd") {
                lines.insert(format!("descriptor {:?} {}", entry.file_name(), target.display()));
            }
        }
        Self { lines, files_of_other_tests: others, network_namespaces: network_namespaces() }
    }

    /// Returns the objects that are new since `before` and do not disappear.
    #[must_use]
    pub fn left_since(before: &Self) -> Vec<String> {
        let begun = Instant::now();
        let mut left = before.missing();
        while !left.is_empty() && begun.elapsed() < DISAPPEAR_WITHIN * time_factor() {
            std::thread::sleep(Duration::from_millis(200));
            let still: BTreeSet<_> = before.missing().into_iter().collect();
            left.retain(|line| still.contains(line));
        }
        left
    }

    /// Returns the objects of now that are not in this list.
    fn missing(&self) -> Vec<String> {
        let now = Self::now();
        let new = now
            .lines
            .difference(&self.lines)
            .filter(|line| !self.files_of_other_tests.contains(*line));
        let mut new: Vec<_> = new.cloned().collect();
        // The kernel also counts namespaces without a process and frees them later, in batches. A
        // few are not a leak: one for each sandbox would be hundreds.
        if let (Some(before), Some(now)) = (self.network_namespaces, now.network_namespaces)
            && now > before + 20
        {
            new.push("network namespaces".to_owned());
        }
        new
    }
}

/// Lists the processes that could belong to a run: children of this test, orphans with our name,
/// or in other namespaces unless another running test started them. Name and start time identify a
/// process. Namespaces are not listed: a process or a mount keeps each alive, and the kernel reuses
/// its number.
fn processes(lines: &mut BTreeSet<String>) {
    let here = namespaces_of(Path::new("/proc/self"));
    let me = std::process::id().to_string();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<_> = rest.split_whitespace().collect();
        // proc_pid_stat(5): fields 4 and 22. The first element of `fields` is field 3.
        let (parent, began) = (fields[1], fields[19]);
        let theirs = namespaces_of(&entry.path());
        // The links are empty without permission, or if the process has just ended.
        let same = theirs == here || theirs.iter().all(|link| link.as_os_str().is_empty());
        let orphan = parent == "1" && runs_our_program(&entry.path());
        if same && !orphan && parent != me {
            continue;
        }
        if !same && is_of_running_test(&entry.file_name().to_string_lossy(), &me, &here) {
            continue;
        }
        let uid = fs::metadata(entry.path()).map_or(0, |it| it.uid());
        lines.insert(format!("process {name}) of {uid} since {began}"));
    }
}

fn namespaces_of(process: &Path) -> [PathBuf; 7] {
    NAMESPACES.map(|kind| fs::read_link(process.join("ns").join(kind)).unwrap_or_default())
}

/// Returns true if a process belongs to another test that is still running: a living ancestor in
/// our namespaces, which is not above this test as well, runs a program that is not ours.
fn is_of_running_test(process: &str, me: &str, here: &[PathBuf; 7]) -> bool {
    let above = ancestors(process);
    if above.iter().any(|pid| pid == me) {
        return false;
    }
    // Orphans pass to the first process, or to one above this test.
    let above_me = ancestors(me);
    let below = above.iter().take_while(|pid| *pid != "1" && !above_me.contains(pid));
    let mut places = below.map(|pid| Path::new("/proc").join(pid));
    places.any(|place| {
        let exe = fs::read_link(place.join("exe")).unwrap_or_default();
        // The path of a test program may contain the name of ours, its own name does not.
        let name = exe.file_name().unwrap_or_default().to_string_lossy();
        namespaces_of(&place) == *here && !name.contains("toolexec")
    })
}

/// Returns the pids of the ancestors of a process, its parent first.
fn ancestors(process: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    loop {
        let last = found.last().map_or(process, String::as_str);
        let stat = fs::read_to_string(format!("/proc/{last}/stat")).unwrap_or_default();
        // proc_pid_stat(5): field 4, the second one after the name.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        match parent {
            None | Some("0") => return found,
            Some(parent) => found.push(parent.to_owned()),
        }
    }
}

/// Returns true if a process runs one of our programs. Arguments and environment do not count,
/// because a developer's shell has our name there.
fn runs_our_program(process: &Path) -> bool {
    let comm = fs::read(process.join("comm")).unwrap_or_default();
    let exe = fs::read_link(process.join("exe")).unwrap_or_default();
    [comm.as_slice(), exe.as_os_str().as_encoded_bytes()]
        .iter()
        .any(|text| text.windows(8).any(|word| word == b"toolexec"))
}

fn is_of_other_test(name: &str) -> bool {
    let digits = name.split('-').filter(|part| part.parse::<u32>().is_ok());
    let mut others = digits.filter(|pid| *pid != std::process::id().to_string());
    !name.contains("toolexec") || others.any(|pid| Path::new("/proc").join(pid).exists())
}

/// Returns true if a file belongs to a user of tools or to the ordinary user of the tests.
fn is_of_tool_user(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.uid() > 60000)
}

fn mounts(lines: &mut BTreeSet<String>) {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    lines.extend(text.lines().map(|line| format!("mount {line}")));
}

/// Lists the control groups of sandboxes and tools. Groups of other services come and go.
fn control_groups(directory: &Path, lines: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // Links between controllers are not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            if path.display().to_string().contains("toolexec") || is_of_tool_user(&path) {
                lines.insert(format!("group {}", path.display()));
            }
            control_groups(&path, lines);
        }
    }
}

/// Returns the number of network namespaces from the slab statistics, which only root can read.
fn network_namespaces() -> Option<usize> {
    let slabs = fs::read_to_string("/proc/slabinfo").ok()?;
    let line = slabs.lines().find(|line| line.starts_with("net_namespace "))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
