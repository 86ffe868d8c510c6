//! The cell's own control groups: memory, cpu and pids, on cgroup v1 and v2.
//!
//! `home` is where groups are made, `group` one cell's, created through cgroups-rs ahead of any plan;
//! `knobs` has the files that limit and count, `alarm` what tells that memory is out. v1 and v2 are not
//! one thing under two names: v1 kills one process when memory is out and knows no group kill, so the
//! launcher watches the counters and ends the tree itself; where a v2 tree without controllers lies beside
//! v1, a group in it gives the rest. A group is made for one cell and is never used for a second: nothing
//! here may give one out again.

mod alarm;
mod group;
mod home;
mod knobs;
mod leftovers;
mod model;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

pub(super) use alarm::Alarm;
pub(super) use group::Group;
pub(super) use home::Home;
pub(super) use knobs::{CpuTimes, Knobs};

/// Where v2 is mounted when it is the only one.
const V2_ROOT: &str = "/sys/fs/cgroup";

/// How a process gets into a group of the v2 tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joining {
    /// It is born there (`CLONE_INTO_CGROUP`).
    ByClone,
    /// It writes itself into `cgroup.procs`.
    ByWriting,
}

/// The name of this process's group, with our pid, so that the next launcher can tell one that is left
/// over.
fn own_name() -> String {
    format!("cell-{}", std::process::id())
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

/// A file that some kernels do not have.
fn if_there<T>(opened: io::Result<T>) -> io::Result<Option<T>> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
