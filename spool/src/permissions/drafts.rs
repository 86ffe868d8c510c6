//! The files of permission requests for approvers: `permissions/[<domain>/]<id>.json` in the drafts
//! directory. They must never replace an existing file, nor count as an answer.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use policies::permissions::OpenPermissionRequest;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::error::PermissionStoreError;
use crate::atomic_file::AtomicFile;
use crate::error::SpoolError;
use crate::paths::make_dir;

/// Returns the paths of a permission request, one for each domain. The directories may be missing.
pub(super) fn paths(drafts: &Path, ask: &OpenPermissionRequest) -> Vec<PathBuf> {
    let top = drafts.join("permissions");
    let name = format!("{}.json", ask.id);
    match &ask.domains {
        None => vec![top.join(name)],
        Some(domains) => domains.iter().map(|domain| top.join(domain).join(&name)).collect(),
    }
}

pub(super) fn all_exist(paths: &[PathBuf]) -> bool {
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_file());
    paths.iter().all(is_file)
}

/// Writes the files. Other users write into the drafts directory, so no link below it is followed.
pub(super) fn write_files(
    drafts: &Path,
    paths: &[PathBuf],
    bytes: &[u8],
) -> Result<(), PermissionStoreError> {
    make_dir(drafts, 0o755)?;
    for path in paths {
        let placed = directory_of(drafts, path).and_then(|directory| {
            let name = path.file_name().unwrap_or_default();
            let mut fresh = AtomicFile::create_in(directory, name, 0o644)?;
            fresh.write(bytes)?;
            fresh.place()
        });
        placed.map_err(SpoolError::io(path, "write the permission request"))?;
    }
    Ok(())
}

/// Removes the files, as far as they exist.
pub(super) fn remove_files(drafts: &Path, paths: &[PathBuf]) {
    for path in paths {
        let removed = directory_of(drafts, path).and_then(|directory| {
            let name = path.file_name().unwrap_or_default();
            Ok(unlinkat(directory, name, AtFlags::empty())?)
        });
        if let Err(error) = removed {
            tracing::warn!("{}: remove: {error}", path.display());
        }
    }
}

/// Opens the directory of a file one component at a time, and makes the missing ones.
fn directory_of(drafts: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, drafts, flags, Mode::empty())?;
    let below = path.strip_prefix(drafts).ok().and_then(Path::parent);
    for step in below.into_iter().flat_map(Path::components) {
        match mkdirat(&directory, step.as_os_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        directory = openat(&directory, step.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(directory)
}
