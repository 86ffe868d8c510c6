//! The Sigstore bundle (v0.3) of a signed and logged statement, for stock verifiers: a key hint,
//! one DSSE signature, one log entry with proof. A bundle must never have a field unknown to them,
//! nor name an entry that the log does not contain.

use serde::{Deserialize, Serialize};

use crate::base64;
use crate::dsse::{DsseEnvelope, PAYLOAD_TYPE};
use crate::log::format::{ENTRY_KIND, ENTRY_VERSION};
use crate::log::{Inclusion, ProofError, leaf_hash};

pub(crate) const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The statement has the times; the log records none.
pub(crate) const NO_TIME: &str = "0";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SigstoreBundle {
    pub(crate) media_type: String,
    pub(crate) verification_material: VerificationMaterial,
    pub(crate) dsse_envelope: BundleDsse,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VerificationMaterial {
    pub(crate) public_key: PublicKeyHint,
    pub(crate) tlog_entries: Vec<BundleLogEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublicKeyHint {
    pub(crate) hint: String,
}

impl SigstoreBundle {
    /// Returns the name of the key that claims to have signed it.
    pub(crate) fn hint(&self) -> &str {
        &self.verification_material.public_key.hint
    }
}

/// A log entry. Numbers are strings, as protobuf's JSON encodes 64-bit integers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundleLogEntry {
    pub(crate) log_index: String,
    pub(crate) log_id: BundleLogId,
    pub(crate) kind_version: BundleKindVersion,
    pub(crate) integrated_time: String,
    pub(crate) inclusion_proof: BundleProof,
    pub(crate) canonicalized_body: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundleLogId {
    pub(crate) key_id: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleKindVersion {
    pub(crate) kind: String,
    pub(crate) version: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundleProof {
    pub(crate) log_index: String,
    pub(crate) root_hash: String,
    pub(crate) tree_size: String,
    pub(crate) hashes: Vec<String>,
    pub(crate) checkpoint: BundleCheckpoint,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleCheckpoint {
    pub(crate) envelope: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BundleDsse {
    pub(crate) payload: String,
    pub(crate) payload_type: String,
    pub(crate) signatures: Vec<BundleSignature>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleSignature {
    pub(crate) sig: String,
    pub(crate) keyid: String,
}

impl DsseEnvelope {
    /// Returns the file `<result_id>.bundle.json`.
    ///
    /// # Errors
    /// [`ProofError::NotIncluded`] if the proof is of another entry.
    pub fn bundle(&self, inclusion: &Inclusion) -> Result<Vec<u8>, ProofError> {
        let entry = self.log_entry();
        if !inclusion.proves(leaf_hash(&entry)) {
            return Err(ProofError::NotIncluded);
        }
        let hint = self.key().hint();
        let bundle = SigstoreBundle {
            media_type: MEDIA_TYPE.to_owned(),
            verification_material: VerificationMaterial {
                public_key: PublicKeyHint { hint: hint.clone() },
                tlog_entries: vec![log_entry(&entry, inclusion)],
            },
            dsse_envelope: BundleDsse {
                payload: base64::encode(self.payload()),
                payload_type: PAYLOAD_TYPE.to_owned(),
                signatures: vec![BundleSignature {
                    sig: base64::encode(self.signature()),
                    keyid: hint,
                }],
            },
        };
        // Strings and lists of strings always serialize.
        let mut bytes = serde_json::to_vec(&bundle).map_err(|_| ProofError::Form)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn log_entry(entry: &[u8], inclusion: &Inclusion) -> BundleLogEntry {
    let (index, checkpoint) = (inclusion.index().to_string(), inclusion.checkpoint());
    let hashes = inclusion.path().iter().map(|hash| base64::encode(hash.as_bytes()));
    BundleLogEntry {
        log_index: index.clone(),
        log_id: BundleLogId { key_id: base64::encode(checkpoint.log_id().as_bytes()) },
        kind_version: BundleKindVersion { kind: ENTRY_KIND.into(), version: ENTRY_VERSION.into() },
        integrated_time: NO_TIME.to_owned(),
        inclusion_proof: BundleProof {
            log_index: index,
            root_hash: base64::encode(checkpoint.root().as_bytes()),
            tree_size: checkpoint.size().to_string(),
            hashes: hashes.collect(),
            checkpoint: BundleCheckpoint { envelope: checkpoint.note().to_owned() },
        },
        canonicalized_body: base64::encode(entry),
    }
}
