//! The tokens of a Rust file, with or without test code. Not a parser: only what checks need.

use crate::rust_text::{RustPart, pieces};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RustTokenKind {
    /// An identifier, a keyword or a number.
    Word,
    /// A string literal, with its quotes.
    Text,
    /// A character literal or a lifetime.
    Other,
    /// One punctuation character, or one of `::`, `=>` and `->`.
    Mark,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RustToken<'a> {
    pub(crate) kind: RustTokenKind,
    pub(crate) text: &'a str,
}

impl RustToken<'_> {
    /// Returns whether this is the given mark or keyword.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind != RustTokenKind::Text && self.text == text
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == RustTokenKind::Word
    }

    /// Returns whether this may be the name of a type or a variant.
    pub(crate) fn is_type_name(&self) -> bool {
        self.is_word() && self.text.starts_with(|c: char| c.is_ascii_uppercase())
    }
}

/// Reads every token. Comments are left out.
pub(crate) fn tokens(text: &str) -> Vec<RustToken<'_>> {
    let mut found = Vec::new();
    for piece in pieces(text) {
        let kind = match piece.part {
            RustPart::Code => {
                of_code(piece.text, &mut found);
                continue;
            }
            RustPart::Comment => continue,
            RustPart::Text => RustTokenKind::Text,
            RustPart::Char => RustTokenKind::Other,
        };
        found.push(RustToken { kind, text: piece.text });
    }
    found
}

fn of_code<'a>(code: &'a str, found: &mut Vec<RustToken<'a>>) {
    let bytes = code.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 128 || *byte == b'_')
    };
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        at += 1;
        let kind = match bytes[from] {
            byte if byte.is_ascii_whitespace() => continue,
            b'\'' => RustTokenKind::Other,
            b':' | b'=' | b'-' => {
                let pair = code.get(from..from + 2);
                at += usize::from(pair.is_some_and(|pair| ["::", "=>", "->"].contains(&pair)));
                RustTokenKind::Mark
            }
            _ if is_word(from) => RustTokenKind::Word,
            _ => RustTokenKind::Mark,
        };
        if kind != RustTokenKind::Mark {
            while is_word(at) {
                at += 1;
            }
        }
        found.push(RustToken { kind, text: &code[from..at] });
    }
}

/// Returns the position of the bracket that closes the one here, or the last position.
pub(crate) fn closing(tokens: &[RustToken<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != RustTokenKind::Mark {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}

/// Returns whether an item may begin here, judged by the token before.
pub(crate) fn begins_item(tokens: &[RustToken<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| tokens[before]) else { return true };
    ["}", "{", ";", "]", ")", "pub", "unsafe", "default"].iter().any(|it| before.is(it))
}

/// Removes each item that only tests have, with its attributes.
pub(crate) fn without_tests<'a>(tokens: &[RustToken<'a>]) -> Vec<RustToken<'a>> {
    let (mut kept, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while at < tokens.len() {
        match attribute(tokens, at) {
            Some(end) if is_for_tests(&tokens[at..=end]) => {
                if tokens[at + 1].is("!") {
                    return Vec::new();
                }
                at = end_of_item(tokens, end + 1);
            }
            _ => {
                kept.push(tokens[at]);
                at += 1;
            }
        }
    }
    kept
}

/// Returns the end of the attribute that begins here.
fn attribute(tokens: &[RustToken<'_>], at: usize) -> Option<usize> {
    if !tokens[at].is("#") {
        return None;
    }
    let open = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|it| it.is("!")));
    tokens.get(open).is_some_and(|it| it.is("[")).then(|| closing(tokens, open))
}

/// Returns whether an attribute is `#[cfg(test)]`, or `all` of that and more.
fn is_for_tests(attribute: &[RustToken<'_>]) -> bool {
    let words: Vec<_> = attribute.iter().filter(|it| it.is_word()).map(|it| it.text).collect();
    matches!(words[..], ["cfg", "test"] | ["cfg", "all", "test", ..])
}

/// Returns the position after the item that begins here, including its own attributes.
fn end_of_item(tokens: &[RustToken<'_>], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text {
            "(" | "[" => at = closing(tokens, at) + 1,
            "{" => return closing(tokens, at) + 1,
            ";" => return at + 1,
            "}" => return at,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
fn texts<'a>(tokens: &[RustToken<'a>]) -> Vec<&'a str> {
    tokens.iter().map(|it| it.text).collect()
}

#[test]
fn tokens_know_words_marks_and_texts() {
    let text = "use a::b; // use c\nfn f<'a>(x: &'a str) -> u8 { if x == \"use d\" { 'e' } }";
    let wanted = [
        "use",
        "a",
        "::",
        "b",
        ";",
        "fn",
        "f",
        "<",
        "'a",
        ">",
        "(",
        "x",
        ":",
        "&",
        "'a",
        "str",
        ")",
        "->",
        "u8",
        "{",
        "if",
        "x",
        "=",
        "=",
        "\"use d\"",
        "{",
        "'e'",
        "}",
        "}",
    ];
    assert_eq!(texts(&tokens(text)), wanted);
    assert!(!tokens("\";\"")[0].is("\";\""), "a text is no mark");
}

#[test]
fn items_of_tests_are_left_out() {
    let text = "use a::b;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests;\n#[derive(Debug)] struct A;
        #[cfg(all(test, unix))] fn f(x: [u8; 2]) -> u8 { g(|| {}) }\n#[cfg(unix)] fn h() {}
        #[cfg(test)] mod t { mod u { struct B; } } struct C;";
    let kept = texts(&without_tests(&tokens(text))).join(" ");
    let wanted = "use a :: b ; # [ derive ( Debug ) ] struct A ; \
        # [ cfg ( unix ) ] fn h ( ) { } struct C ;";
    assert_eq!(kept, wanted);
    assert_eq!(without_tests(&tokens("#![cfg(test)] struct A;")), []);
}
