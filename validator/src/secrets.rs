//! Text that looks like a secret, found by its shape. What is found must never be repeated in a
//! message: reports are read by more people than the request.

use crate::code::Code;
use crate::report::{Report, Spot};

/// A token with a fixed beginning: kind, prefix, the least length after it, and whether upper-case
/// letters and digits are all that may follow.
const TOKENS: [(&str, &str, usize, bool); 24] = [
    ("aws-key", "AKIA", 16, true),
    ("aws-key", "ASIA", 16, true),
    ("github-token", "ghp_", 30, false),
    ("github-token", "gho_", 30, false),
    ("github-token", "ghu_", 30, false),
    ("github-token", "ghs_", 30, false),
    ("github-token", "ghr_", 30, false),
    ("github-token", "github_pat_", 22, false),
    ("gitlab-token", "glpat-", 20, false),
    ("slack-token", "xoxb-", 10, false),
    ("slack-token", "xoxp-", 10, false),
    ("slack-token", "xoxa-", 10, false),
    ("slack-token", "xoxr-", 10, false),
    ("slack-token", "xoxs-", 10, false),
    ("slack-token", "xapp-", 10, false),
    ("google-key", "AIza", 35, false),
    ("stripe-key", "sk_live_", 16, false),
    ("stripe-key", "rk_live_", 16, false),
    ("stripe-key", "sk_test_", 16, false),
    ("huggingface-token", "hf_", 30, false),
    ("npm-token", "npm_", 30, false),
    ("pypi-token", "pypi-", 40, false),
    ("digitalocean-token", "dop_v1_", 40, false),
    ("age-key", "AGE-SECRET-KEY-1", 50, true),
];

/// Names whose assigned value is a secret.
const NAMES: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "access-key",
    "private_key",
    "private-key",
    "secret_key",
    "secret-key",
    "credential",
];

const VALUE_LEAST: usize = 8;
const VALUE_SEEN: usize = 64;

/// At most this many characters of the text's beginning.
fn head(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// The kinds of secrets in a line, each with its byte offset, each kind once; in linear time.
pub(crate) fn find(line: &str) -> Vec<(&'static str, usize)> {
    let mut found: Vec<(&'static str, usize)> = Vec::new();
    let mut add = |kind: &'static str, at: usize| {
        if !found.iter().any(|(known, _)| *known == kind) {
            found.push((kind, at));
        }
    };
    if let Some(at) = private_key(line) {
        add("private-key", at);
    }
    for (at, run) in runs(line) {
        if let Some(kind) = token(run) {
            add(kind, at);
        }
    }
    if let Some(at) = bearer(line) {
        add("bearer", at);
    }
    if let Some(at) = url_password(line) {
        add("url-password", at);
    }
    if let Some(at) = assignment(line) {
        add("password", at);
    }
    found
}

pub(crate) fn report(kind: &'static str, spot: Spot, report: &mut Report) {
    report.error_hint(
        Code::Secret(kind),
        spot,
        "text: what looks like a secret stands here",
        "remove it and replace the secret itself; it must count as known now",
    );
}

/// Maximal runs of token characters; a prefix counts only at the start of one or after `-`/`.`.
fn runs(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut offset = 0;
    line.split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))).map(move |run| {
        let at = offset;
        let next = line.get(at + run.len()..).and_then(|rest| rest.chars().next());
        offset = at + run.len() + next.map_or(0, char::len_utf8);
        (at, run)
    })
}

fn token(run: &str) -> Option<&'static str> {
    // A run is split at underscores too, for a name may stand before the token: `KEY_AKIA…`.
    let fixed = run
        .char_indices()
        .filter(|(at, _)| *at == 0 || !run.as_bytes()[at - 1].is_ascii_alphanumeric())
        .filter_map(|(at, _)| run.get(at..))
        .find_map(|text| {
            TOKENS.iter().find(|(_, prefix, least, upper)| {
                text.strip_prefix(prefix).is_some_and(|rest| is_token_rest(rest, *least, *upper))
            })
        });
    if let Some((kind, ..)) = fixed {
        return Some(kind);
    }
    if is_jwt(run) {
        return Some("jwt");
    }
    is_openai(run).then_some("openai-key")
}

fn is_token_rest(rest: &str, least: usize, upper: bool) -> bool {
    let allowed = |b: &u8| match upper {
        true => b.is_ascii_uppercase() || b.is_ascii_digit(),
        false => b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-',
    };
    rest.bytes().take_while(|b| allowed(b)).take(least).count() == least
}

/// `sk-` and at least twenty more characters with both letters and digits, so that a hyphenated
/// phrase is none.
fn is_openai(run: &str) -> bool {
    run.strip_prefix("sk-").is_some_and(|rest| {
        rest.len() >= 20
            && rest.bytes().any(|b| b.is_ascii_digit())
            && rest.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

/// Two segments of base64url that both begin like a JSON object.
fn is_jwt(run: &str) -> bool {
    let mut parts = run.split('.');
    let object = |part: Option<&str>| part.is_some_and(|p| p.starts_with("eyJ") && p.len() >= 10);
    object(parts.next()) && object(parts.next())
}

fn private_key(line: &str) -> Option<usize> {
    let at = line.find("-----BEGIN ")?;
    line.get(at..).filter(|rest| rest.contains("PRIVATE KEY")).map(|_| at)
}

fn bearer(line: &str) -> Option<usize> {
    const WORD: &str = "bearer ";
    let lower = line.to_ascii_lowercase();
    lower.match_indices(WORD).map(|(at, _)| at).find(|at| {
        let rest = line.get(at + WORD.len()..).unwrap_or("");
        let token = |b: &u8| b.is_ascii_alphanumeric() || b"._~+/=-".contains(b);
        let length = rest.bytes().take_while(token).take(200).count();
        length >= 20 && rest.bytes().take(length).any(|b| b.is_ascii_digit())
    })
}

/// `scheme://user:password@host`.
fn url_password(line: &str) -> Option<usize> {
    const USERINFO_MAX: usize = 200;
    line.match_indices("://").map(|(at, _)| at).find(|at| {
        let rest = line.get(at + 3..).unwrap_or("");
        let end = |c: char| c.is_whitespace() || "/?#\"'`<>".contains(c);
        let authority = rest.split(end).next().unwrap_or("");
        let info = authority.get(..authority.len().min(USERINFO_MAX)).unwrap_or("");
        info.split_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| is_long_value(password, 4))
    })
}

/// `password=value` and `"api_key": "value"`; after a colon only what is no plain word.
fn assignment(line: &str) -> Option<usize> {
    line.char_indices().filter(|(_, c)| matches!(c, '=' | ':')).find_map(|(at, mark)| {
        let start = secret_name(line.get(..at)?)?;
        let rest = line.get(at + 1..)?;
        // `==` compares and `::` names; neither assigns.
        if rest.starts_with(['=', ':']) {
            return None;
        }
        // The beginning decides; a bounded look keeps a hostile line from costing its square.
        let value = rest.trim_start_matches([' ', '\t', '"', '\'', '`']);
        let value = head(value, VALUE_SEEN);
        let value = value.split([' ', '\t', '"', '\'', '`', ',']).next().unwrap_or("");
        let mixed = value.bytes().any(|b| b.is_ascii_digit())
            && value.bytes().any(|b| b.is_ascii_alphabetic());
        (is_value(value) && (mark == '=' || mixed)).then_some(start)
    })
}

/// Where the secret's name begins, if the text ends with one (and quotes or spaces).
fn secret_name(before: &str) -> Option<usize> {
    const NAME_MAX: usize = 16;
    let name = before.trim_end_matches([' ', '"', '\'', '`']);
    let bytes = name.as_bytes();
    let tail = bytes.get(bytes.len().saturating_sub(NAME_MAX)..)?.to_ascii_lowercase();
    NAMES.iter().find(|known| tail.ends_with(known.as_bytes())).map(|it| bytes.len() - it.len())
}

/// Whether a word is an option whose next word is a secret, such as `--password`.
pub(crate) fn is_password_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        NAMES.iter().any(|known| name.ends_with(known))
    })
}

/// Whether a value is long enough for a secret and no path, variable or placeholder.
pub(crate) fn is_value(value: &str) -> bool {
    const REFERENCES: [&str; 14] = [
        "/in/",
        "/out/",
        "/tmp/",
        "$",
        "<",
        "{",
        "*",
        "%",
        "-",
        "os.",
        "getenv",
        "process.env",
        "ENV",
        "https://",
    ];
    is_long_value(value, VALUE_LEAST) && !REFERENCES.iter().any(|it| value.starts_with(it))
}

fn is_long_value(value: &str, least: usize) -> bool {
    value.chars().take(least).count() == least
}
