//! The line that a run is begun with, by what it is found, and how the ledger remembers a request. The line
//! must say all that a record of the run needs.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::keys::Key;
use crate::claim::Replayed;

/// One line of the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intent {
    pub(crate) request_sha256: String,
    pub(crate) request_id: String,
    pub(crate) result_id: String,
    pub(crate) claim: String,
    /// When the run was begun, UTC.
    pub(crate) begun: String,
    /// The directory in which the record was to be published.
    pub(crate) results: PathBuf,
    /// The decision, which the record must state even after a crash.
    pub(crate) policy_name: String,
    pub(crate) policy_sha256: String,
    pub(crate) approval: String,
    /// Hosts that the run was granted, and may have reached whatever is left of it. Lines of programs
    /// that did not write them say nothing, which is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<Vec<String>>,
    /// The nonce of the envelope that bound it to an intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ais_nonce: Option<String>,
    /// The record whose run is done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<Replayed>,
}

impl Intent {
    /// By what its line is found. A replay uses no request up, so it is not found by one.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        let [bytes, id] = [Key::Bytes(&self.request_sha256), Key::RequestId(&self.request_id)];
        let of_request = self.replays.is_none().then_some([bytes, id]);
        of_request.into_iter().flatten().chain([Key::Claim(&self.claim)])
    }
}

/// A started request, as the ledger remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// These very bytes were started before.
    SameBytes { result_id: String, record: PathBuf },
    /// Another request with this id was.
    SameId { result_id: String, record: PathBuf },
    /// Another request with the nonce of its AIS envelope was.
    SameNonce { nonce: String },
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameBytes { record, .. } => {
                write!(f, "these bytes were run before; the record is {}", record.display())
            }
            Self::SameNonce { nonce } => {
                let nonce = model::escape_line(nonce);
                write!(f, "the nonce `{nonce}` of its envelope was used before")
            }
            Self::SameId { record, .. } => {
                write!(
                    f,
                    "another request was run under this id; its record is {}",
                    record.display()
                )
            }
        }
    }
}
