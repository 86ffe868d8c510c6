//! Detects texts that look like a secret or like personal data. The patterns are the published
//! ones, and each must match at the same places as upstream's. A word ends as in upstream's engine: before
//! any character that is not a letter, number or `_`. Our engine has other word boundaries and no
//! look-around, so the patterns contain the boundaries explicitly.

use std::sync::LazyLock;

use regex::RegexSet;

/// The classes of characters in the patterns. `EDGE` is the boundary of a word, besides the
/// beginning and the end of the text.
type CharClasses = [(&'static str, &'static str); 3];

const ANY: CharClasses =
    [("EDGE", r"[^\p{L}\p{N}_]"), ("WORD", r"[\p{L}\p{N}_]"), ("DIGIT", r"\d")];
/// The same as far as ASCII goes. The classes above take milliseconds to compile.
const ASCII: CharClasses =
    [("EDGE", r"[\x00-/:-@\[-^`{-\x7f]"), ("WORD", "[0-9A-Z_a-z]"), ("DIGIT", "[0-9]")];

/// Keys of three services, assignments of secrets, social security numbers, card numbers.
const SECRETS: [&str; 5] = [
    r"(?:^|EDGE)sk-[A-Za-z0-9_-]{11,}(?:[A-Za-z0-9_](?:$|EDGE)|-WORD)",
    r"(?:^|EDGE)AKIA[0-9A-Z]{16}(?:$|EDGE)",
    // Upstream's case-insensitive `i` also matches these two letters.
    "(?i)(?:^|EDGE)(?:ap[iİı][_-]?key|secret|token|password)[\\s\\x1c-\\x1f]*[:=]\
     [\\s\\x1c-\\x1f]*['\"]?[A-Za-zİı0-9_.\\-]{8,}",
    r"(?:^|EDGE)DIGIT{3}-DIGIT{2}-DIGIT{4}(?:$|EDGE)",
    r"(?:^|EDGE)DIGIT(?:[ -]*DIGIT){12,15}(?:$|EDGE)",
];

/// Mail addresses, telephone numbers.
const PERSONAL_DATA: [&str; 2] = [
    "(?i)(?:(?:^|EDGE)[A-Zİı0-9_]|WORD[.%+-])[A-Zİı0-9._%+-]*@[A-Zİı0-9.-]+\
     \\.[A-Zİı]{2,}(?:$|EDGE)",
    r"(?:^|EDGE)(?:1[-.\s\x1c-\x1f]?\(?)?DIGIT{3}\)?[-.\s\x1c-\x1f]?DIGIT{3}[-.\s\x1c-\x1f]?DIGIT{4}(?:$|EDGE)",
];

/// The patterns for any text, and those for a text in ASCII.
struct LeakPatterns {
    any: LazyLock<Option<RegexSet>>,
    ascii: LazyLock<Option<RegexSet>>,
}

static SECRET: LeakPatterns = LeakPatterns {
    any: LazyLock::new(|| patterns(&SECRETS, &ANY)),
    ascii: LazyLock::new(|| patterns(&SECRETS, &ASCII)),
};

static PERSONAL: LeakPatterns = LeakPatterns {
    any: LazyLock::new(|| patterns(&PERSONAL_DATA, &ANY)),
    ascii: LazyLock::new(|| patterns(&PERSONAL_DATA, &ASCII)),
};

fn patterns(patterns: &[&str], classes: &CharClasses) -> Option<RegexSet> {
    let spell = |pattern: &&str| {
        classes.iter().fold((*pattern).to_owned(), |text, (name, class)| text.replace(name, class))
    };
    RegexSet::new(patterns.iter().map(spell)).ok()
}

impl LeakPatterns {
    /// Returns whether a pattern matches. If the patterns could not be built, no text counts as
    /// clean.
    fn found(&self, text: &str) -> bool {
        let set = if text.is_ascii() { &self.ascii } else { &self.any };
        set.as_ref().is_none_or(|set| set.is_match(text))
    }
}

pub(super) fn secret(text: &str) -> bool {
    SECRET.found(text)
}

pub(super) fn personal(text: &str) -> bool {
    PERSONAL.found(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::{ANY, ASCII, PERSONAL, SECRET};

    #[test]
    fn every_pattern_can_be_built() {
        for (patterns, count) in [(&SECRET, 5), (&PERSONAL, 2)] {
            for set in [&patterns.any, &patterns.ascii] {
                assert_eq!(set.as_ref().map(regex::RegexSet::len), Some(count));
            }
        }
    }

    #[test]
    fn the_classes_agree_on_ascii() {
        for ((name, any), (same, ascii)) in ANY.into_iter().zip(ASCII) {
            assert_eq!(name, same);
            let (any, ascii) = (Regex::new(any).unwrap(), Regex::new(ascii).unwrap());
            for byte in 0..128_u8 {
                let text = char::from(byte).to_string();
                assert_eq!(any.is_match(&text), ascii.is_match(&text), "{name}: {text:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Pieces of what the patterns look for, so that many texts match.
        #[test]
        fn the_sets_agree_on_ascii(pieces in proptest::collection::vec(
            prop_oneof![
                "[ -~]{0,3}",
                Just("sk-abcdefghijkl".to_owned()),
                Just("AKIA0123456789ABCDEF".to_owned()),
                Just(["password", "="].concat()),
                Just("api_key: 'longenough".to_owned()),
                "[0-9]{3}-[0-9]{2}-[0-9]{4}",
                "[0-9]{13,16}",
                "[a-z]{1,4}@[a-z]{1,4}\\.[a-z]{1,3}",
            ],
            0..6,
        )) {
            let text = pieces.concat();
            for patterns in [&SECRET, &PERSONAL] {
                let found = |set: &Option<regex::RegexSet>| set.as_ref().unwrap().is_match(&text);
                prop_assert_eq!(found(&patterns.any), found(&patterns.ascii), "{}", text);
            }
        }
    }
}
