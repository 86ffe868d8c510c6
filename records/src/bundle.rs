//! The Sigstore bundle (v0.3) of a signed and logged statement, for stock verifiers: a key hint,
//! one DSSE signature, and one log entry with its proof. A bundle must never have a field that they
//! do not know, because they reject it, and never name an entry that the log does not contain.

use serde::{Deserialize, Serialize};

use crate::base64;
use crate::dsse::{Envelope, PAYLOAD_TYPE};
use crate::log::format::{ENTRY_KIND, ENTRY_VERSION};
use crate::log::{Inclusion, ProofFault, leaf_hash};

pub(crate) const MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
/// The statement has the times; the log records none.
pub(crate) const NO_TIME: &str = "0";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Bundle {
    pub(crate) media_type: String,
    pub(crate) verification_material: Material,
    pub(crate) dsse_envelope: Dsse,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Material {
    pub(crate) public_key: Hint,
    pub(crate) tlog_entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hint {
    pub(crate) hint: String,
}

impl Bundle {
    /// Returns the name of the key that claims to have signed it.
    pub(crate) fn hint(&self) -> &str {
        &self.verification_material.public_key.hint
    }
}

/// A log entry. Numbers are strings, as protobuf's JSON encodes 64-bit integers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) log_index: String,
    pub(crate) log_id: LogId,
    pub(crate) kind_version: KindVersion,
    pub(crate) integrated_time: String,
    pub(crate) inclusion_proof: Proof,
    pub(crate) canonicalized_body: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LogId {
    pub(crate) key_id: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindVersion {
    pub(crate) kind: String,
    pub(crate) version: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Proof {
    pub(crate) log_index: String,
    pub(crate) root_hash: String,
    pub(crate) tree_size: String,
    pub(crate) hashes: Vec<String>,
    pub(crate) checkpoint: Note,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub(crate) envelope: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Dsse {
    pub(crate) payload: String,
    pub(crate) payload_type: String,
    pub(crate) signatures: Vec<Signature>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signature {
    pub(crate) sig: String,
    pub(crate) keyid: String,
}

impl Envelope {
    /// Returns the file `<result_id>.bundle.json`.
    ///
    /// # Errors
    /// [`ProofFault::NotIncluded`] if the proof is of another entry.
    pub fn bundle(&self, inclusion: &Inclusion) -> Result<Vec<u8>, ProofFault> {
        let entry = self.log_entry();
        if !inclusion.is_of(leaf_hash(&entry)) {
            return Err(ProofFault::NotIncluded);
        }
        let hint = self.key().hint();
        let bundle = Bundle {
            media_type: MEDIA_TYPE.to_owned(),
            verification_material: Material {
                public_key: Hint { hint: hint.clone() },
                tlog_entries: vec![log_entry(&entry, inclusion)],
            },
            dsse_envelope: Dsse {
                payload: base64::encode(self.payload()),
                payload_type: PAYLOAD_TYPE.to_owned(),
                signatures: vec![Signature { sig: base64::encode(self.signature()), keyid: hint }],
            },
        };
        // Strings and lists of strings always serialize.
        let mut bytes = serde_json::to_vec(&bundle).map_err(|_| ProofFault::Form)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn log_entry(entry: &[u8], inclusion: &Inclusion) -> Entry {
    let (index, checkpoint) = (inclusion.index().to_string(), inclusion.checkpoint());
    let hashes = inclusion.path().iter().map(|hash| base64::encode(hash.as_bytes()));
    Entry {
        log_index: index.clone(),
        log_id: LogId { key_id: base64::encode(checkpoint.log_id().as_bytes()) },
        kind_version: KindVersion { kind: ENTRY_KIND.into(), version: ENTRY_VERSION.into() },
        integrated_time: NO_TIME.to_owned(),
        inclusion_proof: Proof {
            log_index: index,
            root_hash: base64::encode(checkpoint.root().as_bytes()),
            tree_size: checkpoint.size().to_string(),
            hashes: hashes.collect(),
            checkpoint: Note { envelope: checkpoint.note().to_owned() },
        },
        canonicalized_body: base64::encode(entry),
    }
}
