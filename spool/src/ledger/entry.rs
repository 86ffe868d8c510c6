//! The content of one ledger line: a run or a note. Any other line must never be skipped.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::keys::LedgerKey;
use super::model::Intent;
use super::standing::{StandingNote, StandingUseNote};

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum LedgerEntry {
    Begun(Box<Intent>),
    Noted(LedgerNote),
}

/// A line that begins no run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum LedgerNote {
    /// No tool was started for this claim's line, so its request is not used up.
    NotStarted { claim: String },
    /// A run that was missing when the ledger was rebuilt. It uses its request up.
    Adopted(AdoptedRun),
    /// An operator had the ledger rebuilt.
    Ordered(RebuildNote),
    /// A standing approval can be used from here on.
    StandingAdmitted(StandingNote),
    /// No run uses the standing approval from here on.
    StandingRevoked(StandingNote),
    /// A use that was missing when the ledger was rebuilt.
    StandingUsed(StandingUseNote),
}

/// The known facts of a run without its own line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdoptedRun {
    pub(crate) request_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request_sha256: Option<String>,
    pub(crate) result_id: String,
    pub(crate) results: PathBuf,
    /// The digest of the standing approval that the run used. Only lines of earlier versions have
    /// it: now the use has its own line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) standing_sha256: Option<String>,
}

/// An operator's order to rebuild the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RebuildNote {
    /// The time, in UTC.
    pub(crate) at: String,
    pub(crate) by_uid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// The lines that were kept, and the runs that were added.
    pub(crate) kept: u64,
    pub(crate) added: u64,
}

impl LedgerEntry {
    pub(crate) fn parse(json: &[u8]) -> Option<Self> {
        if let Ok(intent) = serde_json::from_slice(json) {
            return Some(Self::Begun(Box::new(intent)));
        }
        serde_json::from_slice(json).ok().map(Self::Noted)
    }

    pub(super) fn keys(&self) -> Vec<LedgerKey<'_>> {
        match self {
            Self::Begun(intent) => intent.keys().collect(),
            Self::Noted(LedgerNote::Adopted(run)) => {
                let bytes = run.request_sha256.as_deref().map(LedgerKey::Bytes);
                bytes.into_iter().chain([LedgerKey::RequestId(&run.request_id)]).collect()
            }
            Self::Noted(_) => Vec::new(),
        }
    }

    /// Returns the ids that a run has outside the ledger: of its result, claim and used-up request.
    pub(crate) fn ids(&self) -> Vec<&str> {
        match self {
            Self::Begun(intent) => {
                let ids = [&intent.result_id, &intent.claim].into_iter();
                let request = intent.replays.is_none().then_some(&intent.request_id);
                ids.chain(request).map(String::as_str).collect()
            }
            Self::Noted(LedgerNote::Adopted(run)) => vec![&run.result_id, &run.request_id],
            Self::Noted(_) => Vec::new(),
        }
    }

    /// Returns the id of the result if the line counts a use of a standing approval.
    pub(super) fn counted_use(&self) -> Option<&str> {
        match self {
            Self::Begun(intent) => intent.standing.as_ref().map(|_| intent.result_id.as_str()),
            Self::Noted(LedgerNote::Adopted(run)) => {
                run.standing_sha256.as_ref().map(|_| run.result_id.as_str())
            }
            Self::Noted(LedgerNote::StandingUsed(note)) => Some(note.result_id.as_str()),
            Self::Noted(_) => None,
        }
    }

    /// Returns the promised result id and the directory in which it is published.
    pub(crate) fn promised(&self) -> Option<(&str, &PathBuf)> {
        match self {
            Self::Begun(intent) => Some((&intent.result_id, &intent.results)),
            Self::Noted(LedgerNote::Adopted(run)) => Some((&run.result_id, &run.results)),
            Self::Noted(_) => None,
        }
    }
}
