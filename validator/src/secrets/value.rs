//! Decides from a value alone, in commands as in prose, whether it can be a secret.

/// The minimum length of a password that is assigned to a name, in characters.
pub(super) const LEAST: usize = 8;

/// Prefixes of references to a secret: variables, templates, files.
const REFERENCE_PREFIXES: [&str; 24] = [
    "$", "<", "{", "[", "(", "*", "%(", "%{", "%%", "…", "...", "--", "@", "#{", "./", "../", "~/",
    "/in/", "/out/", "/tmp/", "/run/", "/etc/", "/home/", "/var/",
];

/// Words that begin such references: access to the environment, stores, locations.
const REFERENCE_WORDS: [&str; 11] = [
    "os.",
    "env.",
    "ENV",
    "getenv",
    "process.env",
    "file:",
    "env:",
    "vault:",
    "op://",
    "arn:",
    "http",
];

/// Whole values that name a secret instead of being one.
const PLACEHOLDERS: [&str; 22] = [
    "changeme",
    "change",
    "changeit",
    "password",
    "passphrase",
    "passwd",
    "secret",
    "credential",
    "credentials",
    "example",
    "placeholder",
    "redacted",
    "removed",
    "withheld",
    "hidden",
    "masked",
    "required",
    "optional",
    "undefined",
    "disabled",
    "unchanged",
    "default",
];

/// Prefixes of placeholders in documents.
const PLACEHOLDER_PREFIXES: [&str; 10] = [
    "your",
    "my-",
    "my_",
    "change",
    "replace",
    "insert",
    "enter",
    "example",
    "dummy",
    "placeholder",
];

/// Returns true if the value is a variable, a template, or a path or URL of the secret.
pub(super) fn is_reference(value: &str) -> bool {
    if is_filled(value) {
        return true;
    }
    if value.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        let windows = value.get(1..3) == Some(":\\");
        let url = |rest: &str| rest.starts_with("://") || rest.starts_with("s://");
        let word = |word: &&&str| value.starts_with(**word);
        let known = REFERENCE_WORDS.iter().find(word);
        return windows || known.is_some_and(|it| *it != "http" || value.get(4..).is_some_and(url));
    }
    let variable = value.starts_with('%') && value.ends_with('%');
    variable || REFERENCE_PREFIXES.iter().any(|it| value.starts_with(it))
}

/// Returns true if the value repeats one character, such as `xxxxxxxx` or `********`.
fn is_filled(value: &str) -> bool {
    let first = value.chars().next().filter(|it| "xX*.#0-_?".contains(*it));
    first.is_some_and(|first| value.chars().all(|c| c == first))
}

/// Returns true if the value is a word in place of a secret, or a phrase that asks for one.
pub(super) fn is_placeholder(value: &str) -> bool {
    let starts =
        |start: &str| value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let worded = || is_phrase(value) || value.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_filled(value)
        || PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || PLACEHOLDER_PREFIXES.iter().any(|it| starts(it)) && worded()
}

/// Returns true if a value is long enough for a secret and not a path, variable or option.
pub(super) fn is_value(value: &str) -> bool {
    value.chars().take(LEAST).count() == LEAST && !is_reference(value) && !value.starts_with('-')
}

/// Returns true if the value reads as several words, such as `sha256_of_the_file` or `step-2`:
/// letters, then at most a number, between separators. Random text has digits elsewhere.
pub(super) fn is_phrase(value: &str) -> bool {
    const NUMBER_MAX: usize = 4;
    let word = |word: &str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        number.len() <= NUMBER_MAX && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.contains(['-', '_', '.', '/', ':']) && value.split(['-', '_', '.', '/', ':']).all(word)
}

/// Returns true if a bare value is an expression of a program: a call, an index, a path of names.
pub(super) fn is_code(value: &str) -> bool {
    let name = |part: &str| {
        let first = part.bytes().next();
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    value.bytes().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'|'))
        || value.contains("::")
        || value.starts_with('&')
        || value.contains('.') && value.trim_end_matches('.').split('.').all(name)
}

/// Returns true if the value looks random: many different characters, and more changes between
/// letters and digits than in names and words.
pub(super) fn is_random(value: &str) -> bool {
    const EXAMINED_MAX: usize = 48;
    const LEAST: usize = 10;
    let bytes = value.as_bytes();
    let seen = bytes.get(..EXAMINED_MAX).unwrap_or(bytes);
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let mut classes = [0_usize; 4];
    let mut different = [false; 128];
    let (mut changes, mut digit_changes) = (0, 0);
    let mut last = None;
    for byte in seen {
        let now = class(*byte);
        if let Some(count) = classes.get_mut(now) {
            *count += 1;
        }
        if let Some(it) = different.get_mut(usize::from(*byte)) {
            *it = true;
        }
        if last.is_some_and(|last| last != now) {
            changes += 1;
            digit_changes += usize::from(now == 0 || last == Some(0));
        }
        last = Some(now);
    }
    let [digits, lower, upper, _] = classes;
    let different = different.iter().filter(|it| **it).count();
    let long = seen.len() >= LEAST && different * 2 >= seen.len().min(20);
    let mixed = digits >= 1 && lower + upper >= 2;
    // A name changes class between words; random text does so at every second or third character.
    let often = changes * 5 >= seen.len() * 2 || upper == 0 && digit_changes * 4 >= seen.len();
    long && mixed && often
}
