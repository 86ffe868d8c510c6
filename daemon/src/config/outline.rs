//! What a configuration names, for whoever looks for what is wrong with it: as much as can be read, also
//! of one that the daemon would refuse. Nothing may ever be run by it; that takes a whole [`Config`].
//!
//! [`Config`]: crate::config::Config

use std::path::{Path, PathBuf};

use records::KeySource;
use serde::Deserialize;

use super::host_keys::{self, KeysForm};
use super::read_config_text;
use crate::model::ConfigError;

/// The places that a configuration names.
#[derive(Clone, Debug)]
pub struct Outline {
    pub spool: Option<PathBuf>,
    pub state: Option<PathBuf>,
    pub policy: Option<PathBuf>,
    pub allowed_signers: Option<PathBuf>,
    pub revoked: Option<PathBuf>,
    pub ais_trust: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub launcher_socket: Option<PathBuf>,
    pub egress_socket: Option<PathBuf>,
    /// Where the keys are; nothing where that cannot be told.
    pub keys: Option<KeySource>,
}

/// The keys that matter here; what else stands there is for the strict reader.
#[derive(Deserialize)]
struct OutlineForm {
    spool: Option<PathBuf>,
    state: Option<PathBuf>,
    policy: Option<PathBuf>,
    allowed_signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    ais_trust: Option<PathBuf>,
    keys: Option<KeysForm>,
    log: Option<LogPlaceForm>,
    launcher: Option<SocketForm>,
    egress: Option<SocketForm>,
}

#[derive(Deserialize)]
struct LogPlaceForm {
    directory: Option<PathBuf>,
}

#[derive(Deserialize)]
struct SocketForm {
    socket: Option<PathBuf>,
}

impl Outline {
    /// Reads the file, and none of those that it names.
    ///
    /// # Errors
    /// It cannot be read, or its form is so wrong that nothing can be told of it.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_config_text(path)?;
        let form: OutlineForm = serde_yaml::from_str(&text)
            .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))?;
        let socket = |form: Option<SocketForm>| form.and_then(|form| form.socket);
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
