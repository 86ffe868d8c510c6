//! An index from request keys to the offsets of their ledger lines, eight bytes for each key. Two
//! keys can have the same hash, so the caller must read the line and compare the whole key.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, RandomState};

/// The bits of an entry that hold the line's offset. The others hold the key's hash, which is
/// different in each process, so that no one can construct collisions.
const OFFSET_BITS: u32 = if cfg!(test) { COLLIDING_BITS } else { 40 };
/// The value for this crate's own tests, in which many keys collide.
const COLLIDING_BITS: u32 = 56;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;

/// The largest ledger whose lines can be found.
pub(super) const LEDGER_BYTES_MAX: u64 = OFFSET_MASK;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LedgerKey<'a> {
    /// The digest of the request's bytes.
    Bytes(&'a str),
    RequestId(&'a str),
    Claim(&'a str),
}

#[derive(Default)]
pub(super) struct LedgerIndex {
    hasher: RandomState,
    entries: BTreeSet<u64>,
}

/// A key's hash with the offset of its line.
#[derive(Clone, Copy)]
pub(super) struct IndexEntry(u64);

impl LedgerIndex {
    pub(super) fn entry(&self, key: LedgerKey<'_>, offset: u64) -> IndexEntry {
        IndexEntry(self.prefix(key) | (offset & OFFSET_MASK))
    }

    fn prefix(&self, key: LedgerKey<'_>) -> u64 {
        self.hasher.hash_one(key) & !OFFSET_MASK
    }

    pub(super) fn add(&mut self, entries: Vec<IndexEntry>) {
        let entries = entries.into_iter().map(|IndexEntry(entry)| entry);
        if self.entries.is_empty() {
            // Building the set in one call packs its nodes densely.
            self.entries = entries.collect();
        } else {
            self.entries.extend(entries);
        }
    }

    pub(super) fn remove(&mut self, IndexEntry(entry): IndexEntry) {
        self.entries.remove(&entry);
    }

    /// Returns the offsets of the lines that may have this key, the last one first.
    pub(super) fn offsets(&self, key: LedgerKey<'_>) -> impl Iterator<Item = u64> {
        let prefix = self.prefix(key);
        self.entries.range(prefix..=prefix | OFFSET_MASK).rev().map(|entry| entry & OFFSET_MASK)
    }

    /// Returns whether the index cannot distinguish the two keys.
    pub(super) fn share_prefix(&self, one: LedgerKey<'_>, other: LedgerKey<'_>) -> bool {
        self.prefix(one) == self.prefix(other)
    }
}
