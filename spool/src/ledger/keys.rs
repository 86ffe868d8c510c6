//! Where in the ledger the line of a request may be: eight bytes for each of its keys, however long the
//! key is. It must never be believed: two keys can look the same here, so that whoever asks reads the line
//! and compares the whole key.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, RandomState};

/// Of the eight bytes these many bits say where the line begins; what is left is of the key's hash, which
/// nobody can aim at: it is another one in each process.
const OFFSET_BITS: u32 = if cfg!(test) { ALIKE_BITS } else { 40 };
/// In this crate's own tests many keys look like another.
const ALIKE_BITS: u32 = 56;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;

/// Beyond this no line can be found again.
pub(super) const LEDGER_BYTES_MAX: u64 = OFFSET_MASK;

/// By what a line is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    /// The digest of the request's bytes.
    Bytes(&'a str),
    RequestId(&'a str),
    Claim(&'a str),
}

/// The keys of every line that was read.
#[derive(Default)]
pub(super) struct Keys {
    hasher: RandomState,
    seen: BTreeSet<u64>,
}

/// A key and the place of its line.
#[derive(Clone, Copy)]
pub(super) struct Entry(u64);

impl Keys {
    pub(super) fn entry(&self, key: Key<'_>, offset: u64) -> Entry {
        Entry(self.prefix(key) | (offset & OFFSET_MASK))
    }

    fn prefix(&self, key: Key<'_>) -> u64 {
        self.hasher.hash_one(key) & !OFFSET_MASK
    }

    pub(super) fn add(&mut self, entries: Vec<Entry>) {
        let entries = entries.into_iter().map(|Entry(entry)| entry);
        if self.seen.is_empty() {
            // All at once, they are packed as closely as they can be.
            self.seen = entries.collect();
        } else {
            self.seen.extend(entries);
        }
    }

    /// Forgets the key of one line.
    pub(super) fn remove(&mut self, Entry(entry): Entry) {
        self.seen.remove(&entry);
    }

    /// Where the lines begin that may have this key, the last one first.
    pub(super) fn offsets(&self, key: Key<'_>) -> impl Iterator<Item = u64> {
        let prefix = self.prefix(key);
        self.seen.range(prefix..=prefix | OFFSET_MASK).rev().map(|entry| entry & OFFSET_MASK)
    }

    /// Whether a line with this key could not be told from one with the other.
    pub(super) fn are_alike(&self, one: Key<'_>, other: Key<'_>) -> bool {
        self.prefix(one) == self.prefix(other)
    }
}
