//! The trust in the hosts of a fleet. The record of a host counts only with a key of that host, and
//! only in the log of that host.

use std::fmt;

use model::{HostAudience, escape_line};
use policies::{FleetList, FleetListHost};

use super::line::ResultSigner;
use crate::key_model::KeyFingerprint;
use crate::log::PublicLogKey;

/// The hosts of a fleet list.
#[derive(Debug)]
pub(super) struct FleetTrust {
    pub(super) hosts: Vec<FleetHostTrust>,
    pub(super) is_signature_checked: bool,
}

/// One host of a fleet list.
#[derive(Debug)]
pub(crate) struct FleetHostTrust {
    name: String,
    labels: Vec<String>,
    fingerprints: Vec<String>,
    logs: Vec<PublicLogKey>,
}

/// A host of a fleet list has a key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetTrustError {
    /// A key of its records.
    RecordKey {
        /// The host.
        host: String,
        /// The problem, with help.
        problem: String,
    },
    /// A key of its records is not one for results.
    NotForResults {
        /// The host.
        host: String,
    },
    /// A key of its log.
    LogKey {
        /// The host.
        host: String,
    },
}

impl fmt::Display for FleetTrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordKey { host, problem } => {
                write!(f, "fleet list: record key of `{}`: {problem}", escape_line(host))
            }
            Self::NotForResults { host } => write!(
                f,
                "fleet list: record key of `{}`: may not sign results; help: copy a line of \
                 `toolexec keys show --format allowed-signers`",
                escape_line(host)
            ),
            Self::LogKey { host } => write!(
                f,
                "fleet list: log key of `{}`: not a key of its log; help: copy the output of \
                 `toolexec keys show --format verifier`",
                escape_line(host)
            ),
        }
    }
}

impl std::error::Error for FleetTrustError {}

impl FleetHostTrust {
    fn of(host: &FleetListHost, signers: &mut Vec<ResultSigner>) -> Result<Self, FleetTrustError> {
        let name = || host.name().to_owned();
        let mut fingerprints = Vec::new();
        for line in host.record_keys() {
            let signer = ResultSigner::parse(line)
                .map_err(|problem| FleetTrustError::RecordKey { host: name(), problem })?;
            if !signer.may_sign_results() {
                return Err(FleetTrustError::NotForResults { host: name() });
            }
            fingerprints.push(KeyFingerprint::of(&signer.key).to_string());
            signers.push(signer);
        }
        let of_this_host = |line: &str| {
            let key = PublicLogKey::from_verifier_line(line);
            let key = key.filter(|key| key.origin().as_str() == host.name());
            key.ok_or_else(|| FleetTrustError::LogKey { host: name() })
        };
        let retired = host.retired_log_keys().iter().map(String::as_str);
        let lines = std::iter::once(host.log_key()).chain(retired);
        let logs = lines.map(of_this_host).collect::<Result<_, _>>()?;
        Ok(Self { name: name(), labels: host.labels().to_vec(), fingerprints, logs })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the host with the origin of its log.
    pub(crate) fn audience(&self) -> HostAudience<'_> {
        HostAudience::of(Some(&self.name)).with_labels(&self.labels)
    }

    fn has_key(&self, fingerprint: &str) -> bool {
        self.fingerprints.iter().any(|it| it == fingerprint)
    }

    pub(super) fn logs(&self) -> &[PublicLogKey] {
        &self.logs
    }
}

impl FleetTrust {
    /// Reads the keys of a fleet list. Adds those of records to `signers`.
    pub(super) fn of(
        list: &FleetList,
        signers: &mut Vec<ResultSigner>,
    ) -> Result<Self, FleetTrustError> {
        let hosts = list.hosts().iter().map(|host| FleetHostTrust::of(host, signers));
        let hosts = hosts.collect::<Result<_, _>>()?;
        Ok(Self { hosts, is_signature_checked: true })
    }

    pub(super) fn host_of(&self, fingerprint: &str) -> Option<&FleetHostTrust> {
        self.hosts.iter().find(|host| host.has_key(fingerprint))
    }
}
