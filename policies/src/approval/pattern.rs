//! OpenSSH's lists of patterns (ssh_config(5), PATTERNS): `*`, `?` and, before a pattern, `!`. They
//! match bytes and are case-sensitive. They must never match more than OpenSSH would, because a
//! pattern decides which approvals count.

/// A list such as `*@example.org,!guest@*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PatternList {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

/// OpenSSH stops matching at 1023 bytes; this is more than any name needs.
const PATTERN_BYTES_MAX: usize = 255;

impl PatternList {
    /// Reads a comma-separated list. A pattern that could match nothing, or that a person could not
    /// read, is an error.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut patterns = Self { wanted: Vec::new(), unwanted: Vec::new() };
        for item in text.split(',') {
            let (list, pattern) = match item.strip_prefix('!') {
                Some(pattern) => (&mut patterns.unwanted, pattern),
                None => (&mut patterns.wanted, item),
            };
            let shown = model::escape_line(item);
            if pattern.is_empty() {
                return Err(format!("`{shown}` is empty between the commas"));
            }
            if pattern.len() > PATTERN_BYTES_MAX {
                return Err(format!("`{shown}` is longer than {PATTERN_BYTES_MAX} bytes"));
            }
            if pattern.contains(|c: char| c.is_control() || c == '"') {
                return Err(format!("`{shown}` contains a control character or a quote"));
            }
            if let Some(why) = validator::misleading_reason(pattern) {
                return Err(format!("`{shown}` has {why}"));
            }
            list.push(pattern.to_owned());
        }
        if patterns.wanted.is_empty() {
            return Err(format!("`{}` matches no name", model::escape_line(text)));
        }
        Ok(patterns)
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let any = |list: &[String]| list.iter().any(|it| matches(text.as_bytes(), it.as_bytes()));
        !any(&self.unwanted) && any(&self.wanted)
    }

    /// Returns the patterns that are not negated, as written. A name is a pattern of itself.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().map(String::as_str)
    }

    /// Returns whether one name could match both lists. Negations are ignored: counting one person
    /// as two is worse than counting two as one. For the same reason names that differ only in
    /// case, or that look alike, are one.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.wanted().any(|a| other.wanted().any(|b| look_alike(a, b)))
    }

    /// Returns whether a reader could mistake the name for one of these. It must never authorize a
    /// person: only `matches` does.
    pub(crate) fn resembles(&self, name: &str) -> bool {
        let unwanted = self.unwanted.iter().any(|it| matches(name.as_bytes(), it.as_bytes()));
        !unwanted && self.wanted().any(|it| look_alike(it, name))
    }
}

fn look_alike(a: &str, b: &str) -> bool {
    let meet = |a: &str, b: &str| overlap(a.as_bytes(), b.as_bytes());
    validator::comparable_spellings(a, b).iter().any(|(a, b)| meet(a, b))
}

fn matches(text: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // The position of the last star, and the position of the text up to which it matches.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match (pattern.get(next), star) {
            (Some(b'*'), _) => {
                star = Some((next, at));
                next += 1;
            }
            (Some(wanted), _) if *wanted == b'?' || *wanted == text[at] => {
                at += 1;
                next += 1;
            }
            (_, Some((place, from))) => {
                star = Some((place, from + 1));
                at = from + 1;
                next = place + 1;
            }
            (_, None) => return false,
        }
    }
    pattern[next..].iter().all(|rest| *rest == b'*')
}

fn overlap(a: &[u8], b: &[u8]) -> bool {
    let wild = |pattern: &[u8]| pattern.iter().any(|it| b"*?".contains(it));
    match (wild(a), wild(b)) {
        (false, _) => matches(a, b),
        (_, false) => matches(b, a),
        (true, true) => {
            ends_agree(a.iter(), b.iter())
                && ends_agree(a.iter().rev(), b.iter().rev())
                && both_wild(a, b)
        }
    }
}

/// Compares the bytes before the first `*` or `?` of both: cheap, and it rules out most pairs.
fn ends_agree<'a>(a: impl Iterator<Item = &'a u8>, b: impl Iterator<Item = &'a u8>) -> bool {
    let plain = |(x, y): &(&u8, &u8)| ![x, y].iter().any(|it| b"*?".contains(it));
    a.zip(b).take_while(plain).all(|(x, y)| x == y)
}

/// Returns whether two patterns with wildcards can match one text. `row[j]` says so for the rest of
/// `a` and the rest of `b` from `j`.
fn both_wild(a: &[u8], b: &[u8]) -> bool {
    let mut below = vec![false; b.len() + 1];
    for i in (0..=a.len()).rev() {
        let mut row = vec![false; b.len() + 1];
        for j in (0..=b.len()).rev() {
            row[j] = match (a.get(i), b.get(j)) {
                (None, None) => true,
                (Some(b'*'), None) => below[j],
                (None, Some(b'*')) => row[j + 1],
                (Some(b'*'), _) | (_, Some(b'*')) if i < a.len() && j < b.len() => {
                    below[j] || row[j + 1]
                }
                (Some(x), Some(y)) => (x == y || *x == b'?' || *y == b'?') && below[j + 1],
                _ => false,
            };
        }
        below = row;
    }
    below[0]
}

#[cfg(test)]
mod tests {
    use super::PatternList;

    fn list(text: &str) -> PatternList {
        PatternList::read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn stars_marks_and_negations_match_as_openssh_has_them() {
        for (patterns, text, expected) in [
            ("alice", "alice", true),
            ("alice", "Alice", false),
            ("al?ce", "alice", true),
            ("al?ce", "alce", false),
            ("*", "", true),
            ("*@example.org", "a@example.org", true),
            ("*@example.org", "a@example.org.evil", false),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXcXb", false),
            ("!bob,*", "bob", false),
            ("*,!bob", "bob", false),
            ("*,!bob", "alice", true),
            ("*,!b*", "bea", false),
        ] {
            assert_eq!(list(patterns).matches(text), expected, "{patterns} and {text}");
        }
    }

    #[test]
    fn lists_that_could_mean_no_principal_are_slips() {
        for text in ["", "a,", ",a", "!", "!bob", "a\u{7}", "a\"b", &"a".repeat(256)] {
            assert!(PatternList::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn two_lists_overlap_where_one_name_could_be_in_both() {
        for (a, b, expected) in [
            ("alice", "alice", true),
            ("alice", "bob", false),
            ("*@a.org", "bob@a.org", true),
            ("*@a.org", "*@b.org", false),
            ("*@a.org", "bob@*", true),
            ("a*", "*b", true),
            ("a?", "?b", true),
            ("a?", "?bc", false),
            ("a*c", "ab", false),
            ("*", "?*", true),
            ("x,b*", "y,?ob", true),
        ] {
            assert_eq!(list(a).overlaps(&list(b)), expected, "{a} and {b}");
            assert_eq!(list(b).overlaps(&list(a)), expected, "{b} and {a}");
        }
    }
}
