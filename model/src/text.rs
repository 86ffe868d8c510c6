//! The one list of characters that mislead a reader, and how to show a text without their effect.
//! A document that a person approves, a name and a line of a record all use this list. Nothing here
//! may change bytes that are hashed.

/// How a character can mislead a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeceptiveChar {
    /// U+0000.
    Nul,
    /// A control character other than NUL and tab, or a line or paragraph separator.
    Control,
    /// Changes the direction of the text.
    Bidi,
    /// Cannot be seen.
    Invisible,
}

/// The variation selector that asks for a picture. It follows every other emoji that people write,
/// so prose may contain it; a name may not.
pub const EMOJI_STYLE: char = '\u{fe0f}';

/// How this character misleads a reader, if it does. A tab does not; [`is_deceptive`] counts it.
#[must_use]
pub fn deceptive(c: char) -> Option<DeceptiveChar> {
    match c {
        '\0' => Some(DeceptiveChar::Nul),
        '\t' => None,
        '\u{2028}' | '\u{2029}' => Some(DeceptiveChar::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(DeceptiveChar::Bidi)
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..=EMOJI_STYLE
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'
        | '\u{e0100}'..='\u{e01ef}' => Some(DeceptiveChar::Invisible),
        c if c.is_control() => Some(DeceptiveChar::Control),
        _ => None,
    }
}

/// Whether a name must not contain this character: it misleads a reader, or is a tab.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    c == '\t' || deceptive(c).is_some()
}

/// Whether the text contains a character that a name must not, a tab included.
#[must_use]
pub fn has_deceptive(text: &str) -> bool {
    text.chars().any(is_deceptive)
}

/// Whether the text contains a character that cannot be seen.
#[must_use]
pub fn has_invisible(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| deceptive(c) == Some(DeceptiveChar::Invisible))
}

/// The line with control characters (except tab), direction marks and invisible characters shown
/// as `\u{…}`, so that a terminal or a page shows what the line contains.
#[must_use]
pub fn escape_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if deceptive(c).is_some() {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Words as a choice: `a`, `a or b`, `a, b or c`.
#[must_use]
pub fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// The first characters of a text, escaped, for use in a message.
#[must_use]
pub fn quote(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut head: String = text.chars().take(SHOWN_MAX).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    format!("`{}`", escape_line(&head).replace('\t', "\\t"))
}
