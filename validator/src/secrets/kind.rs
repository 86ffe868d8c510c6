//! A kind of secret: its stable name, and the forms of its tokens as documented by the issuer. A
//! form must never match inside a longer word.

use super::alphabet::{Alphabet, RunExtents};
use crate::violation::Severity;

/// A kind of secret. The code of a finding is `secret.<name>`.
#[derive(Clone, Copy, Debug)]
pub struct SecretKind {
    /// The stable name, such as `github-token`.
    pub name: &'static str,
    /// A description, as a phrase with its article: `a GitHub token: personal, …`.
    pub what: &'static str,
    /// The URL of the issuer's documentation.
    pub source: &'static str,
    /// Error if the form alone is sufficient, warning if only the words around it suggest a secret.
    pub severity: Severity,
    pub(super) forms: &'static [TokenForm],
}

pub(super) const fn kind(
    name: &'static str,
    what: &'static str,
    source: &'static str,
    shapes: &'static [TokenForm],
) -> SecretKind {
    SecretKind { name, what, source, severity: Severity::Error, forms: shapes }
}

/// Creates a kind that only the words around a value suggest.
pub(super) const fn likely_kind(
    name: &'static str,
    what: &'static str,
    source: &'static str,
) -> SecretKind {
    SecretKind { name, what, source, severity: Severity::Warning, forms: &[] }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TokenPart {
    /// Characters of an alphabet, with the minimum and maximum number.
    Run(Alphabet, usize, usize),
    Text(&'static str),
}

pub(super) const fn run(alphabet: Alphabet, least: usize, most: usize) -> TokenPart {
    TokenPart::Run(alphabet, least, most)
}

pub(super) const fn exact(alphabet: Alphabet, length: usize) -> TokenPart {
    TokenPart::Run(alphabet, length, length)
}

pub(super) const fn text(text: &'static str) -> TokenPart {
    TokenPart::Text(text)
}

/// The text allowed before the prefix.
#[derive(Clone, Copy, Debug)]
enum TokenPrecedence {
    /// Anything except a letter or a digit: `KEY_AKIA…` counts.
    Separator,
    /// Nothing of the same name: for prefixes that are also the end of other words.
    Nothing,
    /// The first part of the token itself.
    Lead(Alphabet, usize, usize),
}

/// A token in the right form, as the input of a checksum.
pub(super) struct TokenText<'t> {
    pub(super) lead: &'t str,
    /// The token with the prefix, without the lead.
    pub(super) whole: &'t str,
    /// The token without the prefix.
    pub(super) body: &'t str,
}

pub(super) type TokenCheck = fn(&TokenText<'_>) -> bool;

/// One form of a token. The whole prefix is case-sensitive.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenForm {
    pub(super) prefix: &'static str,
    parts: &'static [TokenPart],
    before: TokenPrecedence,
    check: Option<TokenCheck>,
    sum: Option<TokenCheck>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TokenSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// True if the issuer's checksum in it is correct.
    pub(super) sure: bool,
}

pub(super) const fn form(prefix: &'static str, parts: &'static [TokenPart]) -> TokenForm {
    TokenForm { prefix, parts, before: TokenPrecedence::Separator, check: None, sum: None }
}

impl TokenForm {
    /// Matches only if no name directly precedes it.
    pub(super) const fn standalone(self) -> Self {
        Self { before: TokenPrecedence::Nothing, ..self }
    }

    /// Requires characters of the token before the prefix.
    pub(super) const fn with_lead(self, alphabet: Alphabet, least: usize, most: usize) -> Self {
        Self { before: TokenPrecedence::Lead(alphabet, least, most), ..self }
    }

    /// Matches only tokens that pass the check.
    pub(super) const fn with_check(self, check: TokenCheck) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Adds a checksum. A wrong one does not exclude a token, which may be truncated, retyped or
    /// made by a tool without it. A correct one makes the finding certain.
    pub(super) const fn with_checksum(self, sum: TokenCheck) -> Self {
        Self { sum: Some(sum), ..self }
    }

    /// Returns the token whose prefix begins at this byte.
    pub(super) fn at(
        &self,
        text: &str,
        prefix_at: usize,
        reach: &mut RunExtents<'_>,
    ) -> Option<TokenSpan> {
        // A lead is scanned only if it can end here and the rest matches.
        let may_begin = match self.before {
            TokenPrecedence::Lead(alphabet, ..) => {
                let last = prefix_at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
                last.is_some_and(|byte| alphabet.contains(*byte))
            }
            TokenPrecedence::Separator | TokenPrecedence::Nothing => {
                self.start(text.as_bytes(), prefix_at).is_some()
            }
        };
        if !may_begin {
            return None;
        }
        if !text.get(prefix_at..)?.starts_with(self.prefix) {
            return None;
        }
        let body_at = prefix_at + self.prefix.len();
        let end = self.end(text, body_at, reach)?;
        let start = self.start(text.as_bytes(), prefix_at)?;
        let token = TokenText {
            lead: text.get(start..prefix_at)?,
            whole: text.get(prefix_at..end)?,
            body: text.get(body_at..end)?,
        };
        let real = !is_redacted(token.body) && self.check.is_none_or(|check| check(&token));
        let sure = || self.sum.is_some_and(|sum| sum(&token));
        real.then(|| TokenSpan { start, end, sure: sure() })
    }

    fn start(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (alphabet, least, most) = match self.before {
            TokenPrecedence::Separator => return begins_word(bytes, at).then_some(at),
            TokenPrecedence::Nothing => {
                let joined = |byte: &u8| b"_-.+/".contains(byte);
                let free =
                    at.checked_sub(1).and_then(|it| bytes.get(it)).is_none_or(|b| !joined(b));
                return (free && begins_word(bytes, at)).then_some(at);
            }
            TokenPrecedence::Lead(alphabet, least, most) => (alphabet, least, most),
        };
        let before = bytes.get(..at).unwrap_or_default();
        let length = before.iter().rev().take(most).take_while(|b| alphabet.contains(**b)).count();
        let start = at.checked_sub(length)?;
        (length >= least && begins_word(bytes, start)).then_some(start)
    }

    fn end(&self, text: &str, from: usize, reach: &mut RunExtents<'_>) -> Option<usize> {
        let mut at = from;
        let mut last = Alphabet::Alphanumeric;
        for part in self.parts {
            match part {
                TokenPart::Run(alphabet, least, most) => {
                    let length = (reach.end(*alphabet, at) - at).min(*most);
                    if length < *least {
                        return None;
                    }
                    (at, last) = (at + length, *alphabet);
                }
                TokenPart::Text(fixed) => {
                    if !text.get(at..)?.starts_with(fixed) {
                        return None;
                    }
                    (at, last) = (at + fixed.len(), Alphabet::Alphanumeric);
                }
            }
        }
        let next = text.as_bytes().get(at);
        let longer = next.is_some_and(|b| last.contains(*b) || b.is_ascii_alphanumeric());
        (!longer).then_some(at)
    }
}

/// Returns true if a word can begin here. An escape before it (`\n`, `%3D`, `\u003d`) ends in a
/// letter or a digit that does not belong to the word.
pub(super) fn begins_word(bytes: &[u8], at: usize) -> bool {
    let back = |count: usize| at.checked_sub(count).and_then(|it| bytes.get(it)).copied();
    let Some(last) = back(1) else { return true };
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let hexadecimal = |count: usize| (1..=count).all(|it| back(it).is_some_and(is_hex));
    matches!((back(2), last), (Some(b'\\'), b'n' | b'r' | b't'))
        || (back(3) == Some(b'%') && hexadecimal(2))
        || (back(6) == Some(b'\\') && back(5) == Some(b'u') && hexadecimal(4))
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// Returns true if the secret part is redacted: three quarters of it are masking characters.
fn is_redacted(body: &str) -> bool {
    let marks = body.bytes().filter(|byte| b"xX*.0".contains(byte)).count();
    !body.is_empty() && marks * 4 >= body.len() * 3
}
