//! Types that several files of the agent share.

use serde::{Deserialize, Serialize};

/// The durable part of a claim of this host: `claim` in `claims/<request id>.json`. It is written
/// before the files are placed or a local start is asked for, and removed after the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimFile {
    /// The SHA-256 of the request's document, 64 hex digits.
    pub(super) document_sha256: String,
    /// The epoch of the claim; `None` for a request that was submitted on this host.
    pub(super) epoch: Option<i64>,
    /// The results of the request that existed before the claim.
    pub(super) known_results: Vec<String>,
}

/// A claim of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LocalClaim {
    /// The durable part.
    pub(super) file: ClaimFile,
    /// This process has placed the files, or has found them placed.
    pub(super) is_placed: bool,
    /// The database has committed the start.
    pub(super) is_started: bool,
}
