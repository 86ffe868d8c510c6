//! The fleet of this host, if it belongs to one.

use model::HostAudience;

use super::Daemon;
use crate::config::Config;
use crate::fleet_gate::{ConfiguredFleet, FleetMembership};
use crate::model::DaemonError;

impl Daemon {
    /// Makes this host a member of a fleet: from now on admission and starts need its gate.
    ///
    /// # Errors
    /// The list of the fleet does not have the name of this host's log, or is an older one.
    pub fn with_fleet(mut self, fleet: &ConfiguredFleet) -> Result<Self, DaemonError> {
        let state = self.spool.roots()[0];
        let membership = FleetMembership::new(fleet, self.log.origin(), state)?;
        self.progress.metrics.begin_fleet(membership.hosts().to_vec());
        self.fleet = Some(membership);
        Ok(self)
    }

    /// Returns the names by which `x-audience` can mean this host.
    pub(crate) fn audience(&self) -> HostAudience<'_> {
        let labels = self.fleet.as_ref().map(FleetMembership::labels).unwrap_or_default();
        HostAudience::of(Some(self.log.origin())).with_labels(labels)
    }

    /// Returns the reason why the fleet permits no admission, if any.
    pub(crate) fn fleet_stopped(&self) -> Option<String> {
        self.fleet.as_ref().and_then(FleetMembership::stopped)
    }

    /// Returns whether a configuration has another fleet, which a reload cannot apply.
    pub(crate) fn has_other_fleet(&self, config: &Config) -> bool {
        match (&self.fleet, &config.fleet) {
            (None, None) => false,
            (Some(ours), Some(fleet)) => !ours.is_of(fleet, self.log.origin()),
            _ => true,
        }
    }
}
