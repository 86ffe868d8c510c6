//! Finds likely secrets by the words before them: a password in a sentence, a random value assigned
//! to a key, a name and password for `curl`. Words prove nothing: only warnings, never errors.

use super::assignment::{self, SecretNameKind};
use super::checksum::is_mixed;
use super::format::length;
use super::kind::{SecretKind, likely_kind};
use super::value;

pub(super) const KIND: &str = "credential";

pub(super) const KINDS: &[SecretKind] = &[likely_kind(
    KIND,
    "a password or key, by the words before it",
    "https://cwe.mitre.org/data/definitions/312.html",
)];

/// A sign that a value is likely a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SecretHint {
    /// A word for a password in another language.
    Password,
    /// A word in the names of keys and identifiers.
    Part,
    /// An option of `curl` for a name and password.
    CurlUser,
}

pub(super) const HINTS: [(&str, SecretHint); 23] = [
    ("passwort", SecretHint::Password),
    ("kennwort", SecretHint::Password),
    ("mot de passe", SecretHint::Password),
    ("contrase\u{f1}a", SecretHint::Password),
    ("contrasena", SecretHint::Password),
    ("senha", SecretHint::Password),
    ("wachtwoord", SecretHint::Password),
    ("has\u{142}o", SecretHint::Password),
    ("heslo", SecretHint::Password),
    ("l\u{f6}senord", SecretHint::Password),
    ("adgangskode", SecretHint::Password),
    ("salasana", SecretHint::Password),
    ("\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}", SecretHint::Password),
    ("\u{41f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}", SecretHint::Password),
    ("\u{5bc6}\u{7801}", SecretHint::Password),
    ("\u{5bc6}\u{78bc}", SecretHint::Password),
    ("\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}", SecretHint::Password),
    ("access", SecretHint::Part),
    ("api", SecretHint::Part),
    ("auth", SecretHint::Part),
    ("creds", SecretHint::Part),
    (" -u ", SecretHint::CurlUser),
    (" --user ", SecretHint::CurlUser),
];

/// Returns the range of the value that a hint from `start` to `end` makes a likely secret.
pub(super) fn after_hint(
    text: &str,
    start: usize,
    end: usize,
    hint: SecretHint,
) -> Option<(usize, usize)> {
    match hint {
        SecretHint::Password => stated_value(text, end, true),
        SecretHint::Part => assigned_value(text, start, end, false),
        SecretHint::CurlUser => curl_user(text, start, end),
    }
}

/// Returns the range of the value after a name that is not in the strict form of an assignment.
pub(super) fn after_name(
    text: &str,
    start: usize,
    end: usize,
    name: SecretNameKind,
) -> Option<(usize, usize)> {
    let password = matches!(name, SecretNameKind::Password);
    assigned_value(text, start, end, password).or_else(|| match name {
        SecretNameKind::Password => {
            stated_value(text, end, true).filter(|(at, _)| is_stated(text, end, *at))
        }
        SecretNameKind::Token => {
            stated_value(text, end, false).filter(|(at, _)| is_stated(text, end, *at))
        }
        SecretNameKind::Key | SecretNameKind::Pass => None,
    })
}

/// Finds a value that looks random after a sign.
fn assigned_value(text: &str, start: usize, end: usize, password: bool) -> Option<(usize, usize)> {
    const NAME_MAX: usize = 24;
    const LEAST: usize = 10;
    const MOST: usize = 160;
    let bytes = text.as_bytes();
    let at = match attribute(bytes, end) {
        Some(at) if password => return whole(text, at).map(|end| (at, end)),
        _ => assignment::value_at(bytes, end)?,
    };
    let names = bytes.get(end..at).unwrap_or_default();
    let quoted = names.last().is_some_and(|byte| b"\"'`".contains(byte));
    // A list of names also has commas.
    (quoted || !names.contains(&b',')).then_some(())?;
    let at = at + scheme(bytes, at);
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.=+/-".contains(&byte);
    let value_end = at + length(bytes, at, MOST, part);
    let value = text.get(at..value_end).filter(|it| it.len() >= LEAST)?;
    let ends = bytes.get(value_end).is_none_or(|byte| b"`\"' \t\r\n;,&<)]}\\".contains(byte));
    let name = bytes.get(start.saturating_sub(NAME_MAX)..at).unwrap_or_default();
    let drawn = ends && value::is_random(value) && !is_number(value) && !is_public(name);
    let real = drawn && !value::is_reference(value) && !value::is_phrase(value);
    (real && !value::is_placeholder(value) && !value::is_code(value)).then_some((at, value_end))
}

/// Returns the length of an HTTP scheme's name before a value.
fn scheme(bytes: &[u8], at: usize) -> usize {
    const SCHEMES: [&[u8]; 2] = [b"token ", b"api-token "];
    let rest = bytes.get(at..).unwrap_or_default();
    let head = |it: &[u8]| rest.get(..it.len()).is_some_and(|head| head.eq_ignore_ascii_case(it));
    SCHEMES.iter().find(|it| head(it)).map_or(0, |it| it.len())
}

/// Returns the offset of a value in `key="Password" value="…"`.
fn attribute(bytes: &[u8], from: usize) -> Option<usize> {
    const SPACE_MAX: usize = 8;
    const VALUE: &[u8] = b"value=\"";
    (bytes.get(from) == Some(&b'"')).then_some(())?;
    let at = from + 1 + length(bytes, from + 1, SPACE_MAX, |byte| byte == b' ');
    bytes.get(at..)?.starts_with(VALUE).then_some(at + VALUE.len())
}

/// Returns the end of the value of an attribute.
fn whole(text: &str, at: usize) -> Option<usize> {
    const MOST: usize = 256;
    let end = at + length(text.as_bytes(), at, MOST, |byte| byte != b'"' && byte != b'\n');
    let value = text.get(at..end)?;
    (value::is_value(value) && !value::is_placeholder(value)).then_some(end)
}

/// Returns true for digests, UUIDs and numbers, which are identifiers more often than secrets.
fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || b"-_.:".contains(&byte))
}

/// Returns true if a name declares its value as public.
fn is_public(name: &[u8]) -> bool {
    const WORDS: [&[u8]; 9] = [
        b"public",
        b"sha1",
        b"sha2",
        b"sha5",
        b"md5",
        b"hash",
        b"digest",
        b"checksum",
        b"integrity",
    ];
    WORDS.iter().any(|word| name.windows(word.len()).any(|it| it.eq_ignore_ascii_case(word)))
        || is_key_id(name)
}

/// Returns true if the last name before the value is that of a key's public identifier, as in a
/// Sigstore bundle. A secret often follows the identifier of its key, so only the last name counts.
fn is_key_id(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"keyid", b"key_id", b"key-id"];
    let end = name.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1);
    let name = name.get(..end).unwrap_or_default();
    let ends = |word: &[u8]| {
        let tail = name.len().checked_sub(word.len()).and_then(|at| name.get(at..));
        tail.is_some_and(|it| it.eq_ignore_ascii_case(word))
    };
    NAMES.iter().any(|word| ends(word))
}

/// Finds the value in `… is X`, `… lautet X` or `…: X` after a password or token.
fn stated_value(text: &str, end: usize, password: bool) -> Option<(usize, usize)> {
    const BETWEEN_MAX: usize = 40;
    const SPACE_MAX: usize = 4;
    const MOST: usize = 128;
    let bytes = text.as_bytes();
    let between = |byte: u8| byte.is_ascii_alphanumeric() || b" _'-\"`".contains(&byte);
    let length_between = length(bytes, end, BETWEEN_MAX, between);
    let words = bytes.get(end..end + length_between).unwrap_or_default();
    let sign = bytes.get(end + length_between);
    let at = match COPULAS.iter().find_map(|is| place_after(words, is)) {
        Some(after) => end + after,
        None if matches!(sign, Some(b':' | b'=')) => end + length_between + 1,
        None => {
            let rest = text.get(end + length_between..)?;
            end + length_between + rest.strip_prefix('\u{ff1a}').map(|_| '\u{ff1a}'.len_utf8())?
        }
    };
    let at = at + length(bytes, at, SPACE_MAX, |byte| b" :\"'`".contains(&byte));
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`<>,;()[]{}".contains(&byte);
    let mut value_end = at + length(bytes, at, MOST, |byte| !ends(byte));
    while value_end > at && (!text.is_char_boundary(value_end) || is_stop(bytes, value_end)) {
        value_end -= 1;
    }
    let value = text.get(at..value_end)?;
    can_be_secret(value, password).then_some((at, value_end))
}

/// Verbs between a password and its value.
const COPULAS: [&[u8]; 7] =
    [b" is ", b" was ", b" ist ", b" lautet ", b" est ", b" es ", b" will be "];

fn place_after(words: &[u8], is: &[u8]) -> Option<usize> {
    words.windows(is.len()).position(|it| it.eq_ignore_ascii_case(is)).map(|at| at + is.len())
}

fn is_stop(bytes: &[u8], end: usize) -> bool {
    end.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|byte| b".:!?".contains(byte))
}

/// Returns true if a verb is between a name and its value; signs have their own rules.
fn is_stated(text: &str, end: usize, at: usize) -> bool {
    let between = text.as_bytes().get(end..at).unwrap_or_default();
    COPULAS.iter().any(|is| place_after(between, is).is_some())
}

/// Returns true if a word after `is` can be a password or a token.
fn can_be_secret(value: &str, password: bool) -> bool {
    const PASSWORD_LEAST: usize = 6;
    const TOKEN_LEAST: usize = 12;
    const NAMES: [&str; 10] =
        ["sha", "md5", "base64", "hs2", "rs2", "utf", "aes", "pbkdf2", "x509", "oauth2"];
    let least = if password { PASSWORD_LEAST } else { TOKEN_LEAST };
    let starts =
        |name: &&str| value.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
    let odd = |byte: u8| b"!@#$%^&*+=~".contains(&byte);
    let marked = value.bytes().any(odd) && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    value.len() >= least
        && (is_mixed(value) || password && marked)
        && !NAMES.iter().any(starts)
        && !value::is_reference(value)
        && !value::is_placeholder(value)
        && !value::is_phrase(value)
        && !value::is_code(value)
}

/// Finds `curl -u name:password`.
fn curl_user(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    const LINE_MAX: usize = 200;
    const MOST: usize = 128;
    const LEAST: usize = 3;
    let bytes = text.as_bytes();
    let before = bytes.get(start.saturating_sub(LINE_MAX)..start)?;
    let line = before.rsplit(|byte| *byte == b'\n').next()?;
    line.windows(4).any(|it| it == b"curl").then_some(())?;
    let at = end + length(bytes, end, 2, |byte| b"\"'".contains(&byte));
    let value_end = at
        + length(bytes, at, MOST, |byte| !byte.is_ascii_whitespace() && !b"\"'`".contains(&byte));
    let (_, password) = text.get(at..value_end)?.split_once(':')?;
    let stands_in = value::is_reference(password) || value::is_placeholder(password);
    (password.len() >= LEAST && !stands_in).then_some((at, value_end))
}
