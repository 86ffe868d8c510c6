//! The uses of the published standing approvals, `public/standing/SA-….uses.json`, for readers who
//! cannot read the ledger. They are never read for a decision.

use std::path::PathBuf;

use model::{StandingId, StandingReference, UtcTime};
use serde::{Deserialize, Serialize};

use super::published_file::{publish_json, remove};
use crate::error::SpoolError;
use crate::ledger::LATEST_USES_MAX;
use crate::paths::Spool;

/// The uses of a standing approval, as the daemon published them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedUses {
    /// The digest of the standing approval.
    pub sha256: String,
    /// The number of uses so far.
    pub uses: u64,
    /// The times of the latest uses in UTC, at most 100, the oldest first.
    pub latest_utc: Vec<String>,
}

impl PublishedUses {
    /// The size limit of a file, larger than any that is written.
    pub const BYTES_MAX: usize = 16 * 1024;

    /// Returns the name of the file in `public/standing/`.
    #[must_use]
    pub fn file_name(id: &StandingId) -> String {
        format!("{id}.uses.json")
    }

    /// Reads a file. Returns `None` if the daemon does not write such a file.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let read: Self = serde_json::from_slice(bytes).ok()?;
        let are_times = read.latest_utc.iter().all(|at| at.parse::<UtcTime>().is_ok());
        (are_times && read.latest_utc.len() <= LATEST_USES_MAX).then_some(read)
    }
}

impl Spool {
    /// Publishes the uses of a standing approval beside its published document, if that exists.
    ///
    /// # Errors
    /// The ledger cannot be read, or the disk. It only affects readers.
    pub fn publish_standing_uses(&self, reference: &StandingReference) -> Result<(), SpoolError> {
        let document = self.standing_public().join(format!("{}.md", reference.id));
        let path = self.uses_path(&reference.id);
        // The look and the file under one lock, so that an older count never replaces a later one.
        self.ledger().with_lock(|ledger| {
            let sha256 = reference.sha256.to_string();
            let Some((uses, latest)) = ledger.standing().latest_uses(&sha256) else {
                return Ok(());
            };
            if !document.is_file() {
                return Ok(());
            }
            let latest_utc = latest.map(|at| at.to_string()).collect();
            publish_json(&path, &PublishedUses { sha256, uses, latest_utc })
        })
    }

    /// Removes the published uses. The document must have been removed before.
    pub(super) fn unpublish_standing_uses(&self, id: &StandingId) -> Result<(), SpoolError> {
        let path = self.uses_path(id);
        // A run that saw the document may be writing the file.
        self.ledger().with_lock(|_| remove(&path))
    }

    fn uses_path(&self, id: &StandingId) -> PathBuf {
        self.standing_public().join(PublishedUses::file_name(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(times: usize, time: &str) -> String {
        let times = vec![format!("\"{time}\""); times].join(",");
        format!("{{\"sha256\":\"aa\",\"uses\":7,\"latest_utc\":[{times}]}}")
    }

    #[test]
    fn only_bounded_lists_of_times_are_read() {
        let time = "2026-02-09T16:05:01Z";
        let full = text(LATEST_USES_MAX, time);
        let read = PublishedUses::parse(full.as_bytes()).unwrap();
        assert_eq!((read.uses, read.latest_utc.len()), (7, LATEST_USES_MAX));
        assert!(full.len() < PublishedUses::BYTES_MAX);
        let other_key = text(0, time).replace("uses", "users");
        for odd in [text(LATEST_USES_MAX + 1, time), text(1, "<b>"), other_key, String::new()] {
            assert_eq!(PublishedUses::parse(odd.as_bytes()), None, "{odd}");
        }
    }
}
