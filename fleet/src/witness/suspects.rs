//! Contradictions that were seen once. A single one may be the row of a database that was restored
//! from a backup: the host itself corrects it with its next post.

use std::collections::BTreeMap;

use fleet::model::HostName;

/// For each contradiction, the time of the post in which it was seen first.
#[derive(Default)]
pub(super) struct SuspectLogs(BTreeMap<HostName, u64>);

impl SuspectLogs {
    /// Remembers a contradiction. Returns whether it was seen in another post before.
    pub(super) fn is_repeated(&mut self, host: &HostName, posted_us: u64) -> bool {
        *self.0.entry(host.clone()).or_insert(posted_us) != posted_us
    }

    /// Forgets the contradiction of a host.
    pub(super) fn clear(&mut self, host: &HostName) {
        self.0.remove(host);
    }
}
