//! The in-toto Statement of a record: each file of the result directory with its digest, and the
//! facts of the front matter. Statement and Markdown come from one tree, so their facts agree.

use model::Sha256;

use crate::dsse::DsseEnvelope;
use crate::json;
use crate::log::{Inclusion, ProofError};
use crate::record::{SignError, SignedRecord, sign_with_facts};
use crate::result_key::{PublicResultKey, ResultKey};
use crate::statement::Statement;
use crate::yaml::FactMap;

pub(crate) const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate: the facts of a tool result (`docs/tool-result.schema.json`).
pub const PREDICATE_TYPE: &str =
    "https://github.com/threegate/tool-exec/attestation/tool-result/v0.1";
/// The limit of stock verifiers.
pub(crate) const SUBJECTS_MAX: usize = 1024;

/// A signed record with its signed statement. It must be logged before it is published.
#[must_use]
#[derive(Debug)]
pub struct AttestedRecord {
    record: SignedRecord,
    envelope: DsseEnvelope,
}

impl AttestedRecord {
    /// Returns the Markdown, its signature, and the files of the request.
    pub fn record(&self) -> &SignedRecord {
        &self.record
    }

    /// Returns the signed statement.
    #[must_use]
    pub fn envelope(&self) -> &DsseEnvelope {
        &self.envelope
    }

    /// Returns the key that signed both.
    #[must_use]
    pub fn key(&self) -> &PublicResultKey {
        self.envelope.key()
    }

    /// Returns the files `<result_id>.bundle.json` and `<result_id>.tlog-proof` of the record.
    ///
    /// # Errors
    /// [`ProofError::NotIncluded`] if the proof is of another entry.
    pub fn proofs(&self, inclusion: &Inclusion) -> Result<[(String, Vec<u8>); 2], ProofError> {
        let [bundle_name, proof_name] = self.proof_names();
        let bundle = self.envelope.bundle(inclusion)?;
        let proof = inclusion.tlog_proof().into_bytes();
        Ok([(bundle_name, bundle), (proof_name, proof)])
    }

    /// Returns the names of the proof files.
    #[must_use]
    pub fn proof_names(&self) -> [String; 2] {
        let id = self.record.result_id();
        [format!("{id}.bundle.json"), format!("{id}.tlog-proof")]
    }
}

/// Renders, lints and signs a record, as [`crate::sign`] does, and its statement. A statement
/// always gives the same documents and with a local key the same signatures; an agent's may differ.
///
/// # Errors
/// Any [`SignError`], for example for a record with more than 1,024 files. Nothing is signed then.
pub fn attest(statement: &Statement<'_>, key: &ResultKey) -> Result<AttestedRecord, SignError> {
    let (record, facts) = sign_with_facts(statement, key)?;
    let subjects = subjects(statement, &record);
    if subjects.len() > SUBJECTS_MAX {
        let what = "it has more files than a statement can name";
        return Err(SignError::Inconsistency { record: record.result_id().to_string(), what });
    }
    let payload = payload(&subjects, &facts);
    let name = || record.result_id().to_string();
    let envelope = DsseEnvelope::sign(payload.into_bytes(), key)
        .map_err(|source| SignError::Key { record: name(), source })?;
    Ok(AttestedRecord { record, envelope })
}

/// Returns every file of the directory except signatures and proofs. The Markdown comes first.
fn subjects(statement: &Statement<'_>, record: &SignedRecord) -> Vec<(String, Sha256)> {
    let signature = format!("{}.md.sig", record.result_id());
    let mut files = record.files().iter().filter(|(path, _)| *path != signature);
    let digest = |(path, bytes): &(String, Vec<u8>)| (path.clone(), Sha256::of(bytes));
    let mut subjects: Vec<(String, Sha256)> = files.next().map(digest).into_iter().collect();
    let finished = statement.run.map(|ran| ran.finished);
    for (name, stream) in
        [("stdout", finished.map(|run| run.stdout)), ("stderr", finished.map(|run| run.stderr))]
    {
        let sha256 = stream.map_or(Sha256::of(b""), |stream| Sha256::from_bytes(stream.sha256));
        subjects.push((name.to_owned(), sha256));
    }
    subjects.extend(statement.artifacts().iter().map(|artifact| {
        (format!("artifacts/{}", artifact.path), Sha256::from_bytes(artifact.sha256))
    }));
    subjects.extend(files.map(digest));
    subjects
}

fn payload(subjects: &[(String, Sha256)], facts: &FactMap) -> String {
    let mut text = format!("{{\"_type\":\"{STATEMENT_TYPE}\",\"subject\":[");
    for (at, (name, sha256)) in subjects.iter().enumerate() {
        text.push_str(if at == 0 { "{\"name\":" } else { ",{\"name\":" });
        text.push_str(&json::string(name));
        text.push_str(&format!(",\"digest\":{{\"sha256\":\"{sha256}\"}}}}"));
    }
    text.push_str(&format!("],\"predicateType\":\"{PREDICATE_TYPE}\",\"predicate\":"));
    text.push_str(&json::object(facts));
    text.push('}');
    text
}
