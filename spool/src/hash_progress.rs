//! The progress of hashing a request's inputs, for readers while the request is staged. Nothing may
//! be decided by it: the sizes were read from the file system at the start and are not verified.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The hashing progress of one claim.
#[derive(Debug, Default)]
pub struct HashProgress {
    /// Unset until staging begins.
    all_bytes: OnceLock<u64>,
    done_bytes: AtomicU64,
    /// The bytes that were not part of the total at the start.
    uncounted_bytes: AtomicU64,
}

impl HashProgress {
    pub(crate) fn begin(&self, all_bytes: u64) {
        self.all_bytes.get_or_init(|| all_bytes);
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.done_bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds hashed bytes of a folder, whose size is not known before it is read.
    pub(crate) fn add_uncounted(&self, bytes: u64) {
        self.uncounted_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes hashed so far, at most the total, and the total, once hashing has begun.
    /// The total grows while folders are read.
    #[must_use]
    pub fn bytes(&self) -> Option<(u64, u64)> {
        let first = *self.all_bytes.get()?;
        let all = first.saturating_add(self.uncounted_bytes.load(Ordering::Relaxed));
        Some((self.done_bytes.load(Ordering::Relaxed).min(all), all))
    }
}
