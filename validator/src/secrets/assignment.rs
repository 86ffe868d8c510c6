//! Secrets that are known by the name they are given to: `password=…`, `"api_key": "…"`,
//! `<token>…</token>`. A name without a value of its own must never be a finding, nor code that
//! computes one.

use super::carrier::ahead;
use super::checksum::is_mixed;
use super::value;

/// How much a name tells of its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// People choose its value; it need not be random.
    Password,
    /// A machine made its value.
    Token,
    /// A secret only after one of [`QUALIFIERS`].
    Key,
    /// A password only as a word of its own: `DB_PASS`, not `bypass`.
    Pass,
}

/// The last words of names whose value is a secret.
pub(super) const NAMES: [(&str, Name); 17] = [
    ("password", Name::Password),
    ("passwd", Name::Password),
    ("passphrase", Name::Password),
    ("passcode", Name::Password),
    ("pwd", Name::Password),
    ("storepass", Name::Password),
    ("keypass", Name::Password),
    ("userpass", Name::Password),
    ("pass", Name::Pass),
    ("secret", Name::Token),
    ("token", Name::Token),
    ("credential", Name::Token),
    ("credentials", Name::Token),
    ("secret_key_base", Name::Token),
    ("secretkeybase", Name::Token),
    ("psk", Name::Pass),
    ("key", Name::Key),
];

/// What makes a key a secret one.
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

/// How a value is written.
struct Given<'t> {
    value: &'t str,
    at: usize,
    quoted: bool,
    /// Nothing but the sign stands between name and value.
    tight: bool,
    /// What follows the value.
    next: Option<char>,
    /// A colon, which prose uses too.
    colon: bool,
}

/// A secret after a name that ends at `end`: its name's start, its value, the value's place.
pub(super) fn value_of(
    text: &str,
    start: usize,
    end: usize,
    name: Name,
) -> Option<(usize, &str, usize)> {
    const SEEN: usize = 160;
    let name = settle(text.as_bytes(), start, name)?;
    let element = start.checked_sub(1).and_then(|it| text.as_bytes().get(it)) == Some(&b'<');
    let given = given(ahead(text, end, SEEN), element)?;
    let place = (name_start(text.as_bytes(), start), given.value, end + given.at);
    is_secret(&given, name).then_some(place)
}

/// Where the whole name begins of which only the last word is known.
fn name_start(bytes: &[u8], start: usize) -> usize {
    const NAME_MAX: usize = 40;
    let joined = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let before = bytes.get(..start).unwrap_or_default();
    start - before.iter().rev().take(NAME_MAX).take_while(joined).count()
}

/// What a name is by what stands before it.
fn settle(bytes: &[u8], start: usize, name: Name) -> Option<Name> {
    let before = bytes.get(..start)?;
    match name {
        Name::Key => {
            let joined = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-"));
            let stem = joined.unwrap_or(before);
            let ends = |word: &&str| {
                let tail = stem.len().checked_sub(word.len()).and_then(|at| stem.get(at..));
                tail.is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
            };
            QUALIFIERS.iter().any(|it| ends(&it)).then_some(Name::Token)
        }
        Name::Pass => {
            let inside = before.last().is_some_and(u8::is_ascii_alphanumeric);
            (!inside).then_some(Name::Password)
        }
        Name::Password | Name::Token => Some(name),
    }
}

const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The sign and the value after a name.
fn given(rest: &str, element: bool) -> Option<Given<'_>> {
    // What is escaped inside of another text has a backslash before its quotes.
    let after_name = rest.trim_start_matches("\\").trim_start_matches(QUOTES);
    let spaced = after_name.trim_start_matches([' ', '\t']);
    let (sign, after_sign) = sign(spaced, element)?;
    let bare = after_sign.trim_start_matches([' ', '\t']);
    let tight = spaced.len() == after_name.len() && bare.len() == after_sign.len();
    let unescaped = bare.strip_prefix('\\').filter(|it| it.starts_with(QUOTES)).unwrap_or(bare);
    let inner = unescaped.trim_start_matches(QUOTES);
    let quoted = inner.len() < unescaped.len();
    let ends = |c: char| {
        c.is_whitespace() || QUOTES.contains(&c) || (!quoted && ",;&)<>]}".contains(c)) || c == ','
    };
    let value = inner.split(ends).next()?;
    let next = inner.get(value.len()..)?.chars().next();
    Some(Given { value, at: rest.len() - inner.len(), quoted, tight, next, colon: sign == ':' })
}

/// The sign that gives a value to a name, and what follows; `==` compares and `::` names.
fn sign(rest: &str, element: bool) -> Option<(char, &str)> {
    if element {
        return rest.strip_prefix('>').map(|after| ('=', after));
    }
    let sign = rest.chars().next().filter(|it| matches!(it, '=' | ':'))?;
    let after = rest.get(1..)?;
    match (sign, after.chars().next()) {
        (':', Some('=')) | ('=', Some('>')) => after.get(1..).map(|after| ('=', after)),
        (_, Some('=' | ':' | '~')) => None,
        _ => Some((sign, after)),
    }
}

fn is_secret(given: &Given<'_>, name: Name) -> bool {
    const TOKEN_LEAST: usize = 12;
    let text = given.value;
    if !value::is_value(text) || value::is_placeholder(text) {
        return false;
    }
    if !given.quoted && value::is_code(text) {
        return false;
    }
    match name {
        Name::Token | Name::Key => {
            is_mixed(text) && text.len() >= TOKEN_LEAST && !value::is_phrase(text)
        }
        Name::Password | Name::Pass if given.quoted => !given.colon || is_mixed(text),
        Name::Password | Name::Pass => is_bare_password(given),
    }
}

/// Without quotes a plain word may be a variable; it counts where no program would write it so.
fn is_bare_password(given: &Given<'_>) -> bool {
    let text = given.value;
    let symbol = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_alphanumeric();
    let plain = |byte: u8| b"_-./:".contains(&byte);
    let argument = matches!(given.next, Some(',' | ')' | ';'));
    if is_mixed(text) {
        return !((given.colon || argument) && value::is_phrase(text));
    }
    let word = text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let odd = text.bytes().any(|byte| symbol(byte) && !plain(byte));
    !given.colon && (odd || word && given.tight && !argument)
}

/// Whether a name ends with one whose value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    NAMES.iter().any(|(word, kind)| {
        let start = name.len().checked_sub(word.len());
        start.is_some_and(|start| {
            name.get(start..).is_some_and(|tail| tail.eq_ignore_ascii_case(word))
                && settle(name.as_bytes(), start, *kind).is_some()
        })
    })
}
