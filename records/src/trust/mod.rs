//! Whose signatures count: OpenSSH `allowed_signers` text for records, and what else a verifier was
//! given. It must never skip a line that it does not understand, and never trust a key for more than
//! its line says.

mod line;

use std::fmt;

use model::UtcTime;
use policies::Signers;
use ssh_key::{HashAlg, SshSig};

use crate::fault::SignatureProblem;
use crate::keys::{PublicResultKey, RESULT_NAMESPACE};
use crate::log::PublicLogKey;
use crate::verify::History;
use line::Signer;

pub(crate) use line::StatementKey;

/// What a verifier takes for true before it looks: the keys that may sign records, and, where the
/// caller has them, those of logs and approvers, and what is known of the log's past. What is not
/// given is not checked, and every verdict says so.
#[derive(Debug)]
pub struct Trust {
    signers: Vec<Signer>,
    logs: Vec<PublicLogKey>,
    approvers: Option<Signers>,
    history: Option<History>,
}

/// A line of `allowed_signers` that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct TrustError {
    line: usize,
    problem: String,
}

impl TrustError {
    /// From 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "allowed_signers, line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for TrustError {}

/// Who signed: what a verified signature gives.
pub(crate) struct SignedBy {
    pub(crate) fingerprint: String,
}

impl Trust {
    /// Reads lines `principals [options] keytype key [comment]`. Keys are trusted for results where
    /// the principals match `tool-exec` and the namespaces, if given, match that of results.
    ///
    /// # Errors
    /// The first line that cannot be used, whatever the others say.
    pub fn from_allowed_signers(text: &str) -> Result<Trust, TrustError> {
        let mut signers = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let failed = |problem| TrustError { line: index + 1, problem };
            signers.push(Signer::parse(line).map_err(failed)?);
        }
        Ok(Self::of(signers))
    }

    /// Trusts one key, for results, without bounds in time.
    #[must_use]
    pub fn from_key(key: &PublicResultKey) -> Trust {
        Self::of(vec![Signer::of_results(key)])
    }

    fn of(signers: Vec<Signer>) -> Self {
        Self { signers, logs: Vec::new(), approvers: None, history: None }
    }

    /// Trusts these logs: several, where a log had several keys. None is the same as not asking.
    #[must_use]
    pub fn with_logs(self, logs: Vec<PublicLogKey>) -> Self {
        Self { logs, ..self }
    }

    /// Has approvals verified again, by these keys without those that are revoked.
    #[must_use]
    pub fn with_approvers(self, approvers: Signers) -> Self {
        Self { approvers: Some(approvers), ..self }
    }

    /// Has every checkpoint compared with what is known of the log.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        Self { history: Some(history), ..self }
    }

    pub(crate) fn logs(&self) -> &[PublicLogKey] {
        &self.logs
    }

    pub(crate) fn approvers(&self) -> Option<&Signers> {
        self.approvers.as_ref()
    }

    pub(crate) fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// The trusted key that a bundle means by this hint, at whatever time.
    pub(crate) fn statement_key(&self, hint: &str) -> Option<&StatementKey> {
        let trusted = self.signers.iter().filter(|signer| signer.may_sign_results());
        let mut keys = trusted.filter_map(|signer| signer.statements.as_ref());
        keys.find(|key| key.public().hint() == hint)
    }

    /// Whether this key was trusted for results at this time.
    pub(crate) fn holds(&self, key: &PublicResultKey, made: UtcTime) -> bool {
        let known =
            self.signers.iter().filter(|signer| signer.key.key_data() == key.key().key_data());
        known.filter(|signer| signer.may_sign_results()).any(|signer| signer.valid_at(made))
    }

    /// Whether a trusted key made this armoured signature over these bytes. `made` is when the
    /// record says that it was made; where that cannot be read, bounds in time are not checked, and
    /// the caller has a fault of its own to tell.
    pub(crate) fn check(
        &self,
        armoured: &[u8],
        message: &[u8],
        made: Option<UtcTime>,
    ) -> Result<SignedBy, SignatureProblem> {
        let signature = SshSig::from_pem(armoured).map_err(|_| SignatureProblem::NotASignature)?;
        if signature.namespace() != RESULT_NAMESPACE {
            let found = model::escape_line(signature.namespace());
            return Err(SignatureProblem::Namespace { found });
        }
        if signature.version() != SshSig::VERSION || !signature.reserved().is_empty() {
            return Err(SignatureProblem::NotASignature);
        }
        let fingerprint = signature.public_key().fingerprint(HashAlg::Sha256).to_string();
        let known: Vec<&Signer> = self
            .signers
            .iter()
            .filter(|signer| signer.key.key_data() == signature.public_key())
            .filter(|signer| signer.may_sign_results())
            .collect();
        let Some(first) = known.first() else {
            return Err(SignatureProblem::NotTrusted { fingerprint });
        };
        if signature.algorithm() != first.key.algorithm() || !first.made(&signature, message) {
            return Err(SignatureProblem::OtherBytes);
        }
        match made {
            Some(made) if !known.iter().any(|signer| signer.valid_at(made)) => {
                Err(SignatureProblem::OutOfTime { fingerprint, made })
            }
            _ => Ok(SignedBy { fingerprint }),
        }
    }
}
