//! The control groups of a sandbox as seen from the host, for root only. Where no groups can be
//! made, limits are sampled, and the record says so.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{LimitName, Mechanism};
use sandbox::plan::Plan;

use crate::skip::skip;
use crate::support::*;

/// Returns every `sandbox-*` group with processes of this launcher, with their pids.
fn groups(service: &LauncherService) -> Vec<(PathBuf, Vec<u32>)> {
    let pids = children(service.process.id());
    let names: BTreeSet<_> = pids.iter().map(|pid| format!("sandbox-{pid}")).collect();
    let mut found = Vec::new();
    search(Path::new("/sys/fs/cgroup"), &names, &mut found);
    found.retain(|(_, pids)| !pids.is_empty());
    found
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

fn can_be_run_here(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip(test, "an ordinary user cannot create control groups");
    }
    root
}

/// Returns whether this group is on a v2 tree.
fn is_v2(group: &Path) -> bool {
    group.join("cgroup.kill").exists()
}

/// Returns whether each sandbox has `all` groups, `v2` of them on v2, with the same pids in each.
fn all_in(groups: &[(PathBuf, Vec<u32>)], all: usize, v2: usize) -> bool {
    let of_one = |group: &Path| group.file_name().unwrap().to_owned();
    let sandboxes: BTreeSet<_> = groups.iter().map(|(group, _)| of_one(group)).collect();
    !sandboxes.is_empty()
        && sandboxes.iter().all(|sandbox| {
            let of_sandbox: Vec<_> =
                groups.iter().filter(|(group, _)| &of_one(group) == sandbox).collect();
            of_sandbox.len() == all
                && of_sandbox.iter().filter(|(group, _)| is_v2(group)).count() == v2
                && of_sandbox.iter().all(|(_, pids)| pids == &of_sandbox[0].1)
        })
}

#[test]
fn the_sandbox_is_in_the_recorded_groups() {
    if !can_be_run_here("the_sandbox_is_in_the_recorded_groups") {
        return;
    }
    let service = LauncherService::start(&[]);
    let Plan { sandbox, exec: order } = plan(&service.staging(), "pass", LIMITS);
    let ready = service.launcher().prepare(sandbox).unwrap().assign(order).unwrap();
    let memory = |limit: &&sandbox::report::EffectiveLimit| limit.name == LimitName::MemoryBytes;
    let mechanism = ready.confinement().limits.iter().find(memory).unwrap().mechanism;
    let (all, v2) = match mechanism {
        Mechanism::CgroupV1 => (4, 0),
        Mechanism::CgroupV1AndV2 => (5, 1),
        Mechanism::CgroupV2 => (1, 1),
        other => panic!("{other:?}"),
    };
    // A slot that is being prepared has not joined all of its groups yet.
    let begun = Instant::now();
    let mut found = groups(&service);
    while !all_in(&found, all, v2) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
        found = groups(&service);
    }
    assert!(all_in(&found, all, v2), "{mechanism:?}: {found:?}");
    // Every function that exists beside v1 is used.
    let offered = fs::read_to_string("/proc/self/mountinfo").unwrap().contains(" - cgroup2 ");
    assert_eq!(offered, mechanism != Mechanism::CgroupV1, "{mechanism:?}");
}

#[test]
fn groups_are_removed_with_their_sandbox() {
    if !can_be_run_here("groups_are_removed_with_their_sandbox") {
        return;
    }
    let service = LauncherService::start(&[]);
    // Only the paths: a waiting sandbox may still start processes.
    let paths = || groups(&service).into_iter().map(|(group, _)| group).collect::<BTreeSet<_>>();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let Plan { sandbox, .. } = plan(&service.staging(), "pass", LIMITS);
        let prepared = service.launcher().prepare(sandbox).unwrap();
        let before = paths();
        drop(prepared);
        let begun = Instant::now();
        // The group in use is removed with its tree; the waiting ones are unchanged.
        let gone = loop {
            let gone: Vec<_> = before.difference(&paths()).cloned().collect();
            let removed = gone.iter().all(|group| !group.exists());
            if (!gone.is_empty() && removed) || begun.elapsed() > Duration::from_secs(60) {
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
