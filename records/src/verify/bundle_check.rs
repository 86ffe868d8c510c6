//! Verification of a record's bundle and `.tlog-proof`: signed by the record's key, in a trusted
//! log, with its files and facts. Must never trust a key or a log because a bundle names it.

use std::collections::BTreeMap;

use model::{Sha256, UtcTime};

use crate::attestation::{RecordBundleError, SignedBundle, VerifiedBundle, read_bundle};
use crate::dsse::DsseEnvelope;
use crate::log::{ProofError, PublicLogKey};
use crate::result_key::PublicResultKey;
use crate::tree::OWN_SUFFIXES;
use crate::trust::Trust;
use crate::verify::facts::ParsedRecord;
use crate::verify::verdict::{LogPosition, SkippedCheck};
use crate::verify_error::{SignatureProblem, VerifyError};

pub(super) const BUNDLE_BYTES_MAX: u64 = 24 * 1024 * 1024;
pub(super) const PROOF_BYTES_MAX: u64 = 128 * 1024;

/// Returns the files of a record that no record names: record, signature, bundle and proof.
pub(super) fn files_of(record: &str) -> [String; 4] {
    OWN_SUFFIXES.map(|ending| format!("{record}{ending}"))
}

/// A statement signed by a trusted key, with its place in a log if one is trusted.
pub(super) struct TrustedStatement {
    statement: StatementProof,
    key: PublicResultKey,
}

enum StatementProof {
    Signed(Box<SignedBundle>),
    Logged(Box<VerifiedBundle>, Box<PublicLogKey>),
}

impl TrustedStatement {
    pub(super) fn read(
        file: &str,
        bytes: &[u8],
        trust: &Trust,
        faults: &mut Vec<VerifyError>,
    ) -> Option<Self> {
        let attested = verify_statement(bytes, trust);
        let unfit = |problem| VerifyError::Bundle { file: file.to_owned(), problem };
        let attested = attested.map_err(|problem| faults.push(unfit(problem))).ok()?;
        let made = attested.signed().facts()["created_utc"].as_str();
        let Some(made) = made.and_then(|text| text.parse::<UtcTime>().ok()) else {
            faults.push(unfit(RecordBundleError::Statement("created_utc: not a time".to_owned())));
            return None;
        };
        if !trust.trusts_at(&attested.key, made) {
            let fingerprint = attested.fingerprint();
            let problem = SignatureProblem::OutsideValidity { fingerprint, made };
            faults.push(VerifyError::Signature { file: file.to_owned(), problem });
            return None;
        }
        Some(attested)
    }

    /// Verifies a statement that is not logged yet.
    pub(super) fn unlogged(
        file: &str,
        envelope: &DsseEnvelope,
        trust: &Trust,
        faults: &mut Vec<VerifyError>,
    ) -> Option<Self> {
        let unfit = |problem| VerifyError::Bundle { file: file.to_owned(), problem };
        let key = trust.statement_key(&envelope.key().hint()).ok_or(RecordBundleError::OtherKey);
        let signed = key.and_then(|key| Ok((SignedBundle::unlogged(envelope)?, key)));
        let (signed, key) = signed.map_err(|problem| faults.push(unfit(problem))).ok()?;
        Some(Self {
            statement: StatementProof::Signed(Box::new(signed)),
            key: key.public().clone(),
        })
    }

    pub(super) fn signed(&self) -> &SignedBundle {
        match &self.statement {
            StatementProof::Signed(signed) => signed,
            StatementProof::Logged(verified, _) => verified.signed(),
        }
    }

    pub(super) fn fingerprint(&self) -> String {
        self.key.fingerprint()
    }

    pub(super) fn log(&self) -> Option<&PublicLogKey> {
        match &self.statement {
            StatementProof::Signed(_) => None,
            StatementProof::Logged(_, log) => Some(log),
        }
    }

    pub(super) fn place(&self) -> Option<LogPosition> {
        let StatementProof::Logged(verified, log) = &self.statement else { return None };
        let inclusion = verified.inclusion();
        Some(LogPosition {
            origin: log.origin().to_string(),
            index: inclusion.index(),
            size: inclusion.checkpoint().size(),
            root: inclusion.checkpoint().root(),
            leaf: verified.leaf_hash(),
        })
    }

    /// Compares the statement with the record's claims about itself and its files. The files on
    /// disk are compared with the record elsewhere.
    pub(super) fn compare(
        &self,
        file: &str,
        record: &str,
        read: &ParsedRecord,
        faults: &mut Vec<VerifyError>,
    ) {
        let unfit = |problem| VerifyError::Bundle { file: file.to_owned(), problem };
        let signed = self.signed();
        if signed.facts()["result_id"] != record {
            faults.push(unfit(RecordBundleError::OtherRecord));
            return;
        }
        if read.signed_by.as_ref().is_some_and(|by| by.fingerprint != self.fingerprint()) {
            faults.push(unfit(RecordBundleError::OtherSigner));
        }
        let mut subjects: BTreeMap<&str, Sha256> =
            signed.subjects().iter().map(|(path, sha256)| (path.as_str(), *sha256)).collect();
        let [md, ..] = files_of(record);
        let files = read.facts.stated().iter().map(|(path, sha256)| (path.as_str(), *sha256));
        for (path, sha256) in std::iter::once((md.as_str(), read.sha256)).chain(files) {
            if subjects.remove(path) != Some(sha256) {
                faults.push(VerifyError::Subject { file: file.to_owned(), path: path.to_owned() });
            }
        }
        for path in subjects.into_keys() {
            faults.push(VerifyError::Subject { file: file.to_owned(), path: path.to_owned() });
        }
        match signed.differing_keys_from(&read.front_matter) {
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => faults.push(VerifyError::FactsDiffer { file: md, keys }),
            Err(problem) => faults.push(VerifyError::Record { file: md, problem }),
        }
    }

    pub(super) fn check_proof(&self, file: &str, text: &[u8], faults: &mut Vec<VerifyError>) {
        let StatementProof::Logged(verified, log) = &self.statement else { return };
        let text = std::str::from_utf8(text).map_err(|_| ProofError::Form);
        if let Err(problem) = text.and_then(|text| verified.check_proof(text, log)) {
            faults.push(VerifyError::Proof { file: file.to_owned(), problem });
        }
    }

    pub(super) fn compare_with_history(
        &self,
        file: &str,
        trust: &Trust,
        faults: &mut Vec<VerifyError>,
        not_checked: &mut Vec<SkippedCheck>,
    ) {
        let StatementProof::Logged(verified, log) = &self.statement else { return };
        let Some(history) = trust.history() else {
            not_checked.push(SkippedCheck::History);
            return;
        };
        let checkpoint = verified.inclusion().checkpoint();
        match history.check(checkpoint, log.origin()) {
            Ok(()) if history.has_saved() => {}
            Ok(()) => not_checked.push(SkippedCheck::History),
            Err(problem) => faults.push(VerifyError::History { file: file.to_owned(), problem }),
        }
    }
}

fn verify_statement(bytes: &[u8], trust: &Trust) -> Result<TrustedStatement, RecordBundleError> {
    let bundle = read_bundle(bytes)?;
    let key = trust.statement_key(bundle.hint()).ok_or(RecordBundleError::OtherKey)?;
    let accepts = |message: &[u8], der: &[u8]| key.accepts(message, der);
    let signed = SignedBundle::verify(bundle, key.public(), accepts)?;
    let statement = if trust.logs().is_empty() {
        StatementProof::Signed(Box::new(signed))
    } else {
        let logs = trust.logs_of(&key.public().fingerprint());
        let log = logs.iter().find(|log| signed.names_log(log));
        let log = log.ok_or(RecordBundleError::OtherLog)?;
        StatementProof::Logged(Box::new(signed.in_log(log)?), Box::new(log.clone()))
    };
    Ok(TrustedStatement { statement, key: key.public().clone() })
}
