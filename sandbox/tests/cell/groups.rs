//! The control groups of a cell as the host sees them. Root's alone: where nobody may make groups the cell is
//! sampled, and the record says so.

use super::*;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
};
use sandbox::report::{LimitName, Mechanism};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A launcher behind a socket, whose pid is known.
struct Standing {
    process: std::process::Child,
    launcher: Launcher,
    staging: PathBuf,
    _scratch: Scratch,
}

impl Standing {
    fn new() -> Self {
        let scratch = Scratch::new();
        let staging = scratch.0.join("staging");
        fs::create_dir(&staging).unwrap();
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let door = socket_with(AddressFamily::UNIX, kind, flags, None).unwrap();
        let place = scratch.0.join("launch.sock");
        bind(&door, &SocketAddrUnix::new(&place).unwrap()).unwrap();
        listen(&door, 8).unwrap();
        let process = Command::new(env!("CARGO_BIN_EXE_toolexec-launch"))
            .arg("--staging")
            .arg(&staging)
            .stdin(Stdio::from(door))
            .spawn()
            .unwrap();
        Self { process, launcher: Launcher::new(Reach::Socket(place)), staging, _scratch: scratch }
    }

    /// Every `cell-*` group of this launcher's processes that has somebody in it, with its pids.
    fn groups(&self) -> Vec<(PathBuf, Vec<u32>)> {
        let names: BTreeSet<_> =
            children(self.process.id()).iter().map(|pid| format!("cell-{pid}")).collect();
        let mut found = Vec::new();
        search(Path::new("/sys/fs/cgroup"), &names, &mut found);
        found.retain(|(_, pids)| !pids.is_empty());
        found
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.process.wait().unwrap();
    }
}

fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    listed.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn search(directory: &Path, names: &BTreeSet<String>, found: &mut Vec<(PathBuf, Vec<u32>)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if names.contains(entry.file_name().to_str().unwrap_or_default()) {
            let listed = fs::read_to_string(entry.path().join("cgroup.procs")).unwrap_or_default();
            let pids = listed.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
            found.push((entry.path(), pids));
        }
        search(&entry.path(), names, found);
    }
}

fn cannot_be_run_here() -> bool {
    let skipped = !rustix::process::geteuid().is_root();
    if skipped {
        eprintln!("skipped: an ordinary user can make no control groups");
    }
    skipped
}

/// Whether the group of this directory is on a v2 tree.
fn is_v2(group: &Path) -> bool {
    group.join("cgroup.kill").exists()
}

#[test]
fn the_cell_is_in_the_groups_that_the_record_names() {
    if cannot_be_run_here() {
        return;
    }
    let standing = Standing::new();
    let Plan { cell, order } = plan(&standing.staging, "pass", LIMITS);
    let ready = standing.launcher.prepare(cell).unwrap().order(order).unwrap();
    let memory = |limit: &&sandbox::report::LimitInForce| limit.name == LimitName::MemoryBytes;
    let mechanism = ready.confinement().limits.iter().find(memory).unwrap().mechanism;
    let groups = standing.groups();
    // Those of the seats that wait have their own init in them.
    let of_one = |group: &Path| group.file_name().unwrap().to_owned();
    let cells: BTreeSet<_> = groups.iter().map(|(group, _)| of_one(group)).collect();
    assert!(!cells.is_empty());
    let (all, v2) = match mechanism {
        Mechanism::CgroupV1 => (4, 0),
        Mechanism::CgroupV1AndV2 => (5, 1),
        Mechanism::CgroupV2 => (1, 1),
        other => panic!("{other:?}"),
    };
    for cell in cells {
        let of_cell: Vec<_> = groups.iter().filter(|(group, _)| of_one(group) == cell).collect();
        assert_eq!(of_cell.len(), all, "{mechanism:?}: {of_cell:?}");
        assert_eq!(of_cell.iter().filter(|(group, _)| is_v2(group)).count(), v2, "{of_cell:?}");
        assert!(of_cell.iter().all(|(_, pids)| pids == &of_cell[0].1), "{of_cell:?}");
    }
    // What can be had beside v1 is had.
    let offered = fs::read_to_string("/proc/self/mountinfo").unwrap().contains(" - cgroup2 ");
    assert_eq!(offered, mechanism != Mechanism::CgroupV1, "{mechanism:?}");
}

#[test]
fn groups_go_with_their_cell_and_are_not_given_out_again() {
    if cannot_be_run_here() {
        return;
    }
    let standing = Standing::new();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let Plan { cell, .. } = plan(&standing.staging, "pass", LIMITS);
        let prepared = standing.launcher.prepare(cell).unwrap();
        let before: BTreeSet<_> = standing.groups().into_iter().collect();
        drop(prepared);
        let begun = Instant::now();
        // The one that was taken is gone with its tree; the waiting ones are the same as before.
        let gone = loop {
            let now: BTreeSet<_> = standing.groups().into_iter().collect();
            let gone: Vec<_> = before.difference(&now).map(|(group, _)| group.clone()).collect();
            let removed = gone.iter().all(|group| !group.exists());
            if (!gone.is_empty() && removed) || begun.elapsed() > Duration::from_secs(10) {
                break gone;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(!gone.is_empty(), "{before:?}");
        for group in gone {
            assert!(!group.exists(), "{} is left", group.display());
            assert!(seen.insert(group.clone()), "{} was used twice", group.display());
        }
    }
}
