//! What a host has of everything that a run could leave behind, before and after.
//!
//! Other work may go on beside the suite, so what is new is looked at again until it is gone: what a
//! run left is there for ever. Must never remove anything itself, or need more than the standard library:
//! the cell's own leak test has this file too.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::patience::patience;

const NAMESPACES: [&str; 7] = ["pid", "net", "user", "mnt", "ipc", "uts", "cgroup"];
/// How long what is new may take to go.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where files could be left.
const PLACES: [&str; 6] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/opt", "/run"];

/// Everything that could be left, as lines.
pub struct Remains {
    lines: BTreeSet<String>,
    /// Files of other tests that run now. The process whose number such a file has may be another one: then
    /// the file is a killed test's, and stays when that process ends.
    others: BTreeSet<String>,
    network_namespaces: Option<usize>,
}

impl Remains {
    /// What there is now.
    #[must_use]
    pub fn now() -> Self {
        let (mut lines, mut others) = (BTreeSet::new(), BTreeSet::new());
        processes(&mut lines);
        mounts(&mut lines);
        groups(Path::new("/sys/fs/cgroup"), &mut lines);
        for place in PLACES {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let line = format!("file {}", entry.path().display());
                // Files of a tool or of the ordinary user, and whatever names us.
                if is_of_tools(&entry.path()) || !is_of_others(&entry.file_name().to_string_lossy())
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
            // The one that this list itself is read by.
            if !target.ends_with("fd") {
                lines.insert(format!("descriptor {:?} {}", entry.file_name(), target.display()));
            }
        }
        Self { lines, others, network_namespaces: network_namespaces() }
    }

    /// What is there that was not there before and does not go; empty if all is as it was.
    #[must_use]
    pub fn left_since(before: &Self) -> Vec<String> {
        let begun = Instant::now();
        let mut left = before.missing();
        while !left.is_empty() && begun.elapsed() < PATIENCE * patience() {
            std::thread::sleep(Duration::from_millis(200));
            let still: BTreeSet<_> = before.missing().into_iter().collect();
            left.retain(|line| still.contains(line));
        }
        left
    }

    /// What is there now and not in this.
    fn missing(&self) -> Vec<String> {
        let now = Self::now();
        let new = now.lines.difference(&self.lines).filter(|line| !self.others.contains(*line));
        let mut new: Vec<_> = new.cloned().collect();
        // The kernel counts those too that no process is in. It frees them in its own time and in
        // batches, so a few are no leak: a cell each would be hundreds.
        if let (Some(before), Some(now)) = (self.network_namespaces, now.network_namespaces)
            && now > before + 20
        {
            new.push("network namespaces".to_owned());
        }
        new
    }
}

/// A process is identified by its name and the moment that it began. Only those that could be of a run: in
/// namespaces of their own, children of this test, or orphans that name us. A namespace has no line of its
/// own: a process or a mount keeps it, and the kernel gives its number to the next one.
fn processes(lines: &mut BTreeSet<String>) {
    let own = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default();
    let here = NAMESPACES.map(own);
    let me = std::process::id().to_string();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<_> = rest.split_whitespace().collect();
        // proc_pid_stat(5): fields 4 and 22, of which the third is the first here.
        let (parent, began) = (fields[1], fields[19]);
        let of = |kind| fs::read_link(entry.path().join("ns").join(kind)).unwrap_or_default();
        let theirs = NAMESPACES.map(of);
        // Without the right to look, or when it has just ended, there is no answer.
        let same = theirs == here || theirs.iter().all(|link| link.as_os_str().is_empty());
        let orphan = parent == "1" && names_us(&entry.path());
        if same && !orphan && parent != me {
            continue;
        }
        let uid = fs::metadata(entry.path()).map_or(0, |it| it.uid());
        lines.insert(format!("process {name}) of {uid} since {began}"));
    }
}

/// Returns true if a process runs one of our programs. Its arguments and environment do not count: the shell of a
/// developer has our name there too.
fn names_us(process: &Path) -> bool {
    let comm = fs::read(process.join("comm")).unwrap_or_default();
    let exe = fs::read_link(process.join("exe")).unwrap_or_default();
    [comm.as_slice(), exe.as_os_str().as_encoded_bytes()]
        .iter()
        .any(|text| text.windows(8).any(|word| word == b"toolexec"))
}

/// Whether a file is another test's that runs now.
fn is_of_others(name: &str) -> bool {
    let digits = name.split('-').filter(|part| part.parse::<u32>().is_ok());
    let mut others = digits.filter(|pid| *pid != std::process::id().to_string());
    !name.contains("toolexec") || others.any(|pid| Path::new("/proc").join(pid).exists())
}

/// Whether it belongs to a user that only tools are, or that only these tests are.
fn is_of_tools(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.uid() > 60000)
}

fn mounts(lines: &mut BTreeSet<String>) {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    lines.extend(text.lines().map(|line| format!("mount {line}")));
}

/// Those of cells and of tools: whatever started this host's own work has groups that come and go.
fn groups(directory: &Path, lines: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        // Links between controllers are not followed.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            if path.display().to_string().contains("toolexec") || is_of_tools(&path) {
                lines.insert(format!("group {}", path.display()));
            }
            groups(&path, lines);
        }
    }
}

/// How many the kernel has objects for; only root may know.
fn network_namespaces() -> Option<usize> {
    let slabs = fs::read_to_string("/proc/slabinfo").ok()?;
    let line = slabs.lines().find(|line| line.starts_with("net_namespace "))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
