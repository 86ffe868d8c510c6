//! The accelerators of virtual machines: the daemon tries each that nothing is remembered of, and
//! then chooses again. Until then, it uses the next one of the policy, or none.

use std::sync::Arc;

use super::Daemon;
use crate::backend_probe::{ProbeBench, has_untried, try_accelerators};
use crate::rules::DaemonRules;
use crate::runtimes::{self, BackendScope, RuntimeSearch};

impl Daemon {
    /// Tries the accelerators of these backends that must be tried before one can be chosen, and
    /// uses the results. A guest may take as long as the policy permits.
    pub fn prove_accelerators(&self, backends: &BackendScope, is_cancelled: &dyn Fn() -> bool) {
        if self.try_accelerators(backends, is_cancelled) {
            self.choose_accelerators();
        }
    }

    /// Returns whether an accelerator of these backends must be tried before one can be chosen. A
    /// result counts for the same files, kernel and processor; a failure counts for a day.
    #[must_use]
    pub fn has_untried_accelerator(&self, backends: &BackendScope) -> bool {
        let rules = self.rules();
        has_untried(&rules.policy, rules.binaries.backends(), self.search(backends))
    }

    /// Returns whether an accelerator was tried. The rules stay as they are.
    pub(crate) fn try_accelerators(
        &self,
        backends: &BackendScope,
        is_cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let rules = self.rules();
        let staging = self.spool.staging();
        let bench = ProbeBench {
            launcher: &rules.launcher,
            staging: &staging,
            policy: &rules.policy,
            is_cancelled,
        };
        try_accelerators(bench, rules.binaries.backends(), self.search(backends))
    }

    /// Chooses the accelerators of the current rules again. Programs stay as they were found: the
    /// launcher may mount only their directories.
    pub(crate) fn choose_accelerators(&self) {
        let rules = self.rules();
        let state = self.spool.roots()[0];
        let chosen = runtimes::choose_accelerators(&rules.policy, &rules.binaries, state);
        let binaries = Arc::new(chosen);
        let rules = DaemonRules { binaries, ..DaemonRules::clone(&rules) };
        self.replace_rules(Arc::new(rules));
    }

    fn search<'a>(&'a self, backends: &'a BackendScope) -> RuntimeSearch<'a> {
        RuntimeSearch { state: self.spool.roots()[0], backends }
    }
}
