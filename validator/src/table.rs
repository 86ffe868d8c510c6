//! A sorted list of words, asked for once and more per word of a document. A table that is not in
//! order must never compile, for its search would miss words silently.

/// What no letter from `a` to `z` begins.
const OTHER: usize = 26;

pub(crate) struct Table {
    words: &'static [&'static str],
    /// For each first letter the lengths of the words, as bits: most words of a text are none of
    /// the table's, and this says so without a search.
    lengths: [u32; OTHER + 1],
}

impl Table {
    /// The words in byte order, none of them twice or longer than 31 bytes.
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
