//! Detects texts that look like a secret or like personal data. The patterns are the published
//! ones, and each must match wherever upstream's does. A word ends as in upstream's engine: before
//! any character that is not a letter, number or `_`. Our engine has other word boundaries and no
//! look-around, so the patterns contain the boundaries explicitly.

use std::sync::LazyLock;

use regex::RegexSet;

/// The boundary of a word, besides the beginning and the end of the text.
const EDGE: &str = r"[^\p{L}\p{N}_]";
const WORD: &str = r"[\p{L}\p{N}_]";

type LeakPatterns = LazyLock<Option<RegexSet>>;

/// Keys of three services, assignments of secrets, social security numbers, card numbers.
static SECRET: LeakPatterns = LazyLock::new(|| {
    let sk = r"sk-[A-Za-z0-9_-]{11,}(?:[A-Za-z0-9_](?:$|EDGE)|-WORD)";
    patterns(&[
        &format!("(?:^|EDGE){sk}"),
        r"(?:^|EDGE)AKIA[0-9A-Z]{16}(?:$|EDGE)",
        // Upstream's case-insensitive `i` also matches these two letters.
        "(?i)(?:^|EDGE)(?:ap[iİı][_-]?key|secret|token|password)[\\s\\x1c-\\x1f]*[:=]\
         [\\s\\x1c-\\x1f]*['\"]?[A-Za-zİı0-9_.\\-]{8,}",
        r"(?:^|EDGE)\d{3}-\d{2}-\d{4}(?:$|EDGE)",
        r"(?:^|EDGE)\d(?:[ -]*\d){12,15}(?:$|EDGE)",
    ])
});

/// Patterns of personal data: mail addresses, telephone numbers.
static PERSONAL: LeakPatterns = LazyLock::new(|| {
    patterns(&[
        "(?i)(?:(?:^|EDGE)[A-Zİı0-9_]|WORD[.%+-])[A-Zİı0-9._%+-]*@[A-Zİı0-9.-]+\
         \\.[A-Zİı]{2,}(?:$|EDGE)",
        r"(?:^|EDGE)(?:1[-.\s\x1c-\x1f]?\(?)?\d{3}\)?[-.\s\x1c-\x1f]?\d{3}[-.\s\x1c-\x1f]?\d{4}(?:$|EDGE)",
    ])
});

fn patterns(patterns: &[&str]) -> Option<RegexSet> {
    let spelled = patterns.iter().map(|it| it.replace("EDGE", EDGE).replace("WORD", WORD));
    RegexSet::new(spelled).ok()
}

/// Returns whether a pattern matches. If the patterns could not be built, no text counts as clean.
fn found(patterns: &LeakPatterns, text: &str) -> bool {
    patterns.as_ref().is_none_or(|set| set.is_match(text))
}

pub(super) fn secret(text: &str) -> bool {
    found(&SECRET, text)
}

pub(super) fn personal(text: &str) -> bool {
    found(&PERSONAL, text)
}

#[cfg(test)]
mod tests {
    use super::{PERSONAL, SECRET};

    #[test]
    fn every_pattern_can_be_built() {
        assert_eq!(SECRET.as_ref().map(regex::RegexSet::len), Some(5));
        assert_eq!(PERSONAL.as_ref().map(regex::RegexSet::len), Some(2));
    }
}
