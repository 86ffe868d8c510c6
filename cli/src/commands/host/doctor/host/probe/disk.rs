//! The file systems of spool and state, by statfs(2).

use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use super::model::ProbeContext;
use crate::commands::host::doctor::host::model::{DiskReading, DiskSpace, ReadResult};

/// Magic numbers of in-memory file systems (statfs(2)): tmpfs and ramfs.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

pub(super) fn probe(host: &ProbeContext) -> Vec<DiskReading> {
    let state = host.subject.state().map(|path| ("state", path));
    let spool = host.subject.is_service().then(|| host.spool()).flatten();
    let of = |(of, path): (&'static str, &Path)| {
        let path = nearest_existing(path);
        DiskReading { name: of, space: disk_space(&path), path }
    };
    state.into_iter().chain(spool.map(|path| ("spool", path))).map(of).collect()
}

/// Returns the nearest existing ancestor, in which a missing directory will be created.
fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors().find(|it| it.exists()).unwrap_or(Path::new("/")).to_owned()
}

fn disk_space(path: &Path) -> ReadResult<DiskSpace> {
    let to_text = |errno: rustix::io::Errno| errno.to_string();
    let (found, kind) = (statvfs(path).map_err(to_text)?, statfs(path).map_err(to_text)?);
    Ok(DiskSpace {
        bytes_free: found.f_bavail.saturating_mul(found.f_frsize),
        bytes_total: found.f_blocks.saturating_mul(found.f_frsize),
        inodes_free: found.f_favail,
        inodes_total: found.f_files,
        volatile: IN_MEMORY.contains(&kind.f_type),
        read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}
