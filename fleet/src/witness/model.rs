//! The faults of one round.

use std::collections::BTreeSet;
use std::mem;

/// The faults of a round, each logged once as long as it stays.
#[derive(Default)]
pub(super) struct WitnessFaults {
    before: BTreeSet<String>,
    found: BTreeSet<String>,
}

impl WitnessFaults {
    /// Begins a round. The faults of one that was interrupted were not logged.
    pub(super) fn begin(&mut self) {
        self.found.clear();
    }

    /// Adds a fault. The text has help.
    pub(super) fn add(&mut self, text: String) {
        self.found.insert(text);
    }

    /// Ends a round: logs the faults that the round before did not have.
    pub(super) fn end(&mut self) {
        for fault in self.found.difference(&self.before) {
            tracing::warn!("witness: {fault}");
        }
        if self.found.is_empty() && !self.before.is_empty() {
            tracing::info!("witness: works again");
        }
        self.before = mem::take(&mut self.found);
    }

    /// Returns the faults of the last round.
    #[cfg(test)]
    pub(super) fn last(&self) -> Vec<&str> {
        self.before.iter().map(String::as_str).collect()
    }
}
