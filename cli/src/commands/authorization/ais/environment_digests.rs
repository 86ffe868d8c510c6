//! The digests of the programs and runtimes in use on this host.

use policies::Policy;

use crate::args::StateOption;
use crate::failure::Failure;

pub(super) fn digests_in_use(policy: &Policy) -> Result<daemon::EnvironmentFiles, Failure> {
    let state = StateOption { dir: None }.path().unwrap_or_default();
    let binaries = daemon::preview::installed(policy, &state, &daemon::BackendScope::All);
    Ok(daemon::DigestCache::default().of(policy, &binaries)?)
}
