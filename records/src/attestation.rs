//! Verification of a bundle: a trusted key signed its statement, and a trusted log contains it. A
//! bundle with other bytes than this program writes could be read differently, so it is refused.

use std::collections::BTreeSet;
use std::fmt;

use model::Sha256;
use serde::Deserialize;
use serde_json::Value;
use validator::StrictJson;

use crate::base64;
use crate::bundle::{BundleDsse, BundleLogEntry, MEDIA_TYPE, NO_TIME, SigstoreBundle};
use crate::dsse::{DsseEnvelope, PAYLOAD_TYPE};
use crate::in_toto::{PREDICATE_TYPE, STATEMENT_TYPE, SUBJECTS_MAX};
use crate::json::normalize_numbers;
use crate::log::format::{ENTRY_KIND, ENTRY_VERSION};
use crate::log::{Checkpoint, HASHES_MAX, Inclusion, ProofError, PublicLogKey, leaf_hash};
use crate::result_key::PublicResultKey;
use crate::yaml;

/// Twice the base64 size of the longest front matter with a thousand of the longest names.
pub(crate) const BUNDLE_BYTES_MAX: usize = 24 * 1024 * 1024;

/// The reason why a bundle does not verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordBundleError {
    /// It exceeds the size limit.
    TooLarge,
    /// Not the JSON of a bundle: a field is missing, unknown, duplicated or of the wrong type.
    Form(String),
    /// A field has a value that no bundle of ours has, or that contradicts another field.
    Field(&'static str),
    /// It names another key than the expected one.
    OtherKey,
    /// The key is trusted, but it is not the key of the record's signature.
    OtherSigner,
    /// It belongs to another record than the one in its directory.
    OtherRecord,
    /// It names a log that is not trusted.
    OtherLog,
    /// The signature does not verify over the statement.
    Signature,
    /// The signed payload is not a statement of a tool result.
    Statement(String),
    /// The entry is not in the log.
    Log(ProofError),
}

impl fmt::Display for RecordBundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "larger than {BUNDLE_BYTES_MAX} bytes"),
            Self::Form(problem) => write!(f, "not a bundle: {problem}"),
            Self::Field(name) => write!(f, "{name}: unexpected value"),
            Self::OtherKey => f.write_str("names a key that is not trusted"),
            Self::OtherSigner => f.write_str("signed by another key than the record"),
            Self::OtherRecord => f.write_str("belongs to another record"),
            Self::OtherLog => f.write_str("names a log that is not trusted"),
            Self::Signature => {
                f.write_str("the signature does not verify: it or the statement was changed")
            }
            Self::Statement(problem) => write!(f, "not a statement of a tool result: {problem}"),
            Self::Log(fault) => write!(f, "log entry: {fault}"),
        }
    }
}

impl std::error::Error for RecordBundleError {}

/// A statement signed by a trusted key. Its inclusion in a log is not verified yet.
#[must_use]
#[derive(Debug)]
pub(crate) struct SignedBundle {
    envelope: DsseEnvelope,
    subjects: Vec<(String, Sha256)>,
    facts: Value,
    /// `None` before it is logged.
    entry: Option<BundleLogEntry>,
    log_entry: Vec<u8>,
}

impl SignedBundle {
    /// Verifies form, signature, statement and log entry. `accepts` verifies a DER signature.
    pub(crate) fn verify(
        bundle: SigstoreBundle,
        key: &PublicResultKey,
        accepts: impl FnOnce(&[u8], &[u8]) -> bool,
    ) -> Result<Self, RecordBundleError> {
        if bundle.hint() != key.hint() {
            return Err(RecordBundleError::OtherKey);
        }
        let SigstoreBundle { verification_material: material, dsse_envelope: dsse, .. } = bundle;
        let envelope = envelope(&dsse, key, accepts)?;
        let (subjects, facts) = statement(envelope.payload())?;
        let Ok([entry]) = <[BundleLogEntry; 1]>::try_from(material.tlog_entries) else {
            return Err(RecordBundleError::Field("tlogEntries"));
        };
        expect_value(&entry.kind_version.kind, ENTRY_KIND, "kind")?;
        expect_value(&entry.kind_version.version, ENTRY_VERSION, "version")?;
        expect_value(&entry.integrated_time, NO_TIME, "integratedTime")?;
        let logged = envelope.log_entry();
        expect_value(&entry.canonicalized_body, &base64::encode(&logged), "canonicalizedBody")?;
        Ok(Self { envelope, subjects, facts, entry: Some(entry), log_entry: logged })
    }

    /// Makes a bundle of a statement that is not logged yet.
    pub(crate) fn unlogged(envelope: &DsseEnvelope) -> Result<Self, RecordBundleError> {
        let (payload, signature) = (envelope.payload().to_vec(), envelope.signature().to_vec());
        let key = envelope.key();
        let accepts = |message: &[u8], der: &[u8]| key.accepts(message, der);
        let envelope = DsseEnvelope::from_verified(payload, signature, key, accepts);
        let envelope = envelope.ok_or(RecordBundleError::Signature)?;
        let (subjects, facts) = statement(envelope.payload())?;
        let logged = envelope.log_entry();
        Ok(Self { envelope, subjects, facts, entry: None, log_entry: logged })
    }

    /// Verifies that this log contains the statement.
    pub(crate) fn in_log(self, log: &PublicLogKey) -> Result<VerifiedBundle, RecordBundleError> {
        let entry = self.entry.as_ref().ok_or(RecordBundleError::Field("tlogEntries"))?;
        let inclusion = inclusion(entry, &self.log_entry, log)?;
        Ok(VerifiedBundle { signed: self, inclusion })
    }

    /// Returns whether the bundle names this log. This proves nothing.
    pub(crate) fn names_log(&self, log: &PublicLogKey) -> bool {
        let id = base64::encode(log.id().as_bytes());
        self.entry.as_ref().is_some_and(|entry| entry.log_id.key_id == id)
    }

    pub(crate) fn subjects(&self) -> &[(String, Sha256)] {
        &self.subjects
    }

    pub(crate) fn facts(&self) -> &Value {
        &self.facts
    }

    /// Returns the keys whose values differ between this front matter and the statement.
    pub(crate) fn differing_keys_from(&self, front: &Value) -> Result<Vec<String>, String> {
        let (Some(there), Some(stated)) = (front.as_object(), self.facts.as_object()) else {
            return Err("the front matter is not a map".to_owned());
        };
        let keys: BTreeSet<&String> = there.keys().chain(stated.keys()).collect();
        let differs = |key: &&String| there.get(*key) != stated.get(*key);
        Ok(keys.into_iter().filter(differs).cloned().collect())
    }
}

/// Proof that a trusted key signed this statement and that a trusted log contains it.
#[must_use]
#[derive(Debug)]
pub struct VerifiedBundle {
    signed: SignedBundle,
    inclusion: Inclusion,
}

impl VerifiedBundle {
    /// Returns every file that the statement names.
    #[must_use]
    pub fn subjects(&self) -> &[(String, Sha256)] {
        self.signed.subjects()
    }

    /// Returns the predicate.
    #[must_use]
    pub fn facts(&self) -> &Value {
        self.signed.facts()
    }

    /// Returns the exact signed bytes.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.signed.envelope.payload()
    }

    /// Returns the inclusion proof, with the index in the log and the checkpoint.
    #[must_use]
    pub fn inclusion(&self) -> &Inclusion {
        &self.inclusion
    }

    pub(crate) fn leaf_hash(&self) -> Sha256 {
        leaf_hash(&self.signed.log_entry)
    }

    pub(crate) fn signed(&self) -> &SignedBundle {
        &self.signed
    }

    /// Verifies that a `.tlog-proof` proves the same entry, possibly for another size of the log.
    ///
    /// # Errors
    /// The first [`ProofError`]. A proof of another index is [`ProofError::NotIncluded`].
    pub fn check_proof(&self, text: &str, log: &PublicLogKey) -> Result<Inclusion, ProofError> {
        if text == self.inclusion.tlog_proof() {
            return Ok(self.inclusion.clone());
        }
        let proof = Inclusion::verify(text, &self.signed.log_entry, log)?;
        let same = proof.index() == self.inclusion.index();
        if same { Ok(proof) } else { Err(ProofError::NotIncluded) }
    }

    /// Returns the keys whose values differ between a record's front matter and this statement.
    ///
    /// # Errors
    /// The front matter cannot be parsed.
    pub fn differing_keys(&self, md: &str) -> Result<Vec<String>, String> {
        self.signed.differing_keys_from(&front_matter(md)?)
    }
}

/// Parses the front matter of a record into the form of a statement.
pub(crate) fn front_matter(md: &str) -> Result<Value, String> {
    let front = md
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map(|(front, _)| front)
        .ok_or("no front matter")?;
    let front = match yaml::parse(front) {
        Some(front) => front,
        None => serde_yaml::from_str(front).map_err(|error| format!("front matter: {error}"))?,
    };
    Ok(normalize_numbers(front))
}

/// The only accepted form of a statement.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct InTotoStatement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<InTotoSubject>,
    predicate_type: String,
    predicate: StrictJson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InTotoSubject {
    name: String,
    digest: InTotoDigest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InTotoDigest {
    sha256: String,
}

/// Verifies a bundle offline: form, signature, statement and inclusion in the log.
///
/// # Errors
/// The first [`RecordBundleError`].
pub fn verify_bundle(
    bytes: &[u8],
    key: &PublicResultKey,
    log: &PublicLogKey,
) -> Result<VerifiedBundle, RecordBundleError> {
    let accepts = |message: &[u8], der: &[u8]| key.accepts(message, der);
    SignedBundle::verify(read_bundle(bytes)?, key, accepts)?.in_log(log)
}

/// Parses a bundle. Verifies nothing.
pub(crate) fn read_bundle(bytes: &[u8]) -> Result<SigstoreBundle, RecordBundleError> {
    if bytes.len() > BUNDLE_BYTES_MAX {
        return Err(RecordBundleError::TooLarge);
    }
    let bundle: SigstoreBundle = serde_json::from_slice(bytes)
        .map_err(|error| RecordBundleError::Form(error.to_string()))?;
    expect_value(&bundle.media_type, MEDIA_TYPE, "mediaType")?;
    Ok(bundle)
}

fn expect_value(found: &str, expected: &str, field: &'static str) -> Result<(), RecordBundleError> {
    if found == expected { Ok(()) } else { Err(RecordBundleError::Field(field)) }
}

fn envelope(
    dsse: &BundleDsse,
    key: &PublicResultKey,
    accepts: impl FnOnce(&[u8], &[u8]) -> bool,
) -> Result<DsseEnvelope, RecordBundleError> {
    expect_value(&dsse.payload_type, PAYLOAD_TYPE, "payloadType")?;
    let [signature] = dsse.signatures.as_slice() else {
        return Err(RecordBundleError::Field("signatures"));
    };
    expect_value(&signature.keyid, &key.hint(), "keyid")?;
    let payload = base64::decode(&dsse.payload).ok_or(RecordBundleError::Field("payload"))?;
    let signature = base64::decode(&signature.sig).ok_or(RecordBundleError::Field("sig"))?;
    DsseEnvelope::from_verified(payload, signature, key, accepts)
        .ok_or(RecordBundleError::Signature)
}

fn statement(payload: &[u8]) -> Result<(Vec<(String, Sha256)>, Value), RecordBundleError> {
    let unfit = |what: &str| RecordBundleError::Statement(what.to_owned());
    let statement: InTotoStatement =
        serde_json::from_slice(payload).map_err(|error| unfit(&error.to_string()))?;
    if statement.kind != STATEMENT_TYPE || statement.predicate_type != PREDICATE_TYPE {
        return Err(unfit("wrong type"));
    }
    let StrictJson(facts) = statement.predicate;
    if !facts.is_object() {
        return Err(unfit("the predicate is not an object"));
    }
    let (mut subjects, mut names) = (Vec::new(), BTreeSet::new());
    for subject in statement.subject {
        let sha256: Sha256 =
            subject.digest.sha256.parse().map_err(|_| unfit("a subject has no sha256"))?;
        if sha256.to_string() != subject.digest.sha256 || !names.insert(subject.name.clone()) {
            return Err(unfit("a subject is listed twice, or its digest is in capitals"));
        }
        subjects.push((subject.name, sha256));
    }
    if subjects.is_empty() || subjects.len() > SUBJECTS_MAX {
        return Err(unfit(&format!("no subjects, or more than {SUBJECTS_MAX}")));
    }
    Ok((subjects, facts))
}

fn inclusion(
    entry: &BundleLogEntry,
    logged: &[u8],
    log: &PublicLogKey,
) -> Result<Inclusion, RecordBundleError> {
    let proof = &entry.inclusion_proof;
    expect_value(&entry.log_id.key_id, &base64::encode(log.id().as_bytes()), "logId")?;
    expect_value(&proof.log_index, &entry.log_index, "logIndex")?;
    let index =
        crate::log::decimal(&entry.log_index).ok_or(RecordBundleError::Field("logIndex"))?;
    let checkpoint = Checkpoint::verify(&proof.checkpoint.envelope, log)
        .map_err(|fault| RecordBundleError::Log(ProofError::Checkpoint(fault)))?;
    expect_value(&proof.tree_size, &checkpoint.size().to_string(), "treeSize")?;
    expect_value(&proof.root_hash, &base64::encode(checkpoint.root().as_bytes()), "rootHash")?;
    let hash = |text: &String| base64::decode(text)?.try_into().ok().map(Sha256::from_bytes);
    let path: Option<Vec<Sha256>> = proof.hashes.iter().map(hash).collect();
    let path = path.filter(|path| path.len() <= HASHES_MAX);
    let path = path.ok_or(RecordBundleError::Field("hashes"))?;
    let included = Inclusion::new(leaf_hash(logged), index, path, checkpoint);
    included.ok_or(RecordBundleError::Log(ProofError::NotIncluded))
}
