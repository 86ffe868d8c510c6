//! The checked fleet list. A [`FleetList`] must never exist otherwise. It proves nothing about its
//! author: see [`SignedFleetList`](super::SignedFleetList).

/// The maximum size of a fleet list in bytes.
pub const FLEET_LIST_BYTES_MAX: usize = 1024 * 1024;

/// The hosts of a fleet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetList {
    pub(super) fleet: String,
    pub(super) fleet_id: String,
    pub(super) serial: u64,
    pub(super) hosts: Vec<FleetListHost>,
}

/// One host of a fleet list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FleetListHost {
    pub(super) name: String,
    pub(super) labels: Vec<String>,
    pub(super) record_keys: Vec<String>,
    pub(super) log_key: String,
    pub(super) retired_log_keys: Vec<String>,
    pub(super) witness_key: String,
}

impl FleetList {
    /// Returns the name of the fleet, a text of [`model::is_host_name`].
    #[must_use]
    pub fn fleet(&self) -> &str {
        &self.fleet
    }

    /// Returns the id of the fleet, which its database made.
    #[must_use]
    pub fn fleet_id(&self) -> &str {
        &self.fleet_id
    }

    /// Returns the number of this list, 1 or more. A list with a lower number is an older one.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the hosts, in the order of the file.
    #[must_use]
    pub fn hosts(&self) -> &[FleetListHost] {
        &self.hosts
    }

    /// Returns the host with this name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&FleetListHost> {
        self.hosts.iter().find(|host| host.name == name)
    }
}

impl FleetListHost {
    /// Returns the name, which is also that of its database role and of its log.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the labels by which requests may name it, in the order of the file.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the keys of its records, each a line of `allowed_signers`.
    #[must_use]
    pub fn record_keys(&self) -> &[String] {
        &self.record_keys
    }

    /// Returns the verifier line of its log.
    #[must_use]
    pub fn log_key(&self) -> &str {
        &self.log_key
    }

    /// Returns the verifier lines of the keys that its log had before.
    #[must_use]
    pub fn retired_log_keys(&self) -> &[String] {
        &self.retired_log_keys
    }

    /// Returns the verifier line with which it cosigns the logs of other hosts.
    #[must_use]
    pub fn witness_key(&self) -> &str {
        &self.witness_key
    }
}
