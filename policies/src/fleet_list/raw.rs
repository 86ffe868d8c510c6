//! The fleet list as written: keys, and the spelling of values. It must never supply a missing
//! value. Only `check` may use these types, because nothing here is checked yet.

use crate::number::WholeNumber;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFleetList {
    /// The name of the fleet.
    pub(super) fleet: String,
    /// The id that `toolexec fleet init` printed.
    pub(super) fleet_id: String,
    /// The number of this list, 1 or more. A host never takes a lower one than it has seen.
    pub(super) serial: WholeNumber,
    /// The hosts.
    pub(super) hosts: Vec<RawFleetHost>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFleetHost {
    /// The name of its database role and of its log.
    pub(super) name: String,
    /// The labels by which requests may name it; none if left out.
    pub(super) labels: Option<Vec<String>>,
    /// The keys of its records, each a line of `toolexec keys show --format allowed-signers`.
    pub(super) record_keys: Vec<String>,
    /// The key of its log, as `toolexec keys show --format verifier` prints it.
    pub(super) log_key: String,
    /// Earlier keys of its log, for older records; none if left out.
    pub(super) retired_log_keys: Option<Vec<String>>,
    /// The key with which it cosigns the logs of other hosts, as `toolexec-fleet check` prints it.
    pub(super) witness_key: String,
}
