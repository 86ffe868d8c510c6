//! Previews of a run for `toolexec review`, by the code that makes runs. Must never start anything.
//! A preview proves nothing to a later step.

use std::path::Path;

use policies::{EnvironmentEvidence, InstalledRuntimes, PermissionEvidence, Policy, RunGrant};
use sandbox::plan::{Plan, StagingSlot, StagingSlotId};
use spool::PermissionStoreError;
use validator::{Request, Violation};

use crate::environment_digests::DigestCache;
use crate::permissions::Permissions;
use crate::programs::find_program;
use crate::runtimes::{self, BackendScope, RuntimeSearch};
use crate::{environments, plan, violations};

/// Returns the runtimes of the policy that are installed on this host, and these backends of it.
/// `state` is the state directory with the runtime caches.
#[must_use]
pub fn installed(policy: &Policy, state: &Path, backends: &BackendScope) -> InstalledRuntimes {
    let search = RuntimeSearch { state, backends };
    runtimes::find(policy, search, &mut DigestCache::default())
}

/// Returns the environment that a request names, as this store has it.
#[must_use]
pub fn environment(request: &Request, store: &Path) -> EnvironmentEvidence {
    environments::evidence(request.environment(), store)
}

/// Returns the permission of a request's run, according to a permission store.
///
/// # Errors
/// The store cannot be read.
pub fn permission(
    request: &Request,
    store: &Path,
) -> Result<PermissionEvidence, PermissionStoreError> {
    Permissions::read(store)?.look_up(request)
}

/// Returns the plan that the launcher would get, with a placeholder for the slot.
///
/// # Errors
/// A value of the policy that the launcher's protocol cannot represent.
pub fn plan_of(grant: &RunGrant) -> Result<Plan, String> {
    let id = StagingSlotId::new(&"0".repeat(32)).ok_or("not a valid slot id")?;
    plan::of_grant(grant, StagingSlot { id, device: 0, inode: 0 })
        .map_err(|error| error.to_string())
}

/// Returns the violation of a request with hosts if the egress proxy is not installed.
#[must_use]
pub fn missing_proxy(request: &Request, grant: &RunGrant) -> Option<Violation> {
    let lacks = grant.network().is_some() && find_program("toolexec-egress").is_err();
    lacks.then(|| violations::no_egress(request))
}
