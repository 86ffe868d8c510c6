//! The deserialized configuration file, before its values are checked.

use std::path::PathBuf;

use serde::Deserialize;

use super::host_keys::RawKeysConfig;
use super::retention::RawRetentionConfig;
use crate::fleet_gate::RawFleetConfig;
use crate::metrics::RawMetricsConfig;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDaemonConfig {
    pub(super) config_version: u32,
    pub(super) spool: PathBuf,
    pub(super) state: PathBuf,
    pub(super) policy: PathBuf,
    pub(super) allowed_signers: Option<PathBuf>,
    pub(super) revoked: Option<PathBuf>,
    pub(super) ais_trust: Option<PathBuf>,
    pub(super) keys: Option<RawKeysConfig>,
    pub(super) log: Option<RawLogConfig>,
    pub(super) launcher: Option<RawLauncherConfig>,
    pub(super) egress: Option<RawEgressConfig>,
    pub(super) fleet: Option<RawFleetConfig>,
    pub(super) metrics: Option<RawMetricsConfig>,
    #[serde(default = "default_scan_interval_sec")]
    pub(super) scan_interval_sec: u64,
    #[serde(default = "default_shutdown_grace_sec")]
    pub(super) shutdown_grace_sec: u64,
    #[serde(default = "default_prewarmed_sandboxes")]
    pub(super) prewarmed_sandboxes: usize,
    pub(super) runs_max: Option<usize>,
    pub(super) memory_bytes_max: Option<u64>,
    pub(super) retention: Option<RawRetentionConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLogConfig {
    pub(super) origin: Option<String>,
    pub(super) directory: Option<PathBuf>,
    pub(super) heartbeat_sec: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLauncherConfig {
    pub(super) socket: Option<PathBuf>,
    pub(super) program: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEgressConfig {
    pub(super) socket: Option<PathBuf>,
    pub(super) program: Option<PathBuf>,
    pub(super) hosts_file: Option<PathBuf>,
}

fn default_scan_interval_sec() -> u64 {
    30
}

fn default_shutdown_grace_sec() -> u64 {
    30
}

fn default_prewarmed_sandboxes() -> usize {
    1
}
