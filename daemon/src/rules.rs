//! The policy, trust store and launcher as one unit. A request keeps the rules under which it
//! began; a reload replaces all of them at once or none.

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
    /// The keys whose signatures count.
    pub(crate) trust: Arc<TrustStore>,
    /// Limited to the mounts that the policy's runtimes need.
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
