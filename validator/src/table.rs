//! A sorted list of words. An unsorted one must never compile: its search would miss words.

/// The slot of all characters but the letters from `a` to `z`.
const OTHER: usize = 26;

pub(crate) struct WordTable {
    words: &'static [&'static str],
    /// The lengths and the last letters of the words for each first letter, as bits, which reject
    /// most words without a search.
    lengths: [u32; OTHER + 1],
    endings: [u32; OTHER + 1],
}

impl WordTable {
    /// Creates a table of words in byte order, without duplicates, of at most 31 bytes each.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let mut lengths = [0; OTHER + 1];
        let mut endings = [0; OTHER + 1];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            assert!(at == 0 || is_less(words[at - 1].as_bytes(), word), "out of order");
            assert!(!word.is_empty() && word.len() < 32, "too long");
            lengths[slot(word[0])] |= 1 << word.len();
            endings[slot(word[0])] |= 1 << slot(word[word.len() - 1]);
            at += 1;
        }
        Self { words, lengths, endings }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
        let of_first = |bits: &[u32]| bits.get(slot(first)).copied().unwrap_or(0);
        let (lengths, endings) = (of_first(&self.lengths), of_first(&self.endings));
        word.len() < 32
            && (lengths >> word.len()) & (endings >> slot(last)) & 1 == 1
            && self.words.binary_search(&word).is_ok()
    }
}

const fn slot(letter: u8) -> usize {
    if letter.is_ascii_lowercase() { (letter - b'a') as usize } else { OTHER }
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
