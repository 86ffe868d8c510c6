//! Retention: deletes expired entries of `results/`, `archive/` and `quarantine/`. Each kind has
//! its own bounds, is kept for ever without any, and does not depend on the other kinds. Retention
//! must never delete an incomplete or unpublished result (record, signature, bundle, log proof), a
//! result promised to an existing claim, a hidden entry, a foreign name, an entry younger than one
//! hour, a line of the ledger, an entry of the log or a key. For a result, the mark in
//! `<state>/removed` is made durable first; then the result gets a hidden name, and then it is
//! removed. The next round completes any step that a crash prevented.

mod marks;
mod plan;
mod remove;
mod scan;
mod size;

use std::path::PathBuf;

use model::UtcTime;

use crate::paths::SpoolPaths;

pub use plan::{FLOOR_SEC, OldestEntries, RetentionBound, RetentionBounds, RetentionEntry};
pub use remove::{RemovalOutcome, RemovalRound};
pub use scan::dry_run;
pub(crate) use scan::each_name;

/// The bounds of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// The bounds of `results/`.
    pub results: RetentionBounds,
    /// The bounds of `archive/`.
    pub archive: RetentionBounds,
    /// The bounds of `quarantine/`.
    pub quarantine: RetentionBounds,
}

model::closed_set! {
    /// The kinds of entries that retention deletes.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RetentionKind {
        /// Records, with the output of their runs.
        Results = "results",
        /// Requests that were run.
        Archive = "archive",
        /// Requests that were refused.
        Quarantine = "quarantine",
    }
}

impl RetentionKind {
    fn directory(self, places: &SpoolPaths) -> PathBuf {
        match self {
            Self::Results => places.results.clone(),
            Self::Archive | Self::Quarantine => places.spool.join(self.as_str()),
        }
    }

    fn bounds(self, keep: &RetentionPolicy) -> &RetentionBounds {
        match self {
            Self::Results => &keep.results,
            Self::Archive => &keep.archive,
            Self::Quarantine => &keep.quarantine,
        }
    }
}

impl RetentionPolicy {
    /// Returns whether no kind has a bound.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        RetentionKind::ALL.iter().all(|kind| kind.bounds(self).is_unbounded())
    }
}

/// An expired entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredEntry {
    /// Its kind.
    pub kind: RetentionKind,
    /// Its path.
    pub path: PathBuf,
    /// The result id in its name.
    pub result_id: String,
    /// The time in its name.
    pub at: UtcTime,
    /// The total size of its files.
    pub bytes: u64,
    /// The exceeded bound.
    pub bound: RetentionBound,
}

/// The prefix of the hidden name of an entry that is being removed.
const HIDDEN_PREFIX: &str = ".gone-";

#[cfg(test)]
mod tests;
