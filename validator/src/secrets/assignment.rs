//! Finds secrets by the name to which they are assigned: `password=…`, `"api_key": "…"`,
//! `<token>…</token>`. A name without a value, and code that computes one, must never be a finding.

use super::checksum::is_mixed;
use super::format::length;
use super::value;

/// The kind of a name, which determines the checks on its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SecretNameKind {
    /// A person chooses the value, so it need not be random.
    Password,
    /// A program generates the value.
    Token,
    /// A secret only after one of [`QUALIFIERS`].
    Key,
    /// A password only as a separate word: `DB_PASS`, not `bypass`.
    Pass,
}

/// The last words of names whose value is a secret.
pub(super) const NAMES: [(&str, SecretNameKind); 17] = [
    ("password", SecretNameKind::Password),
    ("passwd", SecretNameKind::Password),
    ("passphrase", SecretNameKind::Password),
    ("passcode", SecretNameKind::Password),
    ("pwd", SecretNameKind::Password),
    ("storepass", SecretNameKind::Password),
    ("keypass", SecretNameKind::Password),
    ("userpass", SecretNameKind::Password),
    ("pass", SecretNameKind::Pass),
    ("secret", SecretNameKind::Token),
    ("token", SecretNameKind::Token),
    ("credential", SecretNameKind::Token),
    ("credentials", SecretNameKind::Token),
    ("secret_key_base", SecretNameKind::Token),
    ("secretkeybase", SecretNameKind::Token),
    ("psk", SecretNameKind::Pass),
    ("key", SecretNameKind::Key),
];

/// Words before `key` that make it a secret.
const QUALIFIERS: [&str; 12] = [
    "api",
    "access",
    "private",
    "secret",
    "encryption",
    "signing",
    "master",
    "auth",
    "account",
    "shared",
    "license",
    "deploy",
];

/// A value and its notation.
struct AssignedValue<'t> {
    value: &'t str,
    at: usize,
    quoted: bool,
    /// True if only the sign is between name and value.
    tight: bool,
    /// The byte after the value.
    next: Option<u8>,
    /// True if the sign is a colon, which prose uses as well.
    colon: bool,
}

/// Returns the start of a name that ends at `end`, its secret value, and the value's offset.
pub(super) fn value_of(
    text: &str,
    start: usize,
    end: usize,
    name: SecretNameKind,
) -> Option<(usize, &str, usize)> {
    const VALUE_MAX: usize = 512;
    let bytes = text.as_bytes();
    let follows = bytes.get(end).is_some_and(|byte| b" \t\"'`\\=:>".contains(byte));
    let name = if follows { resolve_kind(bytes, start, name)? } else { return None };
    let element = start.checked_sub(1).and_then(|it| bytes.get(it)) == Some(&b'<');
    let given = read_value(text, end, element)?;
    if !is_secret(&given, name) {
        return None;
    }
    let whole = length(bytes, given.at, VALUE_MAX, |byte| !ends_value(byte, given.quoted));
    let value = text.get(given.at..given.at + whole).unwrap_or(given.value);
    Some((name_start(bytes, start), value, given.at))
}

/// Returns the start of the whole name, given its last word.
fn name_start(bytes: &[u8], start: usize) -> usize {
    const NAME_MAX: usize = 40;
    let joined = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let before = bytes.get(..start).unwrap_or_default();
    start - before.iter().rev().take(NAME_MAX).take_while(joined).count()
}

/// Determines the kind of a name from the text before it.
fn resolve_kind(bytes: &[u8], start: usize, name: SecretNameKind) -> Option<SecretNameKind> {
    let before = bytes.get(..start)?;
    match name {
        SecretNameKind::Key => {
            let joined = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-"));
            let stem = joined.unwrap_or(before);
            let ends = |word: &str| {
                let tail = stem.len().checked_sub(word.len()).and_then(|at| stem.get(at..));
                tail.is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
            };
            QUALIFIERS.iter().any(|it| ends(it)).then_some(SecretNameKind::Token)
        }
        SecretNameKind::Pass => {
            let inside = before.last().is_some_and(u8::is_ascii_alphanumeric);
            (!inside).then_some(SecretNameKind::Password)
        }
        SecretNameKind::Password | SecretNameKind::Token => Some(name),
    }
}

/// Reads the sign and the value after a name. It examines only the beginning of a value: that is
/// sufficient, and a hostile text has a name at every few bytes.
fn read_value(text: &str, from: usize, element: bool) -> Option<AssignedValue<'_>> {
    const EXAMINED_MAX: usize = 40;
    const SPACE_MAX: usize = 16;
    let bytes = text.as_bytes();
    let space = |at: usize| at + length(bytes, at, SPACE_MAX, |byte| matches!(byte, b' ' | b'\t'));
    // In escaped text, backslashes precede the quotes.
    let name_end = from + length(bytes, from, SPACE_MAX, |byte| b"\"'`\\".contains(&byte));
    let sign_at = space(name_end);
    let (colon, sign_end) = sign(bytes, sign_at, element)?;
    let value_at = space(sign_end);
    let escaped = bytes.get(value_at) == Some(&b'\\');
    let open = value_at + usize::from(escaped);
    let quotes = length(bytes, open, SPACE_MAX, |byte| b"\"'`".contains(&byte));
    let quoted = quotes > 0;
    let at = if quoted { open + quotes } else { value_at };
    let mut end = at + length(bytes, at, EXAMINED_MAX, |byte| !ends_value(byte, quoted));
    let next = bytes.get(end).copied();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let tight = sign_at == name_end && value_at == sign_end;
    Some(AssignedValue { value: text.get(at..end)?, at, quoted, tight, next, colon })
}

/// Returns the start of the value assigned to the name ending at `from`, or to a longer name that
/// contains it: `adafruit.io key = "…"`, `new-relic => …`.
pub(super) fn value_at(bytes: &[u8], from: usize) -> Option<usize> {
    const GAP_MAX: usize = 20;
    const BEFORE_MAX: usize = 3;
    const AFTER_MAX: usize = 5;
    let gap = |byte: u8| byte.is_ascii_alphanumeric() || b" \t_.-".contains(&byte);
    let mut at = from + length(bytes, from, GAP_MAX, gap);
    at += length(bytes, at, BEFORE_MAX, |byte| b" \t\"'\\".contains(&byte));
    let rest = bytes.get(at..)?;
    let sign = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
    at += sign.len();
    Some(at + length(bytes, at, AFTER_MAX, |byte| b"`\"' \t=\\".contains(&byte)))
}

/// Assignment signs of programming and configuration languages, the longest first.
const SIGNS: [&str; 10] = [":::=", "::=", ":=", "=>", "||", "?=", "=", ">", ":", ","];

/// The bytes that end a value in quotes, and those that end a bare value.
const ENDS: [u128; 2] = [among(b" \t\n\r\x0c\"'`,"), among(b" \t\n\r\x0c\"'`,;&)<>]}")];

const fn among(mut bytes: &[u8]) -> u128 {
    let mut members = 0;
    while let [first, rest @ ..] = bytes {
        members |= 1 << *first;
        bytes = rest;
    }
    members
}

fn ends_value(byte: u8, quoted: bool) -> bool {
    let [in_quotes, bare] = ENDS;
    let members = if quoted { in_quotes } else { bare };
    byte.is_ascii() && members >> byte & 1 == 1
}

/// Returns true for a colon, false for another sign, and its end. `==` and `::` do not count.
fn sign(bytes: &[u8], at: usize, element: bool) -> Option<(bool, usize)> {
    let next = bytes.get(at + 1);
    match (bytes.get(at)?, next) {
        (b'>', _) if element => Some((false, at + 1)),
        (b':', Some(b'=')) | (b'=', Some(b'>')) => Some((false, at + 2)),
        (b'=' | b':', Some(b'=' | b':' | b'~')) => None,
        (b'=', _) => Some((false, at + 1)),
        (b':', _) => Some((true, at + 1)),
        _ => None,
    }
}

fn is_secret(given: &AssignedValue<'_>, name: SecretNameKind) -> bool {
    const TOKEN_LEAST: usize = 12;
    let text = given.value;
    let formed = match name {
        SecretNameKind::Token | SecretNameKind::Key => text.len() >= TOKEN_LEAST && is_mixed(text),
        SecretNameKind::Password | SecretNameKind::Pass => {
            text.len() >= value::LEAST && (!given.colon || is_mixed(text))
        }
    };
    if !formed || !value::is_value(text) || !given.quoted && value::is_code(text) {
        return false;
    }
    match name {
        _ if value::is_placeholder(text) => false,
        SecretNameKind::Token | SecretNameKind::Key => !value::is_phrase(text),
        SecretNameKind::Password | SecretNameKind::Pass => given.quoted || is_bare_password(given),
    }
}

/// Returns true for a bare value that is unlikely to be a variable: a plain word without quotes
/// counts only where a program would not write one.
fn is_bare_password(given: &AssignedValue<'_>) -> bool {
    let text = given.value;
    let symbol = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_alphanumeric();
    let plain = |byte: u8| b"_-./:".contains(&byte);
    let argument = matches!(given.next, Some(b',' | b')' | b';'));
    if is_mixed(text) {
        return !((given.colon || argument) && value::is_phrase(text));
    }
    let word = text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let odd = text.bytes().any(|byte| symbol(byte) && !plain(byte));
    !given.colon && (odd || word && given.tight && !argument)
}

/// Returns true if a name ends with one whose value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    NAMES.iter().any(|(word, kind)| {
        let start = name.len().checked_sub(word.len());
        start.is_some_and(|start| {
            name.get(start..).is_some_and(|tail| tail.eq_ignore_ascii_case(word))
                && resolve_kind(name.as_bytes(), start, *kind).is_some()
        })
    })
}
