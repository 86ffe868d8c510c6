//! Which uid a cell's tool has: in system mode one that no other running cell has, and nothing on the
//! host belongs to. Must never give root's, or one without the lock that keeps it.

use std::fs::{DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;

use rustix::fs::{FlockOperation, Mode as FileMode, OFlags, flock, open, openat};

use super::Failed;
use crate::encode::GROUPS_MAX;
use crate::report::Mode;

/// First of the uids of cells in system mode; owning nothing on the host.
const UID_FIRST: u32 = 2_000_000_000;
/// Cells of this host that can run at once in system mode.
const UIDS: u32 = 256;
const UID_LOCKS: &str = "/run/toolexec-launch";

/// Who the tool is.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Identity {
    /// This process's own: what the tool has where nobody is root.
    pub(super) fn own() -> Self {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { uid: uid.as_raw(), gid: gid.as_raw() }
    }
}

/// The uids of this host's cells, each behind a lock that other launchers see.
pub(super) struct Uids(OwnedFd);

impl Uids {
    /// `None` in user mode, where there is one uid for all.
    pub(super) fn open(mode: Mode) -> Result<Option<Self>, Failed> {
        if mode == Mode::User {
            return Ok(None);
        }
        let made = DirBuilder::new().mode(0o700).recursive(true).create(UID_LOCKS);
        made.map_err(Failed::at(&format!("make the directory of uid locks {UID_LOCKS}")))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(UID_LOCKS, flags, FileMode::empty());
        Ok(Some(Self(opened.map_err(Failed::at(&format!("open {UID_LOCKS}")))?)))
    }

    /// One that nobody has, ours for as long as the lock is open anywhere.
    pub(super) fn take(&self) -> Result<(Identity, Option<File>), Failed> {
        for number in 0..UIDS {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let lock =
                openat(&self.0, format!("uid-{number}"), flags, FileMode::from_raw_mode(0o600));
            let lock = lock.map_err(Failed::at(&format!("make a uid lock in {UID_LOCKS}")))?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    let id = UID_FIRST + number;
                    return Ok((Identity { uid: id, gid: id }, Some(lock.into())));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {}
                Err(errno) => return Err(errno).map_err(Failed::at("take a uid lock")),
            }
        }
        let step = format!("all {UIDS} tool uids are in use by running cells");
        Err(Failed { layer: None, step, errno: 0 })
    }
}

/// The supplementary groups of this process, in order and each once.
pub(super) fn supplementary_groups() -> Result<Vec<u32>, Failed> {
    let groups = nix::unistd::getgroups().map_err(Failed::at("read the supplementary groups"))?;
    let mut groups: Vec<u32> = groups.into_iter().map(|group| group.as_raw()).collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() > GROUPS_MAX {
        let step = format!("this user has more than {GROUPS_MAX} supplementary groups");
        return Err(Failed { layer: None, step, errno: 0 });
    }
    Ok(groups)
}
