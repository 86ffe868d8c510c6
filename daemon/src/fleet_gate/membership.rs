//! The membership of this host: its labels, and the gate that it asks.

use std::path::Path;

use fleet::gate::{GateClient, GateQuery, StartQuery};
use policies::FleetListHost;

use super::admission::FleetAdmission;
use super::list_serial::ListSerialFile;
use super::settings::{ConfiguredFleet, FleetSettings};
use super::start::ask_start;
use crate::model::ConfigError;

/// The fleet of a daemon, from its start to its end.
pub(crate) struct FleetMembership {
    settings: FleetSettings,
    labels: Vec<String>,
    hosts: Vec<String>,
    pub(super) admission: FleetAdmission,
}

impl FleetMembership {
    /// Returns the membership of the host whose log has this name. Opens no connection.
    ///
    /// # Errors
    /// The list does not have this host, or a newer list was used before.
    pub(crate) fn new(
        fleet: &ConfiguredFleet,
        origin: &str,
        state: &Path,
    ) -> Result<Self, ConfigError> {
        Self::check(fleet, origin, state)?.note(fleet.list());
        let labels = fleet.host(origin)?.labels().to_vec();
        let hosts = fleet.list().hosts().iter().map(FleetListHost::name);
        Ok(Self {
            settings: fleet.settings().clone(),
            labels,
            hosts: hosts.map(str::to_owned).collect(),
            admission: FleetAdmission::new(),
        })
    }

    /// Checks that the list has this host, and that no newer list was used before. It remembers
    /// nothing.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn check(
        fleet: &ConfiguredFleet,
        origin: &str,
        state: &Path,
    ) -> Result<ListSerialFile, ConfigError> {
        fleet.host(origin)?;
        ListSerialFile::check(state, &fleet.settings().list, fleet.list())
    }

    /// Returns the labels of this host.
    pub(crate) fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the names of all hosts of the fleet.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the reason why nothing may be admitted, as the gate has last answered.
    pub(crate) fn stopped(&self) -> Option<String> {
        self.admission.stopped()
    }

    /// Returns a client of the gate.
    pub(super) fn client(&self) -> GateClient {
        GateClient::new(&self.settings.socket)
    }

    /// Asks for one start, over a connection of its own, as long as `is_wanted` returns true.
    ///
    /// # Errors
    /// The reason why the tool must not be started, as a record can state it.
    pub(crate) fn ask_start(
        &self,
        query: StartQuery,
        is_wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(), String> {
        let mut client = self.client();
        ask_start(
            &GateQuery::Start(query),
            self.settings.start_wait,
            is_wanted,
            &mut |query, limit| client.ask(query, limit),
        )
    }

    /// Returns whether a new configuration has this membership. Only a restart can change it.
    pub(crate) fn is_of(&self, fleet: &ConfiguredFleet, origin: &str) -> bool {
        let labels = fleet.host(origin).map(FleetListHost::labels);
        *fleet.settings() == self.settings && labels.is_ok_and(|labels| labels == self.labels)
    }
}
