//! What decides and what runs, as one: a request keeps the rules under which it began, and new ones take
//! their place all at once or not at all.

use std::path::Path;
use std::sync::Arc;

use policies::{Binaries, Policy};
use sandbox::client::{Launcher, Reach};

use crate::runtimes;
use crate::trust_store::TrustStore;

/// The rules of one host at one time.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(crate) policy: Arc<Policy>,
    /// Whose signatures count.
    pub(crate) trust: Arc<TrustStore>,
    /// Bound to what the policy's runtimes need of the host.
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) binaries: Arc<Binaries>,
}

impl Rules {
    pub(crate) fn new(policy: Policy, trust: TrustStore, launcher: Reach, caches: &Path) -> Self {
        let binaries = runtimes::find(&policy, caches);
        let launcher = Launcher::new(runtimes::allow(launcher, &policy, &binaries));
        Self {
            policy: Arc::new(policy),
            trust: Arc::new(trust),
            launcher: Arc::new(launcher),
            binaries: Arc::new(binaries),
        }
    }
}
