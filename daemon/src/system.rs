//! The pipeline's only access to the clock, the time zone, random numbers and the user database.

use model::ClaimId;
use nix::unistd::{Group, Uid, User};
use records::log::entry::BootId;
pub(crate) use spool::clock::{now, standard_time};
use spool::random_bytes;

use crate::model::DaemonError;

/// Returns the kernel's boot id; a container may hide it.
pub fn boot_id() -> Option<BootId> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim_end().parse().ok()
}

pub(crate) fn new_claim_id() -> Result<ClaimId, DaemonError> {
    let drawn = random_bytes().map_err(|error| DaemonError::System("random numbers", error))?;
    Ok(ClaimId::from_random(drawn))
}

/// Returns the login name of a user id, if the host knows one.
#[must_use]
pub fn user_name(uid: u32) -> Option<String> {
    // An unreadable user database gives no name. A name alone grants nothing, and the rule that
    // needs one reports its absence.
    User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name)
}

/// Returns the id of a user of this host, by name.
#[must_use]
pub fn user_id(name: &str) -> Option<u32> {
    User::from_name(name).ok().flatten().map(|user| user.uid.as_raw())
}

/// Returns the id of a group of this host, by name.
#[must_use]
pub fn group_id(name: &str) -> Option<u32> {
    Group::from_name(name).ok().flatten().map(|group| group.gid.as_raw())
}
