//! Which of the things that are kept go: pure, so that every order and every bound can be tried. It must
//! never have one go while an older one stays that could go too, nor one that is younger than the floor.

use std::collections::BinaryHeap;
use std::num::NonZero;

use model::UtcTime;

/// Nothing younger is ever removed, whatever the bounds: it may still be on its way, and somebody looks.
pub const FLOOR_SEC: i64 = 3600;

/// How much of one kind is kept. Without any of these, all of it, for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// For so many days from the time in its name.
    pub days: Option<NonZero<u32>>,
    /// So many of them, the newest.
    pub count: Option<NonZero<u64>>,
    /// So many bytes in their files together, of the newest.
    pub bytes: Option<NonZero<u64>>,
}

impl Bounds {
    /// Whether anything ever goes.
    #[must_use]
    pub fn is_boundless(&self) -> bool {
        *self == Self::default()
    }
}

model::closed_set! {
    /// Which bound has one go.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Why {
        Days = "days",
        Count = "count",
        Bytes = "bytes",
    }
}

/// One of the things that are kept: older ones are less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The time in its name.
    pub at: UtcTime,
    pub name: String,
    /// In its files.
    pub bytes: u64,
}

/// The oldest of what is there, and how much there is of all.
pub struct Oldest {
    most: usize,
    /// With the newest of them at hand.
    oldest: BinaryHeap<Entry>,
    now: UtcTime,
    count: u64,
    bytes: u64,
}

impl Oldest {
    /// At most so many go at once; so much is remembered, however many there are.
    #[must_use]
    pub fn new(most: usize, now: UtcTime) -> Self {
        Self { most, oldest: BinaryHeap::new(), now, count: 0, bytes: 0 }
    }

    /// Takes one into account. `may_go` says whether it may be removed at all; it is asked of old ones only.
    pub fn offer(&mut self, entry: Entry, may_go: impl FnOnce(&Entry) -> bool) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(entry.bytes);
        if entry.at.unix() > self.now.unix().saturating_sub(FLOOR_SEC) {
            return;
        }
        let has_room = self.oldest.len() < self.most;
        if (has_room || self.oldest.peek().is_some_and(|newest| entry < *newest)) && may_go(&entry)
        {
            self.oldest.push(entry);
            if !has_room {
                self.oldest.pop();
            }
        }
    }

    /// Those that go, the oldest first.
    #[must_use]
    pub fn going(self, bounds: &Bounds) -> Vec<(Entry, Why)> {
        let (mut count, mut bytes) = (self.count, self.bytes);
        let over = |left: u64, most: Option<NonZero<u64>>| most.is_some_and(|it| left > it.get());
        let mut going = Vec::new();
        for entry in self.oldest.into_sorted_vec() {
            let why = if is_past(entry.at, bounds.days, self.now) {
                Why::Days
            } else if over(count, bounds.count) {
                Why::Count
            } else if over(bytes, bounds.bytes) {
                Why::Bytes
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
