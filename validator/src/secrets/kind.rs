//! What a kind of secret is: its stable name, and the shapes its tokens have by the documents of
//! their issuer. A shape must never match inside a longer word.

use super::alphabet::{Alphabet, Reach};
use crate::violation::Severity;

/// A kind of secret that is looked for. `secret.<name>` is the code of a finding.
#[derive(Clone, Copy, Debug)]
pub struct SecretKind {
    /// The stable word, such as `github-token`.
    pub name: &'static str,
    /// What it is, as a phrase with its article: `a GitHub token: personal, …`.
    pub what: &'static str,
    /// Where its issuer documents it, as a URL.
    pub source: &'static str,
    /// Error where the form alone tells, warning where only the words around it do.
    pub severity: Severity,
    pub(super) shapes: &'static [Shape],
}

pub(super) const fn kind(
    name: &'static str,
    what: &'static str,
    source: &'static str,
    shapes: &'static [Shape],
) -> SecretKind {
    SecretKind { name, what, source, severity: Severity::Error, shapes }
}

/// A kind that only the words around it tell.
pub(super) const fn guessed(
    name: &'static str,
    what: &'static str,
    source: &'static str,
) -> SecretKind {
    SecretKind { name, what, source, severity: Severity::Warning, shapes: &[] }
}

/// A piece of a token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// So many characters of an alphabet.
    Run(Alphabet, usize, usize),
    Text(&'static str),
}

pub(super) const fn run(alphabet: Alphabet, least: usize, most: usize) -> Part {
    Part::Run(alphabet, least, most)
}

pub(super) const fn exact(alphabet: Alphabet, length: usize) -> Part {
    Part::Run(alphabet, length, length)
}

pub(super) const fn text(text: &'static str) -> Part {
    Part::Text(text)
}

/// What may stand before the prefix.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// Anything that is no letter and no digit: `KEY_AKIA…` counts.
    Separator,
    /// Nothing that could belong to the same name: for prefixes that other words end with.
    Nothing,
    /// The first part of the token itself.
    Lead(Alphabet, usize, usize),
}

/// A token that has the form; what a checksum is computed over.
pub(super) struct Token<'t> {
    pub(super) lead: &'t str,
    /// With the prefix, without the lead.
    pub(super) whole: &'t str,
    /// Without the prefix.
    pub(super) body: &'t str,
}

pub(super) type Check = fn(&Token<'_>) -> bool;

/// One form of a token. All of its prefix is case-sensitive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) prefix: &'static str,
    parts: &'static [Part],
    before: Before,
    check: Option<Check>,
    sum: Option<Check>,
}

/// Where a token stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the issuer's checksum in it is right.
    pub(super) sure: bool,
}

pub(super) const fn shape(prefix: &'static str, parts: &'static [Part]) -> Shape {
    Shape { prefix, parts, before: Before::Separator, check: None, sum: None }
}

impl Shape {
    /// Only where no name runs into it.
    pub(super) const fn alone(self) -> Self {
        Self { before: Before::Nothing, ..self }
    }

    /// With characters of the token before the prefix.
    pub(super) const fn after(self, alphabet: Alphabet, least: usize, most: usize) -> Self {
        Self { before: Before::Lead(alphabet, least, most), ..self }
    }

    /// Only if this is true of the token.
    pub(super) const fn checked(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }

    /// With a checksum. A wrong one excuses nothing: tokens are cut, retyped and made up by tools
    /// that do not know it. A right one makes sure.
    pub(super) const fn summed(self, sum: Check) -> Self {
        Self { sum: Some(sum), ..self }
    }

    /// The token whose prefix begins at this byte.
    pub(super) fn at(&self, text: &str, prefix_at: usize, reach: &mut Reach<'_>) -> Option<Seen> {
        // A lead is walked over only if it can end here and all that follows it is there.
        let may_begin = match self.before {
            Before::Lead(alphabet, ..) => {
                let last = prefix_at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
                last.is_some_and(|byte| alphabet.holds(*byte))
            }
            Before::Separator | Before::Nothing => self.start(text.as_bytes(), prefix_at).is_some(),
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
        let token = Token {
            lead: text.get(start..prefix_at)?,
            whole: text.get(prefix_at..end)?,
            body: text.get(body_at..end)?,
        };
        let real = !is_redacted(token.body) && self.check.is_none_or(|check| check(&token));
        let sure = || self.sum.is_some_and(|sum| sum(&token));
        real.then(|| Seen { start, end, sure: sure() })
    }

    fn start(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (alphabet, least, most) = match self.before {
            Before::Separator => return begins_word(bytes, at).then_some(at),
            Before::Nothing => {
                let joined = |byte: &u8| b"_-.+/".contains(byte);
                let free =
                    at.checked_sub(1).and_then(|it| bytes.get(it)).is_none_or(|b| !joined(b));
                return (free && begins_word(bytes, at)).then_some(at);
            }
            Before::Lead(alphabet, least, most) => (alphabet, least, most),
        };
        let before = bytes.get(..at).unwrap_or_default();
        let length = before.iter().rev().take(most).take_while(|b| alphabet.holds(**b)).count();
        let start = at.checked_sub(length)?;
        (length >= least && begins_word(bytes, start)).then_some(start)
    }

    fn end(&self, text: &str, from: usize, reach: &mut Reach<'_>) -> Option<usize> {
        let mut at = from;
        let mut last = Alphabet::Alphanumeric;
        for part in self.parts {
            match part {
                Part::Run(alphabet, least, most) => {
                    let length = (reach.end(*alphabet, at) - at).min(*most);
                    if length < *least {
                        return None;
                    }
                    (at, last) = (at + length, *alphabet);
                }
                Part::Text(fixed) => {
                    if !text.get(at..)?.starts_with(fixed) {
                        return None;
                    }
                    (at, last) = (at + fixed.len(), Alphabet::Alphanumeric);
                }
            }
        }
        let next = text.as_bytes().get(at);
        let longer = next.is_some_and(|b| last.holds(*b) || b.is_ascii_alphanumeric());
        (!longer).then_some(at)
    }
}

/// Whether a word can begin here. An escape before it (`\n`, `%3D`, `\u003d`) ends in a letter or
/// a digit, but not in one that belongs to the word.
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

/// Whether the secret part was written over: three quarters of it are one of the marks for that.
fn is_redacted(body: &str) -> bool {
    let marks = body.bytes().filter(|byte| b"xX*.0".contains(byte)).count();
    !body.is_empty() && marks * 4 >= body.len() * 3
}
