//! The digests of the programs and runtimes in use on this host.

use policies::Policy;

use crate::args::StateOption;
use crate::failure::Failure;

/// Returns the digests of everything that runs under this policy use on this host.
pub(super) fn used(policy: &Policy) -> Result<daemon::Found, Failure> {
    let caches = StateOption { dir: None }.path().unwrap_or_default().join("caches");
    let binaries = daemon::preview::installed(policy, &caches);
    Ok(daemon::Digests::default().of(policy, &binaries)?)
}
