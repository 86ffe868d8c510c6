//! Replaces the rules and the trust store after they were read again.

use std::path::Path;
use std::sync::Arc;

use policies::Policy;

use super::Daemon;
use crate::config::Config;
use crate::held_requests;
use crate::model::{ConfigError, DaemonError};
use crate::permissions::Permissions;
use crate::rules::DaemonRules;
use crate::runtimes::RuntimeSearch;

impl Daemon {
    /// Replaces the rules with those of a new configuration. Returns the reason if it is refused.
    ///
    /// # Errors
    /// [`DaemonError`]: the permission store cannot be read; nothing may be admitted then.
    pub(crate) fn replace_config(&self, config: Config) -> Result<Result<(), String>, DaemonError> {
        let Config { policy, trust, launcher, state, spool, .. } = config;
        let rules = self.rules();
        if policy.permission_terms() != rules.policy.permission_terms() {
            let mut permissions = self.permissions();
            let open = |policy: &Policy| {
                Permissions::open(policy, &state.join("permissions"), &spool.join("drafts"))
            };
            // The store can be open only once.
            *permissions = None;
            match open(&policy) {
                Ok(opened) => {
                    held_requests::warn_if_failed(self.spool.remove_permissions());
                    *permissions = opened;
                }
                Err(error) => {
                    *permissions = open(&rules.policy)?;
                    return Ok(Err(error.to_string()));
                }
            }
        }
        self.end_prewarmed();
        self.progress.metrics.policy(&policy);
        let search = RuntimeSearch { state: &state, backends: &self.backends };
        let environments = &self.environments;
        let mut digests = self.digests();
        let rules = DaemonRules::new(policy, trust, launcher, search, environments, &mut digests);
        drop(digests);
        self.replace_rules(Arc::new(rules));
        Ok(Ok(()))
    }

    /// Returns a changed directory of the configuration, which a reload cannot apply.
    pub(crate) fn moved_directory<'a>(&self, config: &'a Config) -> Option<&'a Path> {
        let [state, spool] = self.spool.roots();
        let is = |path: &Path, ours: &Path| path.canonicalize().is_ok_and(|path| path == ours);
        let log = self.log.directory().canonicalize();
        let log = log.is_ok_and(|log| is(&config.log, &log));
        let places = [
            (&config.state, is(&config.state, state)),
            (&config.spool, is(&config.spool, spool)),
            (&config.log, log),
        ];
        places.into_iter().find(|(_, same)| !same).map(|(path, _)| path.as_path())
    }

    /// Reads the trust store again if one of its files has changed. Only the event loop calls it,
    /// as [`Self::replace_rules`] says.
    ///
    /// # Errors
    /// The store cannot be read; nothing may be admitted then.
    pub(crate) fn renew_trust(&self) -> Result<TrustRenewal, ConfigError> {
        let (rules, renewal) = self.present_rules()?;
        if renewal == TrustRenewal::Changed {
            self.replace_rules(rules);
        }
        Ok(renewal)
    }

    /// Returns the rules with the trust store as its files are now, and replaces nothing.
    ///
    /// # Errors
    /// The store cannot be read; no signature may be judged then.
    pub(crate) fn present_rules(&self) -> Result<(Arc<DaemonRules>, TrustRenewal), ConfigError> {
        let rules = self.rules();
        let Some(trust) = rules.trust.renewed()? else { return Ok((rules, TrustRenewal::Same)) };
        let renewed = DaemonRules { trust: Arc::new(trust), ..DaemonRules::clone(&rules) };
        Ok((Arc::new(renewed), TrustRenewal::Changed))
    }
}

/// The result of reading the trust store again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TrustRenewal {
    Same,
    Changed,
}
