//! What a run would be, for people who look at a request before it runs: made by the code that makes
//! runs. Nothing here may start anything, and what it tells proves nothing to any later step.

use std::path::Path;

use policies::{Binaries, Grant, Permission, Policy};
use sandbox::plan::{Plan, Slot, SlotId};
use spool::StoreError;
use validator::{Request, Violation};

use crate::permissions::Permissions;
use crate::programs::find_program;
use crate::{plan, runtimes, verdicts};

/// What this host has of the policy's runtimes; `caches` is where `toolexec doctor --warm` makes them.
#[must_use]
pub fn installed(policy: &Policy, caches: &Path) -> Binaries {
    runtimes::find(policy, caches)
}

/// What a store of permissions says of a request's run.
///
/// # Errors
/// The store cannot be read.
pub fn permission(request: &Request, store: &Path) -> Result<Permission, StoreError> {
    Permissions::read(store)?.look_up(request)
}

/// What the launcher would be told, but for the place of the inputs.
///
/// # Errors
/// A number of the policy that the launcher cannot be told.
pub fn plan_of(grant: &Grant) -> Result<Plan, String> {
    let id = SlotId::new(&"0".repeat(32)).ok_or("no such slot")?;
    plan::of_grant(grant, Slot { id, device: 0, inode: 0 }).map_err(|error| error.to_string())
}

/// What is wrong with a request that is granted hosts on a host without the proxy for them.
#[must_use]
pub fn lacks_proxy(request: &Request, grant: &Grant) -> Option<Violation> {
    let lacks = grant.network().is_some() && find_program("toolexec-egress").is_err();
    lacks.then(|| verdicts::no_egress(request))
}
