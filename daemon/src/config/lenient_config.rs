//! Lenient reader of a configuration for `toolexec doctor`: it reads as much as possible, even of a
//! file that the daemon would refuse. No run may ever use its result; runs need a [`Config`].
//!
//! [`Config`]: crate::config::Config

use std::path::{Path, PathBuf};

use policies::yaml_problem;
use records::KeySource;
use serde::Deserialize;

use super::host_keys::{self, RawKeysConfig};
use super::read_config_text;
use crate::model::ConfigError;

/// The paths that a configuration names.
#[derive(Clone, Debug)]
pub struct LenientConfig {
    /// The directory of the spool; none if the key `spool` is missing.
    pub spool: Option<PathBuf>,
    /// The directory of the state; none if the key `state` is missing.
    pub state: Option<PathBuf>,
    /// The policy file; none if the key `policy` is missing.
    pub policy: Option<PathBuf>,
    /// The `allowed_signers` file of the approvers; none if the key is missing.
    pub allowed_signers: Option<PathBuf>,
    /// The list of revoked keys; none if the key `revoked` is missing.
    pub revoked: Option<PathBuf>,
    /// The trust store of AIS artifacts; none if the key `ais_trust` is missing.
    pub ais_trust: Option<PathBuf>,
    /// The directory of the log, by default `log` in the spool; none without either key.
    pub log: Option<PathBuf>,
    /// The socket of the launcher; none if the key `launcher.socket` is missing.
    pub launcher_socket: Option<PathBuf>,
    /// The socket of the egress proxy; none if the key `egress.socket` is missing.
    pub egress_socket: Option<PathBuf>,
    /// The socket of the gate of the fleet; none if the key `fleet.socket` is missing.
    pub fleet_socket: Option<PathBuf>,
    /// The key source; none if the configuration does not determine it.
    pub keys: Option<KeySource>,
}

/// The keys that are needed here; the strict reader checks the others.
#[derive(Deserialize)]
struct RawLenientConfig {
    spool: Option<PathBuf>,
    state: Option<PathBuf>,
    policy: Option<PathBuf>,
    allowed_signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    ais_trust: Option<PathBuf>,
    keys: Option<RawKeysConfig>,
    log: Option<RawLenientLog>,
    launcher: Option<RawLenientSocket>,
    egress: Option<RawLenientSocket>,
    fleet: Option<RawLenientSocket>,
}

#[derive(Deserialize)]
struct RawLenientLog {
    directory: Option<PathBuf>,
}

#[derive(Deserialize)]
struct RawLenientSocket {
    socket: Option<PathBuf>,
}

impl LenientConfig {
    /// Reads the file only, not the files that it names.
    ///
    /// # Errors
    /// The file cannot be read, or cannot be parsed.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_config_text(path)?;
        let form: RawLenientConfig = serde_yaml::from_str(&text)
            .map_err(|error| ConfigError::Syntax(path.to_owned(), yaml_problem(&text, &error)))?;
        let socket = |form: Option<RawLenientSocket>| form.and_then(|form| form.socket);
        let keys = form.state.as_deref().and_then(|it| host_keys::source(form.keys, it).ok());
        let log = form.log.and_then(|log| log.directory);
        Ok(Self {
            log: log.or_else(|| form.spool.as_ref().map(|spool| spool.join("log"))),
            spool: form.spool,
            state: form.state,
            policy: form.policy,
            allowed_signers: form.allowed_signers,
            revoked: form.revoked,
            ais_trust: form.ais_trust,
            launcher_socket: socket(form.launcher),
            egress_socket: socket(form.egress),
            fleet_socket: socket(form.fleet),
            keys,
        })
    }
}
