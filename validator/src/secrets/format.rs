//! Finds secrets by the format that contains them: key files, JSON Web Tokens, HTTP headers and
//! URLs. Each check must be bounded: a hostile text has such a format at every few bytes.

use super::alphabet::{Alphabet, RunExtents};
use super::checksum::decode64;
use super::kind::{SecretKind, begins_word, kind};
use super::value;

pub(super) const KINDS: &[SecretKind] = &[
    kind(
        "private-key",
        "a private key in PEM, OpenSSH, SSH2 or PGP armour",
        "https://www.rfc-editor.org/rfc/rfc7468",
        &[],
    ),
    kind(
        "putty-key",
        "a PuTTY private key file",
        "https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html",
        &[],
    ),
    kind("jwt", "a JSON Web Token", "https://www.rfc-editor.org/rfc/rfc7519", &[]),
    kind("bearer", "a bearer token", "https://www.rfc-editor.org/rfc/rfc6750", &[]),
    kind(
        "basic-auth",
        "a name and password in base64",
        "https://www.rfc-editor.org/rfc/rfc7617",
        &[],
    ),
    kind(
        "url-password",
        "a URL with a password",
        "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
        &[],
    ),
    kind(
        "password",
        "a password, token or key, by the name it is given to",
        "https://cwe.mitre.org/data/definitions/798.html",
        &[],
    ),
];

/// A format that contains a secret, detected by a needle in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SecretFormat {
    Pem,
    OpenSsh,
    Putty,
    Jwt,
    Bearer,
    Basic,
    AuthKey,
    Url,
}

pub(super) const NEEDLES: [(&str, SecretFormat); 9] = [
    ("---BEGIN", SecretFormat::Pem),
    ("---- BEGIN ", SecretFormat::Pem),
    // The name of OpenSSH's format, in base64.
    ("b3BlbnNzaC1rZXktdjEA", SecretFormat::OpenSsh),
    ("PuTTY-User-Key-File-", SecretFormat::Putty),
    ("eyJ", SecretFormat::Jwt),
    ("bearer ", SecretFormat::Bearer),
    ("basic ", SecretFormat::Basic),
    ("auth", SecretFormat::AuthKey),
    ("://", SecretFormat::Url),
];

/// A secret in its format: its kind, start and end.
type FormattedSecret = Option<(&'static str, usize, usize)>;

impl SecretFormat {
    /// Reads the secret of the needle from `start` to `end`.
    pub(super) fn read(
        self,
        text: &str,
        start: usize,
        end: usize,
        reach: &mut RunExtents<'_>,
    ) -> FormattedSecret {
        match self {
            Self::Pem => pem(text, start, end),
            Self::OpenSsh => exact(text, start, "b3Blb").map(|()| ("private-key", start, end)),
            Self::Putty => exact(text, start, "PuTTY").map(|()| ("putty-key", start, end)),
            Self::Jwt => jwt(text, start, reach),
            Self::Bearer => bearer(text, start, end),
            Self::Basic => basic(text, start, end),
            Self::AuthKey => auth_key(text, start, end),
            Self::Url => url_password(text, start, end),
        }
    }
}

fn exact(text: &str, at: usize, start: &str) -> Option<()> {
    text.get(at..)?.starts_with(start).then_some(())
}

/// Returns the length of a run of such bytes, at most `most`.
pub(super) fn length(bytes: &[u8], from: usize, most: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take(most).take_while(|byte| is(**byte)).count()
}

/// Finds a PEM private key. Its label may be split, so that one over two arguments counts.
fn pem(text: &str, start: usize, end: usize) -> FormattedSecret {
    const LABEL_MAX: usize = 120;
    const WORDS: &[u8] = b"PRIVATE KEY";
    exact(text, start, "---")?;
    let bytes = text.as_bytes();
    let label = length(bytes, end, LABEL_MAX, |byte| byte != b'\n');
    let label = bytes.get(end..end + label)?;
    let words = label.windows(WORDS.len()).position(|it| it == WORDS)?;
    let dashes = bytes.get(..start)?.iter().rev().take(2).take_while(|b| **b == b'-').count();
    Some(("private-key", start - dashes, end + words + WORDS.len()))
}

/// Finds three segments of base64url: two JSON objects, the first naming its algorithm, a rest.
fn jwt(text: &str, start: usize, reach: &mut RunExtents<'_>) -> FormattedSecret {
    const HEADER_MAX: usize = 2048;
    exact(text, start, "eyJ")?;
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|it| bytes.get(it)).copied();
    if !begins_word(bytes, start) || before.is_some_and(|it| b"-_.".contains(&it)) {
        return None;
    }
    let header_end = reach.end(Alphabet::Url64, start);
    let payload = header_end + 1;
    let payload_end = reach.end(Alphabet::Url64, payload);
    let dots = [header_end, payload_end].map(|it| bytes.get(it) == Some(&b'.'));
    if dots != [true, true] || header_end - start > HEADER_MAX || payload_end - payload < 2 {
        return None;
    }
    let header = decode64(text.get(start..header_end)?)?;
    let header: serde_json::Value = serde_json::from_slice(&header).ok()?;
    header.get("alg")?.as_str()?;
    let first = decode64(text.get(payload..payload + 4).unwrap_or("e"))?;
    (first.first() == Some(&b'{'))
        .then(|| ("jwt", start, reach.end(Alphabet::Url64, payload_end + 1)))
}

fn bearer(text: &str, start: usize, end: usize) -> FormattedSecret {
    const LEAST: usize = 20;
    const MOST: usize = 200;
    let part = |byte| Alphabet::Dotted.contains(byte) || b"~+/=".contains(&byte);
    let length = length(text.as_bytes(), end, MOST, part);
    let token = text.get(end..end + length).filter(|token| token.len() >= LEAST)?;
    let real = token.bytes().any(|byte| byte.is_ascii_digit()) && !value::is_placeholder(token);
    (real && begins_word(text.as_bytes(), start)).then_some(("bearer", start, end + length))
}

fn basic(text: &str, start: usize, end: usize) -> FormattedSecret {
    begins_word(text.as_bytes(), start).then_some(())?;
    credentials(text, end).map(|end| ("basic-auth", start, end))
}

/// Finds `"auth": "…"` of a container registry, or `_auth=…` of a package registry.
fn auth_key(text: &str, start: usize, end: usize) -> FormattedSecret {
    const SPACE_MAX: usize = 8;
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|at| bytes.get(at))?;
    b"\"'_".contains(before).then_some(())?;
    let space = |byte| b" \"'\\".contains(&byte);
    let sign = end + length(bytes, end, SPACE_MAX, space);
    matches!(bytes.get(sign), Some(b':' | b'=')).then_some(())?;
    let value = sign + 1 + length(bytes, sign + 1, SPACE_MAX, space);
    credentials(text, value).map(|end| ("basic-auth", start, end))
}

/// Returns the end of base64 that contains `name:password`, both in plain characters.
fn credentials(text: &str, from: usize) -> Option<usize> {
    const LEAST: usize = 8;
    const MOST: usize = 512;
    const PASSWORD_LEAST: usize = 4;
    let bytes = text.as_bytes();
    let digits = from + length(bytes, from, MOST, |byte| Alphabet::Base64.contains(byte));
    let end = digits + length(bytes, digits, 2, |byte| byte == b'=');
    (end - from >= LEAST).then_some(())?;
    let plain = String::from_utf8(decode64(text.get(from..end)?)?).ok()?;
    let (_, password) = plain.split_once(':')?;
    let real = !plain.chars().any(char::is_control)
        && password.chars().count() >= PASSWORD_LEAST
        && !value::is_reference(password);
    real.then_some(end)
}

/// Finds `scheme://user:password@host`. A reference such as `$PASSWORD` does not count. A weak
/// password counts, because the URL works with it.
fn url_password(text: &str, start: usize, end: usize) -> FormattedSecret {
    const USERINFO_MAX: usize = 200;
    const PASSWORD_LEAST: usize = 4;
    const SCHEME_MAX: usize = 24;
    let bytes = text.as_bytes();
    let part = |byte: u8| !byte.is_ascii_whitespace() && !b"/?#\"'`<>@".contains(&byte);
    let at = end + length(bytes, end, USERINFO_MAX, part);
    (bytes.get(at) == Some(&b'@')).then_some(())?;
    let (_, password) = text.get(end..at)?.split_once(':')?;
    let long = password.chars().take(PASSWORD_LEAST).count() == PASSWORD_LEAST;
    let scheme = bytes.get(..start)?.iter().rev().take(SCHEME_MAX);
    let scheme = scheme.take_while(|b| b.is_ascii_alphanumeric() || b"+.-".contains(b)).count();
    let real = long && !value::is_reference(password);
    real.then_some(("url-password", start - scheme, at + 1))
}
