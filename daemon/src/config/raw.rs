//! The deserialized configuration file, before its values are checked.

use std::path::PathBuf;

use serde::Deserialize;

use super::host_keys::KeysForm;
use super::keep::KeepForm;
use crate::metrics::MetricsForm;

/// The keys of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    pub(super) config_version: u32,
    pub(super) spool: PathBuf,
    pub(super) state: PathBuf,
    pub(super) policy: PathBuf,
    pub(super) allowed_signers: Option<PathBuf>,
    pub(super) revoked: Option<PathBuf>,
    pub(super) ais_trust: Option<PathBuf>,
    pub(super) keys: Option<KeysForm>,
    pub(super) log: Option<LogForm>,
    pub(super) launcher: Option<LauncherForm>,
    pub(super) egress: Option<EgressForm>,
    pub(super) metrics: Option<MetricsForm>,
    #[serde(default = "rescan_by_default")]
    pub(super) rescan_sec: u64,
    #[serde(default = "drain_by_default")]
    pub(super) drain_sec: u64,
    #[serde(default = "ready_cells_by_default")]
    pub(super) ready_cells: usize,
    pub(super) runs_max: Option<usize>,
    pub(super) memory_bytes_max: Option<u64>,
    pub(super) keep: Option<KeepForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogForm {
    pub(super) origin: Option<String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) heartbeat_sec: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LauncherForm {
    pub(super) socket: Option<PathBuf>,
    pub(super) program: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EgressForm {
    pub(super) socket: Option<PathBuf>,
    pub(super) program: Option<PathBuf>,
    pub(super) hosts_file: Option<PathBuf>,
}

fn rescan_by_default() -> u64 {
    30
}

fn drain_by_default() -> u64 {
    30
}

fn ready_cells_by_default() -> usize {
    1
}
