//! The uid of a sandbox's tool. In system mode, and for a user with subordinate ids, no other
//! running sandbox has the same uid; in system mode it owns nothing on the host. It must never be
//! root's. Except for the user's own uid, it must never be used without the lock that reserves it.

use std::fs::{DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;

use model::{LauncherMode, Layer};
use nix::unistd::{Gid, Uid};
use rustix::fs::{FlockOperation, Mode as FileMode, OFlags, flock, open, openat};

use super::Failed;
use crate::encode::GROUPS_MAX;
use crate::subordinate::SubordinateIds;

/// The first uid of sandboxes in system mode; these uids own nothing on the host.
const UID_FIRST: u32 = 2_000_000_000;
/// The number of uids, and so of concurrent sandboxes of this host in system mode.
const UIDS: u32 = 256;
const UID_LOCKS: &str = "/run/toolexec-launch";

#[derive(Clone, Copy)]
pub(super) struct ToolIdentity {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl ToolIdentity {
    /// Returns this process's own ids, which the tool has when the launcher is not root.
    pub(super) fn own() -> Self {
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        Self { uid: uid.as_raw(), gid: gid.as_raw() }
    }

    /// Sets all ids of this process permanently. In user mode the supplementary groups remain; in
    /// system mode there is at most this one.
    pub(super) fn assume(self, mode: LauncherMode, group: Option<u32>) -> Result<(), Failed> {
        let layer = Layer::Capabilities;
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        if mode == LauncherMode::System {
            let groups: Vec<Gid> = group.into_iter().map(Gid::from_raw).collect();
            nix::unistd::setgroups(&groups)
                .map_err(Failed::without(layer, "drop supplementary groups"))?;
        }
        nix::unistd::setresgid(gid, gid, gid)
            .map_err(Failed::without(layer, "set the tool's gid"))?;
        nix::unistd::setresuid(uid, uid, uid).map_err(Failed::without(layer, "set the tool's uid"))
    }
}

/// Uids for sandboxes, each reserved by a lock that other launchers see.
pub(super) struct UidPool {
    locks: OwnedFd,
    source: UidSource,
}

enum UidSource {
    /// The uids of this host, in system mode.
    Host,
    /// The subordinate uids of one user.
    User(SubordinateIds),
}

impl UidPool {
    pub(super) fn of_host() -> Result<Self, Failed> {
        let made = DirBuilder::new().mode(0o700).recursive(true).create(UID_LOCKS);
        made.map_err(Failed::at(&format!("create the uid lock directory {UID_LOCKS}")))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(UID_LOCKS, flags, FileMode::empty());
        let locks = opened.map_err(Failed::at(&format!("open {UID_LOCKS}")))?;
        Ok(Self { locks, source: UidSource::Host })
    }

    pub(super) fn of_user(locks: OwnedFd, ids: SubordinateIds) -> Self {
        Self { locks, source: UidSource::User(ids) }
    }

    /// Returns the subordinate ids that must be mapped.
    pub(super) fn subordinate(&self) -> Option<&SubordinateIds> {
        match &self.source {
            UidSource::Host => None,
            UidSource::User(ids) => Some(ids),
        }
    }

    /// Reserves a free uid while the lock file is open anywhere; if none is left, the user's own.
    pub(super) fn take(&self) -> Result<(ToolIdentity, Option<File>), Failed> {
        let (uid_first, gid_first, count) = match &self.source {
            UidSource::Host => (UID_FIRST, UID_FIRST, UIDS),
            UidSource::User(ids) => (ids.uid_first, ids.gid_first, ids.count),
        };
        for number in 0..count {
            let identity = ToolIdentity { uid: uid_first + number, gid: gid_first + number };
            if let Some(lock) = self.lock(identity)? {
                return Ok((identity, Some(lock)));
            }
        }
        match self.source {
            UidSource::User(_) => Ok((ToolIdentity::own(), None)),
            UidSource::Host => {
                let step = format!("tool uids: all {UIDS} are used by running sandboxes");
                Err(Failed { layer: None, step, errno: 0 })
            }
        }
    }

    /// Locks one uid. Returns `None` if another launcher, or another slot of this one, has it.
    fn lock(&self, ToolIdentity { uid, .. }: ToolIdentity) -> Result<Option<File>, Failed> {
        let name = match self.source {
            UidSource::Host => format!("uid-{}", uid - UID_FIRST),
            UidSource::User(_) => format!("uid-{uid}"),
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = openat(&self.locks, name, flags, FileMode::from_raw_mode(0o600));
        let lock = lock.map_err(Failed::at("create a uid lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(lock.into())),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno).map_err(Failed::at("lock a uid")),
        }
    }
}

/// Returns the supplementary groups of this process, sorted and without duplicates.
pub(super) fn supplementary_groups() -> Result<Vec<u32>, Failed> {
    let groups = nix::unistd::getgroups().map_err(Failed::at("read the supplementary groups"))?;
    let mut groups: Vec<u32> = groups.into_iter().map(|group| group.as_raw()).collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() > GROUPS_MAX {
        let step = format!("supplementary groups: this user has more than {GROUPS_MAX}");
        return Err(Failed { layer: None, step, errno: 0 });
    }
    Ok(groups)
}
