//! Words in place of the first digits of a digest, so that a person can compare two screens. They
//! must never replace the digest where a program compares: six words are 66 of its 256 bits.

use crate::digest::Sha256;

/// The English list of BIP-39: 2048 words in alphabetical order, of which no two begin with the same
/// four letters.
const WORD_LIST: &str = include_str!("words.txt");
/// The number of words.
const WORDS: usize = 6;
/// The bits of the digest in a word.
const WORD_BITS: usize = 11;

/// Returns the words for the first 66 bits of the digest: a word for each 11 bits, the most
/// significant bit first.
#[must_use]
pub fn digest_words(digest: &Sha256) -> [&'static str; WORDS] {
    let head = digest.as_bytes().iter().take(size_of::<u128>());
    let head = head.fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
    std::array::from_fn(|index| {
        let after = 128 - WORD_BITS * (index + 1);
        let position = (head >> after) & ((1 << WORD_BITS) - 1);
        // A test checks that the list has a word for each number of 11 bits.
        let position = usize::try_from(position).unwrap_or_default();
        WORD_LIST.lines().nth(position).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_word_for_each_number() {
        let words: Vec<&str> = WORD_LIST.lines().collect();
        assert_eq!(words.len(), 1 << WORD_BITS);
        assert!(words.is_sorted_by(|one, next| one < next));
        for word in &words {
            let letters = word.bytes().all(|b| b.is_ascii_lowercase());
            assert!(letters && (3..=8).contains(&word.len()), "{word}");
        }
        // So the first four letters are enough to compare.
        let starts = words.iter().map(|word| word.get(..4).unwrap_or(word));
        let starts: std::collections::BTreeSet<&str> = starts.collect();
        assert_eq!(starts.len(), words.len());
        // The list that other programs have.
        let sha256 = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda";
        assert_eq!(Sha256::of(WORD_LIST.as_bytes()).to_string(), sha256);
    }
}
