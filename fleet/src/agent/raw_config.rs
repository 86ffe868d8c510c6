//! The deserialized configuration file of the agent, before its values are checked.

use std::path::PathBuf;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAgentConfig {
    #[serde(default = "supported_version")]
    pub(super) config_version: u32,
    pub(super) host: String,
    pub(super) database: String,
    pub(super) password_file: Option<PathBuf>,
    pub(super) tls: Option<RawTlsConfig>,
    pub(super) store: Option<String>,
    #[serde(default = "default_spool")]
    pub(super) spool: PathBuf,
    pub(super) log: Option<PathBuf>,
    #[serde(default = "default_state")]
    pub(super) state: PathBuf,
    #[serde(default = "default_socket")]
    pub(super) socket: PathBuf,
    #[serde(default = "default_fleet_list")]
    pub(super) fleet_list: PathBuf,
    #[serde(default = "default_allowed_signers")]
    pub(super) allowed_signers: PathBuf,
    pub(super) revoked: Option<PathBuf>,
    pub(super) witness_key: Option<PathBuf>,
    #[serde(default = "default_claims_max")]
    pub(super) claims_max: u32,
    #[serde(default = "default_beat_sec")]
    pub(super) beat_sec: u64,
    #[serde(default = "default_takeover_sec")]
    pub(super) takeover_sec: u64,
    #[serde(default = "default_poll_sec")]
    pub(super) poll_sec: u64,
    #[serde(default)]
    pub(super) without_audience: bool,
    pub(super) synchronous_commit: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTlsConfig {
    pub(super) ca_file: Option<PathBuf>,
}

/// The version of the format.
pub(super) fn supported_version() -> u32 {
    1
}

fn default_spool() -> PathBuf {
    PathBuf::from("/var/spool/toolexec")
}

fn default_state() -> PathBuf {
    PathBuf::from("/var/lib/toolexec-fleet")
}

fn default_socket() -> PathBuf {
    PathBuf::from("/run/toolexec-fleet/gate")
}

fn default_fleet_list() -> PathBuf {
    PathBuf::from("/etc/toolexec/fleet.yaml")
}

fn default_allowed_signers() -> PathBuf {
    PathBuf::from("/etc/toolexec/allowed_signers")
}

fn default_claims_max() -> u32 {
    8
}

fn default_beat_sec() -> u64 {
    5
}

fn default_takeover_sec() -> u64 {
    30
}

fn default_poll_sec() -> u64 {
    30
}
