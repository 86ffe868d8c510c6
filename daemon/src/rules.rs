//! The policy, trust store and launcher as one unit. A request keeps the rules under which it
//! began; a reload replaces all of them at once or none.

use std::path::Path;
use std::sync::Arc;

use policies::{InstalledRuntimes, Policy};
use sandbox::client::{Launcher, LauncherAddress};

use crate::environment_digests::DigestCache;
use crate::runtimes::{self, RuntimeSearch};
use crate::trust_store::HostTrustStore;

#[derive(Clone)]
pub(crate) struct DaemonRules {
    pub(crate) policy: Arc<Policy>,
    /// The keys whose signatures count.
    pub(crate) trust: Arc<HostTrustStore>,
    /// Limited to the mounts that the policy's runtimes and the environments need.
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) binaries: Arc<InstalledRuntimes>,
}

impl DaemonRules {
    pub(crate) fn new(
        policy: Policy,
        trust: HostTrustStore,
        launcher: LauncherAddress,
        search: RuntimeSearch<'_>,
        environments: &Path,
        digests: &mut DigestCache,
    ) -> Self {
        let binaries = runtimes::find(&policy, search, digests);
        let mounts = runtimes::allow_mounts(launcher, &policy, &binaries, Some(environments));
        let launcher = Launcher::new(mounts);
        Self {
            policy: Arc::new(policy),
            trust: Arc::new(trust),
            launcher: Arc::new(launcher),
            binaries: Arc::new(binaries),
        }
    }
}
