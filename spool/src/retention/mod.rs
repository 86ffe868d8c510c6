//! Retention: `results/`, `archive/` and `quarantine/` are kept as long as is configured, each by itself, and
//! without a word for ever. What goes of one says nothing of the others: what was refused may go before its
//! record, and the archived request after it.
//!
//! It must never take away what is not whole and published (record, signature, bundle, log proof), what is
//! promised to a claim that is still there, what is hidden or has no name of ours, or what is younger than an
//! hour; and never a line of the ledger, an entry of the log or a key. Of a result the mark in
//! `<state>/removed` is durable first; then it gets a hidden name, and then it is removed. Whatever of this a
//! crash leaves out is done at the next time.

mod look;
mod marks;
mod plan;
mod remove;

use std::path::PathBuf;

use model::UtcTime;

use crate::places::Places;

pub use look::dry_run;
pub(crate) use look::each_name;
pub use plan::{Bounds, Entry, FLOOR_SEC, Oldest, Why};
pub use remove::{Gone, Removal};

/// What is kept of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    pub results: Bounds,
    pub archive: Bounds,
    pub quarantine: Bounds,
}

model::closed_set! {
    /// One of the kinds of things that are kept.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Kind {
        /// Records, with what their runs left.
        Results = "results",
        /// Requests that were run.
        Archive = "archive",
        /// What was refused.
        Quarantine = "quarantine",
    }
}

impl Kind {
    fn directory(self, places: &Places) -> PathBuf {
        match self {
            Self::Results => places.results.clone(),
            Self::Archive | Self::Quarantine => places.spool.join(self.as_str()),
        }
    }

    fn bounds(self, keep: &Keep) -> &Bounds {
        match self {
            Self::Results => &keep.results,
            Self::Archive => &keep.archive,
            Self::Quarantine => &keep.quarantine,
        }
    }
}

impl Keep {
    /// Whether nothing ever goes.
    #[must_use]
    pub fn is_boundless(&self) -> bool {
        Kind::ALL.iter().all(|kind| kind.bounds(self).is_boundless())
    }
}

/// One that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Going {
    pub kind: Kind,
    pub path: PathBuf,
    /// The id that is its name, and the time in it.
    pub result_id: String,
    pub at: UtcTime,
    pub bytes: u64,
    pub why: Why,
}

/// Begins every name of what is being removed.
const HIDDEN: &str = ".gone-";

#[cfg(test)]
mod tests;
