//! The only places where the flow touches time, randomness and the user database.

use std::time::{SystemTime, UNIX_EPOCH};

use nix::unistd::{Uid, User};
use rustix::rand::{GetRandomFlags, getrandom};
use spool::ClaimId;
use validator::UtcTime;

use crate::host::Halt;

/// The wall clock, whole seconds.
pub(crate) fn now() -> UtcTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    UtcTime::from_unix(i64::try_from(since).unwrap_or(i64::MAX))
}

/// A name for a claim that nobody has had before.
pub(crate) fn new_claim_id() -> Result<ClaimId, Halt> {
    let mut bytes = [0; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())
            .map_err(|errno| Halt::Kernel("random numbers", errno.into()))?;
    }
    Ok(ClaimId::from_random(bytes))
}

/// The login name of a user id, where the host knows one.
#[must_use]
pub fn user_name(uid: u32) -> Option<String> {
    // A user database that cannot be read is a user without a name: names grant nothing by
    // themselves, and the rule that needs one says so.
    User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name)
}
