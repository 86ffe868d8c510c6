//! Whether a text holds what looks like a secret or like somebody's personal data: the published
//! patterns, each of which must match wherever upstream's does. A word ends here where it ends for
//! upstream's engine, before anything that is neither letter nor number nor `_`; ours has other words
//! and no look-around, so the edges are spelled out.

use std::sync::LazyLock;

use regex::RegexSet;

/// Before a word, or behind it, is nothing or this.
const EDGE: &str = r"[^\p{L}\p{N}_]";
/// A word goes on.
const WORD: &str = r"[\p{L}\p{N}_]";

type Patterns = LazyLock<Option<RegexSet>>;

/// Keys of three services, assignments of secrets, social security numbers, card numbers.
static SECRET: Patterns = LazyLock::new(|| {
    let sk = r"sk-[A-Za-z0-9_-]{11,}(?:[A-Za-z0-9_](?:$|EDGE)|-WORD)";
    patterns(&[
        &format!("(?:^|EDGE){sk}"),
        r"(?:^|EDGE)AKIA[0-9A-Z]{16}(?:$|EDGE)",
        // Upstream's engine takes two more letters for an `i` of any case.
        "(?i)(?:^|EDGE)(?:ap[iİı][_-]?key|secret|token|password)[\\s\\x1c-\\x1f]*[:=]\
         [\\s\\x1c-\\x1f]*['\"]?[A-Za-zİı0-9_.\\-]{8,}",
        r"(?:^|EDGE)\d{3}-\d{2}-\d{4}(?:$|EDGE)",
        r"(?:^|EDGE)\d(?:[ -]*\d){12,15}(?:$|EDGE)",
    ])
});

/// Addresses of mail, telephone numbers.
static PERSONAL: Patterns = LazyLock::new(|| {
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

/// Without its patterns nothing is known to be clean.
fn found(patterns: &Patterns, text: &str) -> bool {
    patterns.as_ref().is_none_or(|set| set.is_match(text))
}

/// Whether something in the text looks like a secret.
pub(super) fn secret(text: &str) -> bool {
    found(&SECRET, text)
}

/// Whether something in the text looks like personal data.
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
