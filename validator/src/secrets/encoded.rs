//! Finds keys in base64: beginnings of known tokens, and JSON Web Tokens, each in whole form.

use super::alphabet::Alphabet;
use super::checksum::decode64;
use super::format::length;
use super::kind::{SecretKind, begins_word, likely_kind};

pub(super) const KIND: &str = "encoded-key";

pub(super) const KINDS: &[SecretKind] =
    &[likely_kind(KIND, "a key or token in base64", "https://www.rfc-editor.org/rfc/rfc4648")];

/// A sign of a key in base64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EncodedKeyHint {
    /// The beginning of a token in base64.
    Token,
    /// The beginning of a JSON Web Token in base64.
    Jwt,
    /// The second part of a JSON Web Token.
    Payload,
}

/// The needles. An AWS key id has one for each of its alignments in base64.
pub(super) const NEEDLES: [(&str, EncodedKeyHint); 13] = [
    ("QUtJQ", EncodedKeyHint::Token),
    ("FLSU", EncodedKeyHint::Token),
    ("BS0lB", EncodedKeyHint::Token),
    ("QVNJQ", EncodedKeyHint::Token),
    ("LS0tLS1CRUdJTi", EncodedKeyHint::Token),
    ("Z2hwX", EncodedKeyHint::Token),
    ("Z2l0aHViX3BhdF", EncodedKeyHint::Token),
    ("Z2xwYXQt", EncodedKeyHint::Token),
    ("c2stYW50L", EncodedKeyHint::Token),
    ("eG94Yi", EncodedKeyHint::Token),
    ("QUl6Y", EncodedKeyHint::Token),
    ("ZXlK", EncodedKeyHint::Jwt),
    (".ey", EncodedKeyHint::Payload),
];

impl EncodedKeyHint {
    /// Returns the range of the base64 around a needle at `start`, if it contains a key.
    pub(super) fn read(
        self,
        text: &str,
        start: usize,
        holds_key: impl Fn(&str) -> bool,
    ) -> Option<(usize, usize)> {
        match self {
            Self::Token => {
                let (word, end, held) = base64_around(text, start)?;
                holds_key(&held).then_some((word, end))
            }
            Self::Jwt => {
                const LEAST: usize = 50;
                let length = length(text.as_bytes(), start, MOST, part);
                let real = begins(text, start, "ZXlK") && length >= LEAST;
                (real && begins_word(text.as_bytes(), start)).then_some((start, start + length))
            }
            Self::Payload => jwt_outline(text, start),
        }
    }
}

const MOST: usize = 192;

fn part(byte: u8) -> bool {
    Alphabet::Base64.contains(byte) || b"-_".contains(&byte)
}

fn begins(text: &str, at: usize, with: &str) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(with))
}

/// Finds three parts of which the first two begin like a JSON object in base64.
fn jwt_outline(text: &str, dot: usize) -> Option<(usize, usize)> {
    const LEAST: usize = 19;
    const HEADER_MAX: usize = 128;
    let bytes = text.as_bytes();
    let before = bytes.get(dot.saturating_sub(HEADER_MAX)..dot)?;
    let header = before.iter().rev().take_while(|byte| part(**byte)).count();
    let start = dot - header;
    let payload = length(bytes, dot + 1, MOST, part);
    let end = dot + 1 + payload;
    let long = header >= LEAST && payload >= LEAST && bytes.get(end) == Some(&b'.');
    (long && begins(text, start, "ey") && begins(text, dot + 1, "ey")).then_some((start, end))
}

/// Returns the range of the base64 around a needle, and its decoded text.
fn base64_around(text: &str, start: usize) -> Option<(usize, usize, String)> {
    const BACK_MAX: usize = 64;
    const LEAST: usize = 24;
    let bytes = text.as_bytes();
    let before = bytes.get(start.saturating_sub(BACK_MAX)..start).unwrap_or_default();
    let back = before.iter().rev().take_while(|byte| part(**byte)).count();
    // A needle deep inside of data is ignored.
    (back < BACK_MAX).then_some(())?;
    let word = start - back;
    let end = word + length(bytes, word, MOST, part);
    let decoded = |to: usize| decode64(text.get(word..to)?);
    let held = decoded(end).or_else(|| decoded(word + (end - word) / 4 * 4))?;
    (end - word >= LEAST).then(|| (word, end, String::from_utf8_lossy(&held).into_owned()))
}
