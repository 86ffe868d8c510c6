//! The trust of a verifier: OpenSSH `allowed_signers` text for records, and optional keys and
//! checkpoints. A line that is not understood must never be skipped, and no key may be trusted for
//! more than its line states.

mod fleet;
mod line;

use std::fmt;

use model::UtcTime;
use policies::{AllowedSigners, FleetList};
use ssh_key::{HashAlg, SshSig};

use crate::log::PublicLogKey;
use crate::result_key::{PublicResultKey, RESULT_NAMESPACE};
use crate::verify::History;
use crate::verify_error::SignatureProblem;
use fleet::FleetTrust;
use line::ResultSigner;

pub use fleet::FleetTrustError;

pub(crate) use fleet::FleetHostTrust;
pub(crate) use line::StatementKey;

/// The inputs that a verifier trusts: the keys that sign records, and optionally those of logs and
/// approvers, and the log's history. Without an input, the verdict states the skipped check.
#[derive(Debug)]
pub struct Trust {
    signers: Vec<ResultSigner>,
    logs: Vec<PublicLogKey>,
    approvers: Option<AllowedSigners>,
    history: Option<History>,
    /// The hosts, if the keys are those of a fleet list.
    fleet: Option<FleetTrust>,
}

/// An invalid line of `allowed_signers`.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordTrustError {
    line: usize,
    problem: String,
}

impl RecordTrustError {
    /// Returns the line number, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for RecordTrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "allowed_signers, line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for RecordTrustError {}

/// The signer of a verified signature.
pub(crate) struct VerifiedSigner {
    pub(crate) fingerprint: String,
}

impl Trust {
    /// Parses lines `principals [options] keytype key [comment]`. A key is trusted for results if
    /// its principals match `tool-exec` and its namespaces, if given, match that of results.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn from_allowed_signers(text: &str) -> Result<Trust, RecordTrustError> {
        let mut signers = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let failed = |problem| RecordTrustError { line: index + 1, problem };
            signers.push(ResultSigner::parse(line).map_err(failed)?);
        }
        Ok(Self::of(signers))
    }

    /// Trusts one key for results, without a limit in time.
    #[must_use]
    pub fn from_key(key: &PublicResultKey) -> Trust {
        Self::of(vec![ResultSigner::for_results(key)])
    }

    /// Trusts the hosts of a fleet list: each key for the records of its host, in the log of its
    /// host. The caller has checked the signature of the list.
    ///
    /// # Errors
    /// [`FleetTrustError`]: the first key that cannot be used.
    pub fn of_fleet(list: &FleetList) -> Result<Trust, FleetTrustError> {
        let mut signers = Vec::new();
        let fleet = FleetTrust::of(list, &mut signers)?;
        let logs = fleet.hosts.iter().flat_map(|host| host.logs().iter().cloned()).collect();
        Ok(Self { fleet: Some(fleet), logs, ..Self::of(signers) })
    }

    /// States that the signature of the fleet list was not checked. Each verdict then says so.
    #[must_use]
    pub fn without_list_signature(mut self) -> Self {
        if let Some(fleet) = &mut self.fleet {
            fleet.is_signature_checked = false;
        }
        self
    }

    fn of(signers: Vec<ResultSigner>) -> Self {
        Self { signers, logs: Vec::new(), approvers: None, history: None, fleet: None }
    }

    /// Trusts these logs: several, if a log had several keys. With none, the log is not checked.
    #[must_use]
    pub fn with_logs(self, logs: Vec<PublicLogKey>) -> Self {
        Self { logs, ..self }
    }

    /// Enables the verification of approvals with these keys, except revoked ones.
    #[must_use]
    pub fn with_approvers(self, approvers: AllowedSigners) -> Self {
        Self { approvers: Some(approvers), ..self }
    }

    /// Enables the comparison of every checkpoint with the log's history.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        Self { history: Some(history), ..self }
    }

    pub(crate) fn logs(&self) -> &[PublicLogKey] {
        &self.logs
    }

    pub(crate) fn approvers(&self) -> Option<&AllowedSigners> {
        self.approvers.as_ref()
    }

    pub(crate) fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Returns the host of the fleet that signs its records with the key of this fingerprint.
    pub(crate) fn fleet_host(&self, fingerprint: &str) -> Option<&FleetHostTrust> {
        self.fleet.as_ref()?.host_of(fingerprint)
    }

    /// Returns the logs in which a record signed by this key may be.
    pub(crate) fn logs_of(&self, fingerprint: &str) -> &[PublicLogKey] {
        match &self.fleet {
            Some(fleet) => fleet.host_of(fingerprint).map_or(&[], FleetHostTrust::logs),
            None => &self.logs,
        }
    }

    /// Returns whether the keys are those of a fleet list, which also has the labels of each host.
    pub(crate) fn is_of_fleet(&self) -> bool {
        self.fleet.is_some()
    }

    /// Returns whether the keys are those of a fleet list whose signature was not checked.
    pub(crate) fn is_of_unsigned_list(&self) -> bool {
        self.fleet.as_ref().is_some_and(|fleet| !fleet.is_signature_checked)
    }

    /// Returns the trusted key for this hint, regardless of its validity.
    pub(crate) fn statement_key(&self, hint: &str) -> Option<&StatementKey> {
        let trusted = self.signers.iter().filter(|signer| signer.may_sign_results());
        let mut keys = trusted.filter_map(|signer| signer.statements.as_ref());
        keys.find(|key| key.public().hint() == hint)
    }

    /// Returns whether this key was trusted for results at this time.
    pub(crate) fn trusts_at(&self, key: &PublicResultKey, made: UtcTime) -> bool {
        let known =
            self.signers.iter().filter(|signer| signer.key.key_data() == key.key().key_data());
        known.filter(|signer| signer.may_sign_results()).any(|signer| signer.valid_at(made))
    }

    /// Verifies that a trusted key made this armoured signature over these bytes. `made` is the
    /// record's time; if it cannot be read, the caller reports that and validity is not checked.
    pub(crate) fn check(
        &self,
        armoured: &[u8],
        message: &[u8],
        made: Option<UtcTime>,
    ) -> Result<VerifiedSigner, SignatureProblem> {
        let signature = SshSig::from_pem(armoured).map_err(|_| SignatureProblem::NotASignature)?;
        if signature.namespace() != RESULT_NAMESPACE {
            let found = model::escape_line(signature.namespace());
            return Err(SignatureProblem::Namespace { found });
        }
        if signature.version() != SshSig::VERSION || !signature.reserved().is_empty() {
            return Err(SignatureProblem::NotASignature);
        }
        let fingerprint = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
        let known: Vec<&ResultSigner> = self
            .signers
            .iter()
            .filter(|signer| signer.key.key_data() == signature.public_key())
            .filter(|signer| signer.may_sign_results())
            .collect();
        let Some(first) = known.first() else {
            return Err(SignatureProblem::NotTrusted { fingerprint });
        };
        if signature.algorithm() != first.key.algorithm() || !first.verifies(&signature, message) {
            return Err(SignatureProblem::OtherBytes);
        }
        match made {
            Some(made) if !known.iter().any(|signer| signer.valid_at(made)) => {
                Err(SignatureProblem::OutsideValidity { fingerprint, made })
            }
            _ => Ok(VerifiedSigner { fingerprint }),
        }
    }
}
