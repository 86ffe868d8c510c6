//! The control groups of a sandbox: memory, cpu and pids, on cgroup v1 and v2. `factory` knows the
//! parent of the groups, `group` is one sandbox's group, `knobs` has the files that limit and
//! count, `alarm` notifies of exhausted memory. v1 kills one process when memory is exhausted and
//! has no group kill, so the launcher watches the counters and ends the tree itself. A v2 tree
//! without controllers beside v1 provides the missing functions. A group must never be used for a
//! second sandbox.

mod alarm;
mod factory;
mod group;
mod knobs;
mod leftovers;
mod model;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

pub(super) use alarm::Alarm;
pub(super) use factory::GroupFactory;
pub(super) use group::ControlGroup;
pub(super) use knobs::{CpuTimes, Knobs};

/// The mount point of v2 when it is the only hierarchy.
const V2_ROOT: &str = "/sys/fs/cgroup";

/// The way in which a process enters a group of the v2 tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupJoin {
    /// It is cloned into the group (`CLONE_INTO_CGROUP`).
    ByClone,
    /// It writes itself to `cgroup.procs`.
    ByWriting,
}

/// Returns the name of this process's group, with our pid to recognize a leftover later.
fn own_name() -> String {
    format!("sandbox-{}", std::process::id())
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// Returns `None` for a file that some kernels do not have.
fn if_exists<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
