//! Tests groups on this host's kernel; skipped, with the reason, if no group can be created.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cgroups_rs::cgroup::get_cgroups_relative_paths;
use cgroups_rs::hierarchies::is_cgroup2_unified_mode;
use rustix::event::{Timespec, poll};

use super::{ControlGroup, GroupJoin, factory};
use crate::plan::Limits;

const LIMITS: Limits = Limits { memory_bytes_max: 16 << 20, pids_max: 64, ..Limits::SMALL };

/// Creates a group of this name, with every function of this host.
fn group(name: &str) -> Option<ControlGroup> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: an ordinary user cannot create control groups");
        return None;
    }
    let name = format!("test-{}-{name}", std::process::id());
    if is_cgroup2_unified_mode() {
        return Some(
            ControlGroup::make_v2(&Path::new("toolexec").join(name), GroupJoin::ByWriting).unwrap(),
        );
    }
    let own = get_cgroups_relative_paths().unwrap();
    let bare = factory::bare_dir(&own).unwrap().map(|place| place.join(&name));
    Some(ControlGroup::make_v1(factory::v1_dirs(&own).unwrap().join(&name), bare).unwrap())
}

/// Starts a shell with this script, in the groups before it reads the first command.
fn shell(group: &ControlGroup, script: &str) -> Child {
    let mut shell = Command::new("/bin/sh").stdin(Stdio::piped()).spawn().unwrap();
    for file in group.all_procs_files().unwrap() {
        (&file).write_all(shell.id().to_string().as_bytes()).unwrap();
    }
    // From here on the group counts the shell's usage.
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    shell
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn exhausted_memory_fires_the_alarm() {
    let Some(group) = group("alarm") else { return };
    let knobs = group.knobs().unwrap();
    knobs.limit(&LIMITS).unwrap();
    let alarm = knobs.alarm().expect("this kernel reports memory events");
    let at_most = |sec| Timespec { tv_sec: sec, tv_nsec: 0 };
    let rings = |sec| poll(&mut [alarm.poll_fd()], Some(&at_most(sec))).unwrap() == 1;
    assert!(!rings(0), "nothing has happened yet");
    let mut eater = shell(&group, "exec tail /dev/zero\n");
    assert!(rings(20), "memory ran out without an event");
    assert_eq!(eater.wait().unwrap().signal(), Some(9));
    wait_until("the kill is counted", || knobs.oom_kills().unwrap() == 1);
    alarm.reset().unwrap();
    // On v2, events in quick succession are reported once more, a little later.
    std::thread::sleep(Duration::from_millis(50));
    alarm.reset().unwrap();
    assert!(!rings(0), "the event repeats");
}

#[test]
fn a_group_is_killed_at_once() {
    let Some(group) = group("kill") else { return };
    if !group.can_be_killed() {
        eprintln!("skipped: no v2 tree with cgroup.kill here");
        return;
    }
    let script = "trap '' TERM INT HUP\nfor n in 1 2 3 4 5 6 7 8; do setsid sleep 100 & done\n\
        sleep 100\n";
    let mut root = shell(&group, script);
    wait_until("they are there", || group.tasks().unwrap() >= 10);
    group.kill().unwrap();
    assert_eq!(root.wait().unwrap().signal(), Some(9));
    // The orphans are reaped by the init process of this host.
    wait_until("they are gone", || group.tasks().unwrap() == 0);
}

#[test]
fn an_existing_group_is_not_used() {
    let Some(first) = group("taken") else { return };
    let name = format!("test-{}-taken", std::process::id());
    let again = if is_cgroup2_unified_mode() {
        ControlGroup::make_v2(&Path::new("toolexec").join(name), GroupJoin::ByWriting).map(drop)
    } else {
        let own = get_cgroups_relative_paths().unwrap();
        ControlGroup::make_v1(factory::v1_dirs(&own).unwrap().join(&name), None).map(drop)
    };
    assert!(again.unwrap_err().to_string().ends_with("already exists"));
    // The existing group is unchanged.
    assert_eq!(first.tasks().unwrap(), 0);
    assert!(first.knobs().is_ok());
}
