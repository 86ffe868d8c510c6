//! The only list of deceptive characters, for approved documents, names and record lines, and
//! functions that escape them. Nothing here may change bytes that are hashed.

/// The kind of a character that can mislead a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeceptiveChar {
    /// U+0000.
    Nul,
    /// A control character other than NUL and tab, or a line or paragraph separator.
    Control,
    /// A character that changes the direction of the text.
    Bidi,
    /// A character that cannot be seen.
    Invisible,
}

/// The variation selector for emoji style, which many emoji need: allowed in prose, not in names.
pub const EMOJI_STYLE: char = '\u{fe0f}';

/// Returns the kind of a deceptive character. A tab is not one here; [`is_deceptive`] includes it.
#[must_use]
pub fn deceptive_kind(c: char) -> Option<DeceptiveChar> {
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

/// Returns whether a name must not contain this character: a deceptive character or a tab.
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    c == '\t' || deceptive_kind(c).is_some()
}

/// Returns whether the text contains a character that a name must not contain.
#[must_use]
pub fn has_deceptive(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().any(|byte| byte.is_ascii_control());
    }
    text.chars().any(is_deceptive)
}

/// Returns whether the text contains an invisible character.
#[must_use]
pub fn has_invisible(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| deceptive_kind(c) == Some(DeceptiveChar::Invisible))
}

/// Returns the line with deceptive characters, except tabs, escaped as `\u{…}`.
#[must_use]
pub fn escape_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if deceptive_kind(c).is_some() {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Joins words as a choice: `a`, `a or b`, `a, b or c`.
#[must_use]
pub fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Returns the first 60 characters of a text, escaped, for a message.
#[must_use]
pub fn quote(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut head: String = text.chars().take(SHOWN_MAX).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    format!("`{}`", escape_line(&head).replace('\t', "\\t"))
}
