//! The line of a begun run, the keys by which it is found, and the result of a look-up. The line
//! must contain everything that a record of the run needs.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::keys::LedgerKey;
use super::standing::StandingUseLine;
use crate::claim::ReplaySource;

/// One line of the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Intent {
    pub(crate) request_sha256: String,
    pub(crate) request_id: String,
    pub(crate) result_id: String,
    pub(crate) claim: String,
    /// The time when the run was begun, in UTC.
    pub(crate) begun: String,
    pub(crate) results: PathBuf,
    /// The policy decision, which the record must state even after a crash.
    pub(crate) policy_name: String,
    pub(crate) policy_sha256: String,
    pub(crate) approval: String,
    /// The granted hosts. Older versions did not write them: a missing value is not an empty list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<Vec<String>>,
    /// The name of the backend. Left out for the sandbox alone, as in lines of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<String>,
    /// The nonce of the AIS envelope that binds the request to an intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ais_nonce: Option<String>,
    /// The standing approval that the run uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) standing: Option<StandingUseLine>,
    /// The record whose run is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replays: Option<ReplaySource>,
}

impl Intent {
    /// Returns the keys of the line. A replay uses no request up, so it has no key of a request.
    pub(super) fn keys(&self) -> impl Iterator<Item = LedgerKey<'_>> {
        let [bytes, id] =
            [LedgerKey::Bytes(&self.request_sha256), LedgerKey::RequestId(&self.request_id)];
        let of_request = self.replays.is_none().then_some([bytes, id]);
        of_request.into_iter().flatten().chain([LedgerKey::Claim(&self.claim)])
    }
}

/// An earlier start of the same request, from the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorRun {
    /// The same bytes were started before.
    SameBytes {
        /// The id of the earlier result.
        result_id: String,
        /// The directory of that result, even if it was removed since.
        record: PathBuf,
    },
    /// Another request with this id was started.
    SameId {
        /// The id of the earlier result.
        result_id: String,
        /// The directory of that result, even if it was removed since.
        record: PathBuf,
    },
    /// Another request with the nonce of its AIS envelope was started.
    SameNonce {
        /// The nonce as the envelope has it, not escaped.
        nonce: String,
    },
}

impl fmt::Display for PriorRun {
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
