//! Lenient reader of a configuration for `toolexec doctor`: it reads as much as possible, even of a
//! file that the daemon would refuse. No run may ever use its result; runs need a [`Config`].
//!
//! [`Config`]: crate::config::Config

use std::path::{Path, PathBuf};

use records::KeySource;
use serde::Deserialize;

use super::host_keys::{self, RawKeysConfig};
use super::read_config_text;
use crate::model::ConfigError;

/// The paths that a configuration names.
#[derive(Clone, Debug)]
pub struct LenientConfig {
    pub spool: Option<PathBuf>,
    pub state: Option<PathBuf>,
    pub policy: Option<PathBuf>,
    pub allowed_signers: Option<PathBuf>,
    pub revoked: Option<PathBuf>,
    pub ais_trust: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub launcher_socket: Option<PathBuf>,
    pub egress_socket: Option<PathBuf>,
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
            .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))?;
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
            keys,
        })
    }
}
