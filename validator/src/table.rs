//! A sorted list of words. An unsorted one must never compile: its search would miss words.

/// The slot of words that do not begin with a letter from `a` to `z`.
const OTHER: usize = 26;

pub(crate) struct WordTable {
    words: &'static [&'static str],
    /// The word lengths for each first letter, as bits, which reject most words without a search.
    lengths: [u32; OTHER + 1],
}

impl WordTable {
    /// Creates a table of words in byte order, without duplicates, of at most 31 bytes each.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; OTHER + 1];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            assert!(at == 0 || is_less(words[at - 1].as_bytes(), word), "out of order");
            assert!(!word.is_empty() && word.len() < 32, "too long");
            lengths[slot(word[0])] |= 1 << word.len();
            at += 1;
        }
        Self { words, lengths }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        let Some(&first) = word.as_bytes().first() else { return false };
        let lengths = self.lengths.get(slot(first)).copied().unwrap_or(0);
        word.len() < 32 && lengths >> word.len() & 1 == 1 && self.words.binary_search(&word).is_ok()
    }
}

const fn slot(first: u8) -> usize {
    if first.is_ascii_lowercase() { (first - b'a') as usize } else { OTHER }
}

const fn is_less(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}
