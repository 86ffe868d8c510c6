//! The log's entries one after the other: what it says of itself, and whether records and log account
//! for each other. An entry is told of only with its proof, or to one who had the whole log checked.

use std::collections::HashMap;

use model::Sha256;
use serde::Deserialize;

use crate::attestation::{BUNDLE_BYTES_MAX, BundleFault};
use crate::base64;
use crate::bundle::Bundle;
use crate::dsse::{PAYLOAD_TYPE, pae};
use crate::log::entry::{Entry, Heartbeat};
use crate::log::format::{ENTRY_KIND, ENTRY_VERSION};
use crate::log::merkle::leaf_hash;
use crate::log::tile::{Kind, Tile, WIDTH, entries};
use crate::log::view::{LogView, read_bundle};
use crate::log::{LogError, decimal};

/// No bundle of a record is larger, in bytes.
pub const RECORD_BYTES_MAX: usize = BUNDLE_BYTES_MAX;

/// Where a bundle says that its statement is in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    index: u64,
    entry: Vec<u8>,
}

impl Claim {
    /// Reads it out of a bundle, whose entry must be about its statement. Nobody's signature is
    /// checked here: that is [`crate::verify_bundle`].
    ///
    /// # Errors
    /// The first [`BundleFault`].
    pub fn of_bundle(bytes: &[u8]) -> Result<Self, BundleFault> {
        if bytes.len() > BUNDLE_BYTES_MAX {
            return Err(BundleFault::TooLarge);
        }
        let bundle: Bundle =
            serde_json::from_slice(bytes).map_err(|error| BundleFault::Form(error.to_string()))?;
        let [logged] = bundle.verification_material.tlog_entries.as_slice() else {
            return Err(BundleFault::Field("tlogEntries"));
        };
        let index = decimal(&logged.log_index).ok_or(BundleFault::Field("logIndex"))?;
        let unfit = BundleFault::Field("canonicalizedBody");
        let entry = base64::decode(&logged.canonicalized_body).ok_or(unfit.clone())?;
        let says: Hashed = serde_json::from_slice(&entry).map_err(|_| unfit.clone())?;
        let dsse = &bundle.dsse_envelope;
        let payload = base64::decode(&dsse.payload).ok_or(BundleFault::Field("payload"))?;
        let digest = Sha256::of(&pae(PAYLOAD_TYPE, &payload));
        let says_so = says.kind == ENTRY_KIND
            && says.api_version == ENTRY_VERSION
            && says.spec.v002.data.digest == base64::encode(digest.as_bytes())
            && matches!(dsse.signatures.as_slice(), [one] if one.sig == says.spec.v002.signature.content);
        if says_so { Ok(Self { index, entry }) } else { Err(unfit) }
    }

    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The entry that has to be there.
    #[must_use]
    pub fn entry(&self) -> &[u8] {
        &self.entry
    }
}

/// What an entry has to say of a statement for it to be the statement's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hashed {
    api_version: String,
    kind: String,
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(rename = "hashedRekordV002")]
    v002: Hash,
}

#[derive(Deserialize)]
struct Hash {
    data: Data,
    signature: Signature,
}

#[derive(Deserialize)]
struct Data {
    digest: String,
}

#[derive(Deserialize)]
struct Signature {
    content: String,
}

/// What the entries of a log are, and which of them nothing accounts for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    pub records: u64,
    pub heartbeats: u64,
    pub key_changes: u64,
    /// Records that nobody claimed, by their numbers.
    pub unclaimed: Vec<u64>,
    /// Entries of a kind that this version does not know.
    pub unknown: Vec<u64>,
    /// Numbers that were claimed for what is not there.
    pub wrong: Vec<u64>,
}

impl LogView {
    /// Compares the log with claims by number. The log itself must have been found whole before, by
    /// [`crate::log::fsck`].
    ///
    /// # Errors
    /// [`LogError`], where the files cannot be read.
    pub fn account(&self, claims: &HashMap<u64, Claim>) -> Result<Accounts, LogError> {
        let (size, mut found) = (self.head().size(), Accounts::default());
        found.wrong.extend(claims.keys().filter(|index| **index >= size));
        for first in (0..size).step_by(256) {
            let bundle = self.bundle(first)?;
            for (bytes, index) in entries(&bundle).unwrap_or_default().into_iter().zip(first..) {
                let claim = claims.get(&index);
                if claim.is_some_and(|claim| leaf_hash(&claim.entry) != leaf_hash(bytes)) {
                    found.wrong.push(index);
                }
                match Entry::read(bytes) {
                    Entry::Record if claim.is_none() => {
                        found.records += 1;
                        found.unclaimed.push(index);
                    }
                    Entry::Record => found.records += 1,
                    Entry::Heartbeat(_) => found.heartbeats += 1,
                    Entry::KeyChange(_) => found.key_changes += 1,
                    Entry::Unknown => found.unknown.push(index),
                }
            }
        }
        found.wrong.sort_unstable();
        Ok(found)
    }

    /// The latest heartbeat and its number, proved; `None` where the log never had one.
    ///
    /// # Errors
    /// [`LogError`]: the files cannot be read, or are not the ones that were signed.
    pub fn latest_heartbeat(&self) -> Result<Option<(u64, Heartbeat)>, LogError> {
        let bundles = self.head().size().div_ceil(WIDTH);
        for first in (0..bundles).rev().map(|number| number * WIDTH) {
            let bundle = self.bundle(first)?;
            let all = entries(&bundle).unwrap_or_default();
            let beats = |bytes: &&[u8]| {
                Heartbeat::may_be(bytes) && matches!(Entry::read(bytes), Entry::Heartbeat(_))
            };
            let Some(at) = all.iter().rposition(beats) else { continue };
            let index = first + u64::try_from(at).unwrap_or(u64::MAX);
            let (bytes, _) = self.entry(index)?;
            if let Entry::Heartbeat(heartbeat) = Entry::read(&bytes) {
                return Ok(Some((index, heartbeat)));
            }
        }
        Ok(None)
    }

    /// The bundle with this entry.
    fn bundle(&self, index: u64) -> Result<Vec<u8>, LogError> {
        let beyond = LogError::NoSuchEntry { index, size: self.head().size() };
        let tile = Tile::holding(Kind::Entries, index, self.head().size()).ok_or(beyond)?;
        read_bundle(&self.disk, tile)
    }
}
