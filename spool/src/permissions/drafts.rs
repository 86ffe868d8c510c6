//! Where questions lie for people to answer: `permissions/[<domain>/]<id>.json` below the drafts. Nothing
//! that lies there already is replaced, and nothing that lies there is ever taken for an answer.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use policies::permissions::OpenAsk;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use super::error::StoreError;
use crate::error::SpoolError;
use crate::fresh::Fresh;
use crate::places::make_dir;

/// The files of a question, one for each of its domains; the directories need not be there.
pub(super) fn paths(drafts: &Path, ask: &OpenAsk) -> Vec<PathBuf> {
    let top = drafts.join("permissions");
    let name = format!("{}.json", ask.id);
    match &ask.domains {
        None => vec![top.join(name)],
        Some(domains) => domains.iter().map(|domain| top.join(domain).join(&name)).collect(),
    }
}

/// Whether every file is still there for somebody to answer.
pub(super) fn are_there(paths: &[PathBuf]) -> bool {
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_file());
    paths.iter().all(is_file)
}

/// Puts the question there. Others write into the drafts: no link of theirs is followed below them.
pub(super) fn place(drafts: &Path, paths: &[PathBuf], bytes: &[u8]) -> Result<(), StoreError> {
    make_dir(drafts, 0o755)?;
    for path in paths {
        let placed = directory_of(drafts, path).and_then(|directory| {
            let name = path.file_name().unwrap_or_default();
            let mut fresh = Fresh::within(directory, name, 0o644)?;
            fresh.write(bytes)?;
            fresh.place()
        });
        placed.map_err(SpoolError::io(path, "ask"))?;
    }
    Ok(())
}

/// The directory of a question, opened step by step and made where it is not there.
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
