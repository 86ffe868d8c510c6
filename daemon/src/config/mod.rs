//! The configuration file of `toolexecd`: strict, small, and checked before any other file is
//! changed.

mod host_keys;
pub mod lenient_config;
mod raw_config;
mod retention;
mod validate;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use egress::client::Egress;
use policies::{POLICY_BYTES_MAX, Policy, yaml_problem};
use records::KeySource;
use records::log::LogOrigin;
use sandbox::client::LauncherAddress;
use spool::retention::RetentionPolicy;

use crate::bounded_file::{read_bytes, text_of};
use crate::capacity::CapacityLimits;
use crate::fleet_gate::{ConfiguredFleet, FleetMembership};
use crate::metrics::MetricsSettings;
pub use crate::model::ConfigError;
use crate::system;
use crate::trust_store::{HostTrustStore, TrustFileOwners, TrustFiles, check_owner};
pub use crate::trust_store::{read_ais_trust, read_revoked, read_signers};
use host_keys::known_origin;
pub use host_keys::open_keys;
use raw_config::RawDaemonConfig;
use validate::CheckedConfig;

const CONFIG_BYTES_MAX: usize = 64 * 1024;
/// A configuration whose files were all read and are valid.
pub struct Config {
    /// The directory of the spool, with `approved/` and `results/`.
    pub spool: PathBuf,
    /// The directory of the daemon's state: ledger, keys, permissions and caches.
    pub state: PathBuf,
    /// The policy, parsed from the file of the key `policy`.
    pub policy: Policy,
    /// The trusted signers, the revoked keys and the trust store of AIS artifacts.
    pub trust: HostTrustStore,
    /// The source of the keys that sign records and the log.
    pub keys: KeySource,
    /// The name of the log and of this host; by default that of the log key, else the host name.
    pub log_origin: Option<LogOrigin>,
    /// The longest time without a log entry before a heartbeat; none disables heartbeats.
    pub heartbeat_sec: Option<NonZero<u32>>,
    /// The directory of the log. It has nothing secret; its mode decides who may read it.
    pub log: PathBuf,
    /// The launcher of sandboxes: a socket, or a program that the daemon starts.
    pub launcher: LauncherAddress,
    /// The proxy for runs with hosts; without one those requests are refused.
    pub egress: Option<Egress>,
    /// The fleet of this host; none for a host that runs alone.
    pub fleet: Option<ConfiguredFleet>,
    /// The interval of directory scans, which find submissions that inotify missed.
    pub scan_interval: Duration,
    /// The time that a run may continue after SIGTERM before it is cancelled.
    pub shutdown_grace: Duration,
    /// The number of prewarmed sandboxes; 0 disables them.
    pub prewarmed_sandboxes: usize,
    /// The limits on concurrent runs and the memory reserved for them.
    pub capacity: CapacityLimits,
    /// Retention of results and requests; by default everything is kept.
    pub retention: RetentionPolicy,
    /// The destinations of the metrics; by default none.
    pub metrics: MetricsSettings,
}

pub(crate) fn read_config_text(path: &Path) -> Result<String, ConfigError> {
    text_of(path, read_bytes(path, CONFIG_BYTES_MAX)?)
}

/// Reads a policy file.
///
/// # Errors
/// All problems of the file.
pub fn read_policy(path: &Path) -> Result<Policy, ConfigError> {
    let bytes = read_bytes(path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, &path.display().to_string()).map_err(ConfigError::Policy)
}

impl Config {
    /// Reads the file and every file that it names.
    ///
    /// # Errors
    /// The first file that is not valid.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_config_text(path)?;
        let mut form: RawDaemonConfig = serde_yaml::from_str(&text)
            .map_err(|error| ConfigError::Syntax(path.to_owned(), yaml_problem(&text, &error)))?;
        let settings = CheckedConfig::of(&mut form)
            .map_err(|what| ConfigError::Value(path.to_owned(), what))?;
        let trusted = [&form.allowed_signers, &form.revoked, &form.ais_trust];
        let deciding = trusted.into_iter().map(Option::as_ref).chain([Some(&form.policy)]);
        deciding.flatten().try_for_each(|path| check_owner(path))?;
        let policy = read_policy(&form.policy)?;
        let files = TrustFiles {
            allowed_signers: form.allowed_signers,
            revoked: form.revoked,
            ais: form.ais_trust,
        };
        let trust = HostTrustStore::open(files, TrustFileOwners::RootOrDaemon)?;
        let CheckedConfig { capacity, metrics, launcher, keys, log, retention, egress, fleet } =
            settings;
        let fleet = fleet.map(|fleet| ConfiguredFleet::read(fleet, trust.signers(), system::now()));
        Ok(Self {
            spool: form.spool,
            state: form.state,
            policy,
            trust,
            keys,
            log_origin: log.origin,
            heartbeat_sec: log.heartbeat_sec,
            log: log.directory,
            launcher,
            egress,
            fleet: fleet.transpose()?,
            scan_interval: Duration::from_secs(form.scan_interval_sec),
            shutdown_grace: Duration::from_secs(form.shutdown_grace_sec),
            prewarmed_sandboxes: form.prewarmed_sandboxes,
            capacity,
            retention,
            metrics,
        })
    }

    /// Checks that the list of the fleet has this host, and that no newer list was used before.
    /// Before the first start, the name of this host may be unknown.
    ///
    /// # Errors
    /// The reason why the daemon would not start.
    pub fn check_fleet(&self) -> Result<(), ConfigError> {
        match (&self.fleet, known_origin(&self.keys, self.log_origin.as_ref())) {
            (Some(fleet), Some(origin)) => {
                FleetMembership::check(fleet, origin.as_str(), &self.state).map(drop)
            }
            _ => Ok(()),
        }
    }
}
