//! Secrets that are known by what carries them: key files, JSON Web Tokens, HTTP headers and URLs.
//! Each look must be bounded, for a hostile text holds a carrier at every few bytes.

use super::alphabet::{Alphabet, Reach};
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

/// What gives a carrier away, in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Carrier {
    Pem,
    OpenSsh,
    Putty,
    Jwt,
    Bearer,
    Basic,
    AuthKey,
    Url,
}

pub(super) const NEEDLES: [(&str, Carrier); 9] = [
    ("---BEGIN ", Carrier::Pem),
    ("---- BEGIN ", Carrier::Pem),
    // The name of OpenSSH's format, in base64.
    ("b3BlbnNzaC1rZXktdjEA", Carrier::OpenSsh),
    ("PuTTY-User-Key-File-", Carrier::Putty),
    ("eyJ", Carrier::Jwt),
    ("bearer ", Carrier::Bearer),
    ("basic ", Carrier::Basic),
    ("auth", Carrier::AuthKey),
    ("://", Carrier::Url),
];

/// A secret that is known by its carrier: its kind, start and end.
type Carried = Option<(&'static str, usize, usize)>;

impl Carrier {
    /// What the needle from `start` to `end` carries.
    pub(super) fn read(
        self,
        text: &str,
        start: usize,
        end: usize,
        reach: &mut Reach<'_>,
    ) -> Carried {
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

/// A bounded look at the rest of the line, whole characters only.
pub(super) fn ahead(text: &str, from: usize, most: usize) -> &str {
    let rest = text.get(from..).unwrap_or("");
    let mut end = rest.len().min(most);
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let seen = rest.get(..end).unwrap_or("");
    seen.find(['\n', '\r']).and_then(|it| seen.get(..it)).unwrap_or(seen)
}

/// The label may be cut into several words, so that one over two arguments is still seen.
fn pem(text: &str, start: usize, end: usize) -> Carried {
    const LABEL_MAX: usize = 64;
    const WORDS: &str = "PRIVATE KEY";
    exact(text, start, "---")?;
    let length = ahead(text, end, LABEL_MAX).find(WORDS)? + WORDS.len();
    let dashes = text.as_bytes().get(..start)?.iter().rev().take(2).take_while(|b| **b == b'-');
    Some(("private-key", start - dashes.count(), end + length))
}

/// Three segments of base64url; the first is a JSON object that names its algorithm, the second a
/// JSON object too.
fn jwt(text: &str, start: usize, reach: &mut Reach<'_>) -> Carried {
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

fn bearer(text: &str, start: usize, end: usize) -> Carried {
    const TOKEN_LEAST: usize = 20;
    let token = ahead(text, end, 200);
    let length = token.bytes().take_while(|b| Alphabet::Dotted.holds(*b) || b"~+/=".contains(b));
    let token = token.get(..length.count())?;
    let real = token.len() >= TOKEN_LEAST
        && token.bytes().any(|byte| byte.is_ascii_digit())
        && !value::is_placeholder(token);
    (real && begins_word(text.as_bytes(), start)).then(|| ("bearer", start, end + token.len()))
}

fn basic(text: &str, start: usize, end: usize) -> Carried {
    let length = credentials(text, end)?;
    begins_word(text.as_bytes(), start).then_some(("basic-auth", start, end + length))
}

/// `"auth": "…"` of a container registry, `_auth=…` of a package registry.
fn auth_key(text: &str, start: usize, end: usize) -> Carried {
    let rest = ahead(text, end, 8);
    let value = rest.trim_start_matches([' ', '"', '\'', '\\']);
    let value = value.strip_prefix([':', '='])?.trim_start_matches([' ', '"', '\'', '\\']);
    let from = end + rest.len() - value.len();
    Some(("basic-auth", start, from + credentials(text, from)?))
}

/// The length of base64 that holds `name:password`, both in plain characters.
fn credentials(text: &str, from: usize) -> Option<usize> {
    const LEAST: usize = 8;
    const PASSWORD_LEAST: usize = 4;
    let seen = ahead(text, from, 512);
    let length = seen.bytes().take_while(|b| Alphabet::Base64.holds(*b) || *b == b'=').count();
    let plain = (length >= LEAST).then(|| decode64(seen.get(..length)?)).flatten()?;
    let plain = String::from_utf8(plain).ok()?;
    let (_, password) = plain.split_once(':')?;
    let real = !plain.chars().any(char::is_control)
        && password.chars().count() >= PASSWORD_LEAST
        && !value::is_reference(password);
    real.then_some(length)
}

/// `scheme://user:password@host`. A password that only stands for one, such as `$PASSWORD`, is
/// none; a bad one is, for the URL works with it.
fn url_password(text: &str, start: usize, end: usize) -> Carried {
    const USERINFO_MAX: usize = 200;
    const PASSWORD_LEAST: usize = 4;
    const SCHEME_MAX: usize = 24;
    let ends = |c: char| c.is_whitespace() || "/?#\"'`<>".contains(c);
    let authority = ahead(text, end, USERINFO_MAX).split(ends).next()?;
    let (user, _) = authority.split_once('@')?;
    let (_, password) = user.split_once(':')?;
    let real = password.chars().take(PASSWORD_LEAST).count() == PASSWORD_LEAST
        && !value::is_reference(password);
    let scheme = text.as_bytes().get(..start)?.iter().rev().take(SCHEME_MAX);
    let scheme = scheme.take_while(|b| b.is_ascii_alphanumeric() || b"+.-".contains(b)).count();
    real.then(|| ("url-password", start - scheme, end + user.len() + 1))
}
