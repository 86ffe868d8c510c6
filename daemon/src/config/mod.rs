//! The configuration file of `toolexecd`: strict, small, and checked before anything is touched.

mod host_keys;
mod keep;
pub mod outline;
mod raw;
mod validate;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use egress::client::Egress;
use policies::{POLICY_BYTES_MAX, Policy};
use records::KeySource;
use records::log::LogOrigin;
use sandbox::client::Reach;
use spool::retention::Keep;

use crate::bounded_file::{read_bytes, text_of};
use crate::metrics::MetricsSettings;
pub use crate::model::ConfigError;
use crate::room::RoomMax;
use crate::trust_store::{Owners, TrustFiles, TrustStore, insist_on_ours};
pub use crate::trust_store::{read_ais_trust, read_revoked, read_signers};
pub use host_keys::open_keys;
use raw::Form;
use validate::Settings;

const CONFIG_BYTES_MAX: usize = 64 * 1024;
/// A configuration whose files were all read and found good.
pub struct Config {
    pub spool: PathBuf,
    pub state: PathBuf,
    pub policy: Policy,
    pub trust: TrustStore,
    /// Where the keys are that sign records and the log.
    pub keys: KeySource,
    /// The name of the log and so of this host; none means that of its key, or the host's own.
    pub log_origin: Option<LogOrigin>,
    /// How long the log may be silent before it is told that it lives; none if it is not told.
    pub heartbeat_sec: Option<NonZero<u32>>,
    /// Where the log is; anybody may read it.
    pub log: PathBuf,
    pub launcher: Reach,
    /// The proxy of runs that name hosts; without one they are refused.
    pub egress: Option<Egress>,
    /// inotify is a hint; this often the directory itself is looked at.
    pub rescan: Duration,
    /// After SIGTERM, how long a run may go on before it is cancelled.
    pub drain: Duration,
    /// Cells that are kept ready for runs to come; 0 keeps none.
    pub ready_cells: usize,
    /// Runs at one time, and the memory that they may be promised together.
    pub room: RoomMax,
    /// How much of what was run and refused is kept; all of it if nothing is said.
    pub keep: Keep,
    /// Where our own numbers go; nowhere if it is not said.
    pub metrics: MetricsSettings,
}

/// The text of a configuration, bounded.
pub(crate) fn read_config_text(path: &Path) -> Result<String, ConfigError> {
    text_of(path, read_bytes(path, CONFIG_BYTES_MAX)?)
}

/// Reads a policy file.
///
/// # Errors
/// What is wrong with it, every problem at once.
pub fn read_policy(path: &Path) -> Result<Policy, ConfigError> {
    let bytes = read_bytes(path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, &path.display().to_string()).map_err(ConfigError::Policy)
}

impl Config {
    /// Reads the file and every file that it names.
    ///
    /// # Errors
    /// The first that cannot be used.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_config_text(path)?;
        let mut form: Form = serde_yaml::from_str(&text)
            .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))?;
        let settings =
            Settings::of(&mut form).map_err(|what| ConfigError::Value(path.to_owned(), what))?;
        let trusted = [&form.allowed_signers, &form.revoked, &form.ais_trust];
        let deciding = trusted.into_iter().map(Option::as_ref).chain([Some(&form.policy)]);
        deciding.flatten().try_for_each(|path| insist_on_ours(path))?;
        let policy = read_policy(&form.policy)?;
        let files = TrustFiles {
            allowed_signers: form.allowed_signers,
            revoked: form.revoked,
            ais: form.ais_trust,
        };
        let Settings { room, metrics, launcher, keys, log, keep, egress } = settings;
        Ok(Self {
            spool: form.spool,
            state: form.state,
            policy,
            trust: TrustStore::open(files, Owners::Ours)?,
            keys,
            log_origin: log.origin,
            heartbeat_sec: log.heartbeat_sec,
            log: log.directory,
            launcher,
            egress,
            rescan: Duration::from_secs(form.rescan_sec),
            drain: Duration::from_secs(form.drain_sec),
            ready_cells: form.ready_cells,
            room,
            keep,
            metrics,
        })
    }
}
