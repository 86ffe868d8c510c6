//! Finds the control groups in which this process could create groups, from the mount table and by
//! a check of write access. The launcher makes its own attempt; this predicts the result.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};

use super::run_with_limit::run_with_limit;
use crate::commands::host::doctor::host::model::{Cgroups, ReadResult};

/// The mount point of v2 if no v1 hierarchy exists.
const V2_ROOT: &str = "/sys/fs/cgroup";
const V1_CONTROLLERS: [&str; 4] = ["memory", "cpu", "cpuacct", "pids"];
const V2_CONTROLLERS: [&str; 3] = ["memory", "cpu", "pids"];

pub(super) fn probe() -> ReadResult<Cgroups> {
    let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let table = MountedCgroups::read(&read("/proc/self/mountinfo")?);
    if table.v2.as_deref() == Some(Path::new(V2_ROOT)) {
        let there = fs::read_to_string(Path::new(V2_ROOT).join("cgroup.controllers"));
        let there = there.map_err(|error| format!("{V2_ROOT}/cgroup.controllers: {error}"))?;
        let has = |name: &str| there.split_whitespace().any(|it| it == name);
        return Ok(Cgroups::V2 {
            missing: missing(&V2_CONTROLLERS, has),
            writable: writable(V2_ROOT),
        });
    }
    if table.v1.is_empty() {
        return Ok(Cgroups::None);
    }
    let own = own_groups(&read("/proc/self/cgroup")?);
    let place = |name: &&str| {
        let relative = own.get(*name).map_or("", String::as_str);
        Some(table.v1.get(*name)?.join(relative.trim_start_matches('/')))
    };
    let places: Vec<PathBuf> = V1_CONTROLLERS.iter().filter_map(place).collect();
    Ok(Cgroups::V1 {
        missing: missing(&V1_CONTROLLERS, |name| table.v1.contains_key(name)),
        writable: places.iter().all(writable),
        bare_v2: table.v2.is_some(),
    })
}

fn missing(wanted: &[&str], has: impl Fn(&str) -> bool) -> Vec<String> {
    wanted.iter().filter(|name| !has(name)).map(|name| (*name).to_owned()).collect()
}

fn writable(path: impl AsRef<Path>) -> bool {
    access(path.as_ref(), Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// The hierarchies of the mount table: v1 by controller, and v2.
#[derive(Debug, Default, PartialEq)]
struct MountedCgroups {
    v1: HashMap<String, PathBuf>,
    v2: Option<PathBuf>,
}

impl MountedCgroups {
    /// Parses proc_pid_mountinfo(5): the fifth field is the mount point; after a lone dash follow
    /// the type and, third, the options of the file system.
    fn read(table: &str) -> Self {
        let mut mounted = Self::default();
        for line in table.lines() {
            let Some((mount, file_system)) = line.split_once(" - ") else { continue };
            let Some(place) = mount.split(' ').nth(4).map(PathBuf::from) else { continue };
            let mut words = file_system.split(' ');
            match (words.next(), words.nth(1)) {
                (Some("cgroup2"), _) => mounted.v2 = mounted.v2.or(Some(place)),
                (Some("cgroup"), Some(options)) => {
                    for option in options.split(',') {
                        mounted.v1.entry(option.to_owned()).or_insert_with(|| place.clone());
                    }
                }
                _ => {}
            }
        }
        mounted.v1.retain(|option, _| V1_CONTROLLERS.contains(&option.as_str()));
        mounted
    }
}

/// Parses proc_pid_cgroup(5): number, controllers, group.
fn own_groups(text: &str) -> HashMap<String, String> {
    let mut groups = HashMap::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        if let Some((controllers, group)) = parts.next().zip(parts.next()) {
            let names = controllers.split(',').map(str::to_owned);
            groups.extend(names.map(|name| (name, group.to_owned())));
        }
    }
    groups
}

pub(super) fn delegated() -> ReadResult<bool> {
    let mut command = Command::new("systemctl");
    command.args(["show", "--property=Delegate", "--value", "toolexec-launch.service"]);
    let output = run_with_limit(&mut command).map_err(|error| format!("systemctl: {error}"))?;
    if !output.status.success() {
        return Err(output.stderr.lines().next().unwrap_or("systemctl failed").to_owned());
    }
    Ok(output.stdout.trim() == "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_in_the_mount_table() {
        let both = "\
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let mounted = MountedCgroups::read(both);
        assert_eq!(mounted.v2, Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mounted.v1.len(), 3, "{mounted:?}");
        assert_eq!(mounted.v1.get("cpuacct"), Some(&PathBuf::from("/sys/fs/cgroup/cpu")));
        assert_eq!(
            MountedCgroups::read("21 1 8:1 / / rw - ext4 /dev/sda rw\n"),
            MountedCgroups::default()
        );
    }

    #[test]
    fn own_groups_are_by_controller() {
        let groups = own_groups("4:cpu,cpuacct:/a:b\n0::/user.slice\n");
        assert_eq!(groups.get("cpuacct").map(String::as_str), Some("/a:b"));
        assert_eq!(groups.get("").map(String::as_str), Some("/user.slice"));
    }
}
