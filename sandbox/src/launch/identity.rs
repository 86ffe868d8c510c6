//! Which uid a cell's tool has: in system mode, and for a user with subordinate ids, one that no other running
//! cell has. In system mode nothing on the host belongs to it. Must never give root's, or one without the lock
//! that keeps it, but for the user's own.

use std::fs::{DirBuilder, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;

use model::{Layer, Mode};
use nix::unistd::{Gid, Uid};
use rustix::fs::{FlockOperation, Mode as FileMode, OFlags, flock, open, openat};

use super::Failed;
use crate::encode::GROUPS_MAX;
use crate::subordinate::Subordinate;

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

    /// Makes these ids all that this process has, for good. In user mode the supplementary groups stay.
    pub(super) fn take_on(self, mode: Mode) -> Result<(), Failed> {
        let layer = Layer::Capabilities;
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        if mode == Mode::System {
            nix::unistd::setgroups(&[])
                .map_err(Failed::without(layer, "drop supplementary groups"))?;
        }
        nix::unistd::setresgid(gid, gid, gid)
            .map_err(Failed::without(layer, "take the tool's group"))?;
        nix::unistd::setresuid(uid, uid, uid)
            .map_err(Failed::without(layer, "take the tool's user"))
    }
}

/// Uids for cells, each behind a lock that other launchers see.
pub(super) struct Uids {
    locks: OwnedFd,
    of: Whose,
}

enum Whose {
    /// This host's, in system mode.
    Host,
    /// One user's.
    User(Subordinate),
}

impl Uids {
    /// Those of this host, in system mode.
    pub(super) fn of_host() -> Result<Self, Failed> {
        let made = DirBuilder::new().mode(0o700).recursive(true).create(UID_LOCKS);
        made.map_err(Failed::at(&format!("make the directory of uid locks {UID_LOCKS}")))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = open(UID_LOCKS, flags, FileMode::empty());
        let locks = opened.map_err(Failed::at(&format!("open {UID_LOCKS}")))?;
        Ok(Self { locks, of: Whose::Host })
    }

    /// A user's, with the directory of that user's locks.
    pub(super) fn of_user(locks: OwnedFd, ids: Subordinate) -> Self {
        Self { locks, of: Whose::User(ids) }
    }

    /// What has to be mapped for them.
    pub(super) fn subordinate(&self) -> Option<&Subordinate> {
        match &self.of {
            Whose::Host => None,
            Whose::User(ids) => Some(ids),
        }
    }

    /// One that nobody has, ours for as long as the lock is open anywhere. A user who has none left shares
    /// the own one.
    pub(super) fn take(&self) -> Result<(Identity, Option<File>), Failed> {
        let (uid_first, gid_first, count) = match &self.of {
            Whose::Host => (UID_FIRST, UID_FIRST, UIDS),
            Whose::User(ids) => (ids.uid_first, ids.gid_first, ids.count),
        };
        for number in 0..count {
            let identity = Identity { uid: uid_first + number, gid: gid_first + number };
            if let Some(lock) = self.lock(identity)? {
                return Ok((identity, Some(lock)));
            }
        }
        match self.of {
            Whose::User(_) => Ok((Identity::own(), None)),
            Whose::Host => {
                let step = format!("all {UIDS} tool uids are in use by running cells");
                Err(Failed { layer: None, step, errno: 0 })
            }
        }
    }

    /// `None` if another launcher, or another slot of this one, has it.
    fn lock(&self, Identity { uid, .. }: Identity) -> Result<Option<File>, Failed> {
        let name = match self.of {
            Whose::Host => format!("uid-{}", uid - UID_FIRST),
            Whose::User(_) => format!("uid-{uid}"),
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = openat(&self.locks, name, flags, FileMode::from_raw_mode(0o600));
        let lock = lock.map_err(Failed::at("make a uid lock"))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(lock.into())),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(errno).map_err(Failed::at("take a uid lock")),
        }
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
