//! A scan of the log's entries: the heartbeats, and the match between records and entries. An entry
//! is returned only with its proof, or to a caller that had the whole log checked.

use std::collections::HashMap;

use model::Sha256;
use serde::Deserialize;

use crate::attestation::{BUNDLE_BYTES_MAX, RecordBundleError};
use crate::base64;
use crate::bundle::SigstoreBundle;
use crate::dsse::{PAYLOAD_TYPE, pae};
use crate::log::entry::{Heartbeat, LogEntry};
use crate::log::format::{ENTRY_KIND, ENTRY_VERSION};
use crate::log::merkle::leaf_hash;
use crate::log::tile::{Tile, TileKind, WIDTH, entries};
use crate::log::view::{LogView, read_bundle};
use crate::log::{LogError, decimal};
use crate::result_key::PublicResultKey;
use crate::spki;

/// The maximum size of a record's bundle, in bytes.
pub const RECORD_BYTES_MAX: usize = BUNDLE_BYTES_MAX;

/// The index and entry that a bundle claims for its statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogClaim {
    index: u64,
    entry: Vec<u8>,
    key: Option<PublicResultKey>,
}

impl LogClaim {
    /// Reads the claim of a bundle, whose entry must be of its statement. Verifies no signature;
    /// that is the task of [`crate::verify_bundle`].
    ///
    /// # Errors
    /// The first [`RecordBundleError`].
    pub fn of_bundle(bytes: &[u8]) -> Result<Self, RecordBundleError> {
        if bytes.len() > BUNDLE_BYTES_MAX {
            return Err(RecordBundleError::TooLarge);
        }
        let bundle: SigstoreBundle = serde_json::from_slice(bytes)
            .map_err(|error| RecordBundleError::Form(error.to_string()))?;
        let [logged] = bundle.verification_material.tlog_entries.as_slice() else {
            return Err(RecordBundleError::Field("tlogEntries"));
        };
        let index = decimal(&logged.log_index).ok_or(RecordBundleError::Field("logIndex"))?;
        let unfit = RecordBundleError::Field("canonicalizedBody");
        let entry = base64::decode(&logged.canonicalized_body).ok_or(unfit.clone())?;
        let rekord: HashedRekord = serde_json::from_slice(&entry).map_err(|_| unfit.clone())?;
        let dsse = &bundle.dsse_envelope;
        let payload = base64::decode(&dsse.payload).ok_or(RecordBundleError::Field("payload"))?;
        let digest = Sha256::of(&pae(PAYLOAD_TYPE, &payload));
        let is_of_statement = rekord.kind == ENTRY_KIND
            && rekord.api_version == ENTRY_VERSION
            && rekord.spec.v002.data.digest == base64::encode(digest.as_bytes())
            && matches!(
                dsse.signatures.as_slice(),
                [one] if one.sig == rekord.spec.v002.signature.content
            );
        let spki = base64::decode(&rekord.spec.v002.signature.verifier.public_key.raw_bytes);
        let key = spki.as_deref().and_then(spki::key);
        let key = key.as_ref().and_then(PublicResultKey::from_key);
        if is_of_statement { Ok(Self { index, entry, key }) } else { Err(unfit) }
    }

    /// Returns the claimed index.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the expected entry.
    #[must_use]
    pub fn entry(&self) -> &[u8] {
        &self.entry
    }

    /// Returns the key that the entry names, if it is a key of results.
    pub(crate) fn key(&self) -> Option<&PublicResultKey> {
        self.key.as_ref()
    }
}

/// The fields that tie an entry to a statement.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HashedRekord {
    api_version: String,
    kind: String,
    spec: HashedRekordSpec,
}

#[derive(Deserialize)]
struct HashedRekordSpec {
    #[serde(rename = "hashedRekordV002")]
    v002: HashedRekordBody,
}

#[derive(Deserialize)]
struct HashedRekordBody {
    data: HashedRekordData,
    signature: HashedRekordSignature,
}

#[derive(Deserialize)]
struct HashedRekordData {
    digest: String,
}

#[derive(Deserialize)]
struct HashedRekordSignature {
    content: String,
    verifier: HashedRekordVerifier,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HashedRekordVerifier {
    public_key: HashedRekordKey,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HashedRekordKey {
    raw_bytes: String,
}

/// The entries of a log by kind, and those that do not match the claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReconciliation {
    /// The number of records.
    pub records: u64,
    /// The number of heartbeats.
    pub heartbeats: u64,
    /// The number of key rotations.
    pub key_changes: u64,
    /// The indexes of records without a claim.
    pub unclaimed: Vec<u64>,
    /// The indexes of entries of a kind that this version does not know.
    pub unknown: Vec<u64>,
    /// The indexes that were claimed for another entry.
    pub wrong: Vec<u64>,
}

impl LogView {
    /// Compares the log with claims by index. [`crate::log::fsck`] must have found it sound before.
    ///
    /// # Errors
    /// [`LogError`] if the files cannot be read.
    pub fn reconcile(
        &self,
        claims: &HashMap<u64, LogClaim>,
    ) -> Result<LogReconciliation, LogError> {
        let (size, mut found) = (self.head().size(), LogReconciliation::default());
        found.wrong.extend(claims.keys().filter(|index| **index >= size));
        for first in (0..size).step_by(256) {
            let bundle = self.bundle(first)?;
            for (bytes, index) in entries(&bundle).unwrap_or_default().into_iter().zip(first..) {
                let claim = claims.get(&index);
                if claim.is_some_and(|claim| leaf_hash(&claim.entry) != leaf_hash(bytes)) {
                    found.wrong.push(index);
                }
                match LogEntry::read(bytes) {
                    LogEntry::Record if claim.is_none() => {
                        found.records += 1;
                        found.unclaimed.push(index);
                    }
                    LogEntry::Record => found.records += 1,
                    LogEntry::Heartbeat(_) => found.heartbeats += 1,
                    LogEntry::KeyChange(_) => found.key_changes += 1,
                    LogEntry::Unknown => found.unknown.push(index),
                }
            }
        }
        found.wrong.sort_unstable();
        Ok(found)
    }

    /// Returns the latest heartbeat and its index, proved; `None` if the log has none.
    ///
    /// # Errors
    /// [`LogError`]: the files cannot be read, or differ from the signed ones.
    pub fn latest_heartbeat(&self) -> Result<Option<(u64, Heartbeat)>, LogError> {
        let bundles = self.head().size().div_ceil(WIDTH);
        for first in (0..bundles).rev().map(|number| number * WIDTH) {
            let bundle = self.bundle(first)?;
            let all = entries(&bundle).unwrap_or_default();
            let beats = |bytes: &&[u8]| {
                Heartbeat::has_prefix(bytes)
                    && matches!(LogEntry::read(bytes), LogEntry::Heartbeat(_))
            };
            let Some(at) = all.iter().rposition(beats) else { continue };
            let index = first + u64::try_from(at).unwrap_or(u64::MAX);
            let (bytes, _) = self.entry(index)?;
            if let LogEntry::Heartbeat(heartbeat) = LogEntry::read(&bytes) {
                return Ok(Some((index, heartbeat)));
            }
        }
        Ok(None)
    }

    fn bundle(&self, index: u64) -> Result<Vec<u8>, LogError> {
        let beyond = LogError::NoSuchEntry { index, size: self.head().size() };
        let tile = Tile::holding(TileKind::Entries, index, self.head().size()).ok_or(beyond)?;
        read_bundle(&self.disk, tile)
    }
}
