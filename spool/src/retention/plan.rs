//! Selects the expired entries; pure, so that tests can try every order and bound. It must never
//! select an entry before an older one that may be removed, nor one younger than the floor.

use std::collections::BinaryHeap;
use std::num::NonZero;

use model::UtcTime;

/// The age below which nothing is removed, regardless of the bounds: it may be in use.
pub const FLOOR_SEC: i64 = 3600;

/// The bounds of one kind. Without any bound all entries are kept for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionBounds {
    /// The number of days from the time in the name.
    pub days: Option<NonZero<u32>>,
    /// The number of newest entries.
    pub count: Option<NonZero<u64>>,
    /// The total size of the newest entries.
    pub bytes: Option<NonZero<u64>>,
}

impl RetentionBounds {
    /// Returns whether no bound is set.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Self::default()
    }
}

model::closed_set! {
    /// The bound that an entry exceeds.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum RetentionBound {
        /// Too old.
        Days = "days",
        /// Too many newer entries.
        Count = "count",
        /// Too many bytes in newer entries.
        Bytes = "bytes",
    }
}

/// An entry. Entries are ordered by age, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetentionEntry {
    /// The time in its name.
    pub at: UtcTime,
    /// The result id that is its name.
    pub name: String,
    /// The total size of its files.
    pub bytes: u64,
}

/// The oldest entries of a kind, with the totals of all.
pub struct OldestEntries {
    most: usize,
    /// A heap with the newest of them on top.
    oldest: BinaryHeap<RetentionEntry>,
    now: UtcTime,
    count: u64,
    bytes: u64,
}

impl OldestEntries {
    /// Keeps at most `most` entries, which limits the memory use.
    #[must_use]
    pub fn new(most: usize, now: UtcTime) -> Self {
        Self { most, oldest: BinaryHeap::new(), now, count: 0, bytes: 0 }
    }

    /// Adds an entry. `may_go`, called for old entries only, returns whether it may be removed.
    pub fn offer(&mut self, entry: RetentionEntry, may_go: impl FnOnce(&RetentionEntry) -> bool) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(entry.bytes);
        if entry.at.unix() > self.now.unix().saturating_sub(FLOOR_SEC) {
            return;
        }
        let has_capacity = self.oldest.len() < self.most;
        if (has_capacity || self.oldest.peek().is_some_and(|newest| entry < *newest))
            && may_go(&entry)
        {
            self.oldest.push(entry);
            if !has_capacity {
                self.oldest.pop();
            }
        }
    }

    /// Returns the expired entries, the oldest first.
    #[must_use]
    pub fn expired(self, bounds: &RetentionBounds) -> Vec<(RetentionEntry, RetentionBound)> {
        let (mut count, mut bytes) = (self.count, self.bytes);
        let over = |left: u64, most: Option<NonZero<u64>>| most.is_some_and(|it| left > it.get());
        let mut going = Vec::new();
        for entry in self.oldest.into_sorted_vec() {
            let why = if is_past(entry.at, bounds.days, self.now) {
                RetentionBound::Days
            } else if over(count, bounds.count) {
                RetentionBound::Count
            } else if over(bytes, bounds.bytes) {
                RetentionBound::Bytes
            } else {
                break;
            };
            count = count.saturating_sub(1);
            bytes = bytes.saturating_sub(entry.bytes);
            going.push((entry, why));
        }
        going
    }
}

fn is_past(at: UtcTime, days: Option<NonZero<u32>>, now: UtcTime) -> bool {
    const DAY_SEC: i64 = 24 * 60 * 60;
    let kept_sec = |days: NonZero<u32>| i64::from(days.get()).saturating_mul(DAY_SEC);
    days.is_some_and(|days| at.unix().saturating_add(kept_sec(days)) < now.unix())
}
