//! How much of a request's inputs was read and hashed so far, for whoever looks on while it is staged.
//! Nothing may be decided by it: the sizes are those that names had when it began, and nobody checked them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of one claim.
#[derive(Debug, Default)]
pub struct Hashed {
    /// Nothing until staging begins.
    all_bytes: OnceLock<u64>,
    done_bytes: AtomicU64,
}

impl Hashed {
    pub(crate) fn begin(&self, all_bytes: u64) {
        self.all_bytes.get_or_init(|| all_bytes);
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.done_bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Bytes that were hashed and bytes that there are, once it has begun. A file that is read a second
    /// time, or grows, never makes more of them than there are.
    #[must_use]
    pub fn bytes(&self) -> Option<(u64, u64)> {
        let all = *self.all_bytes.get()?;
        Some((self.done_bytes.load(Ordering::Relaxed).min(all), all))
    }
}
