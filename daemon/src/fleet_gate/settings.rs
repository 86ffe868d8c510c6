//! The key `fleet` of the configuration, and the signed list that it names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::UtcTime;
use policies::{
    AllowedSigners, FLEET_LIST_BYTES_MAX, FleetList, FleetListError, FleetListHost,
    SIGNATURE_BYTES_MAX, SignedFleetList,
};
use serde::Deserialize;

use crate::bounded_file::read_bytes;
use crate::model::ConfigError;

/// A minute: a database that is restarted answers again within it.
const START_WAIT_SEC: u64 = 60;
/// Below the time that a ready sandbox and the proxy of a run wait for the start.
const START_WAIT_SEC_MAX: u64 = 240;
const _: () = assert!(START_WAIT_SEC_MAX < sandbox::plan::READY_SEC_MAX);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFleetConfig {
    pub(crate) socket: PathBuf,
    pub(crate) list: PathBuf,
    start_wait_sec: Option<u64>,
}

/// The checked values of the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FleetSettings {
    /// The socket of the gate.
    pub(crate) socket: PathBuf,
    /// The signed list of the fleet.
    pub(crate) list: PathBuf,
    /// The longest wait for the answer to one start.
    pub(crate) start_wait: Duration,
}

impl RawFleetConfig {
    pub(crate) fn settings(self) -> Result<FleetSettings, String> {
        let seconds = self.start_wait_sec.unwrap_or(START_WAIT_SEC);
        if !(1..=START_WAIT_SEC_MAX).contains(&seconds) {
            return Err(format!(
                "fleet.start_wait_sec: {seconds} is out of range; help: set it to 1 to \
                 {START_WAIT_SEC_MAX} seconds"
            ));
        }
        let start_wait = Duration::from_secs(seconds);
        Ok(FleetSettings { socket: self.socket, list: self.list, start_wait })
    }
}

/// A fleet whose list was read and is signed by an operator.
pub struct ConfiguredFleet {
    settings: FleetSettings,
    list: SignedFleetList,
}

impl ConfiguredFleet {
    /// Reads the list and its signature, which is beside it with the suffix `.sig`.
    pub(crate) fn read(
        settings: FleetSettings,
        signers: Option<&AllowedSigners>,
        now: UtcTime,
    ) -> Result<Self, ConfigError> {
        let path = &settings.list;
        let signers = signers.ok_or_else(|| {
            let what = "cannot be verified without allowed_signers; help: set allowed_signers in \
                        toolexecd.yaml";
            ConfigError::Value(path.clone(), what.to_owned())
        })?;
        let bytes = read_bytes(path, FLEET_LIST_BYTES_MAX)?;
        let signature = read_bytes(&SignedFleetList::signature_path(path), SIGNATURE_BYTES_MAX)
            .map_err(|error| unread_signature(path, error))?;
        let origin = path.display().to_string();
        let list = SignedFleetList::read(&bytes, &signature, &origin, signers, now)
            .map_err(|error| invalid_list(path, error))?;
        Ok(Self { settings, list })
    }

    pub(crate) fn settings(&self) -> &FleetSettings {
        &self.settings
    }

    pub(crate) fn list(&self) -> &FleetList {
        self.list.list()
    }

    /// Returns the host with this name, which is the name of its log.
    ///
    /// # Errors
    /// The list does not have it.
    pub(crate) fn host(&self, name: &str) -> Result<&FleetListHost, ConfigError> {
        self.list().host(name).ok_or_else(|| {
            let fleet = self.list().fleet();
            let what = format!(
                "has no host `{name}`, the name of the log of this host, in fleet `{fleet}`; help: \
                 add this host and sign the list again, or set log.origin in toolexecd.yaml"
            );
            ConfigError::Value(self.settings.list.clone(), what)
        })
    }
}

fn unread_signature(list: &Path, error: ConfigError) -> ConfigError {
    match error {
        ConfigError::Read(path, error) if error.kind() == ErrorKind::NotFound => {
            ConfigError::Value(path, SignedFleetList::missing_signature(list))
        }
        other => other,
    }
}

fn invalid_list(path: &Path, error: FleetListError) -> ConfigError {
    match error {
        FleetListError::Form(error) => ConfigError::Policy(error),
        FleetListError::Signature { problem, .. } => {
            ConfigError::Value(path.to_owned(), problem.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(start_wait_sec: Option<u64>) -> RawFleetConfig {
        let (socket, list) = ("/run/gate".into(), "/etc/fleet.yaml".into());
        RawFleetConfig { socket, list, start_wait_sec }
    }

    #[test]
    fn the_wait_for_a_start_is_bounded() {
        let settings = form(None).settings().unwrap();
        assert_eq!(settings.start_wait, Duration::from_secs(START_WAIT_SEC));
        for seconds in [1, START_WAIT_SEC_MAX] {
            assert!(form(Some(seconds)).settings().is_ok(), "{seconds}");
        }
        for seconds in [0, START_WAIT_SEC_MAX + 1, u64::MAX] {
            let error = form(Some(seconds)).settings().unwrap_err();
            assert!(error.starts_with("fleet.start_wait_sec: "), "{error}");
        }
    }

    #[test]
    fn a_list_without_signers_is_not_read() {
        let settings = form(None).settings().unwrap();
        let error = ConfiguredFleet::read(settings, None, UtcTime::from_unix(0)).err().unwrap();
        assert!(error.to_string().contains("without allowed_signers"), "{error}");
    }
}
