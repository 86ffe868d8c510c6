//! Characters: which of them have no place in a document that a person approves by reading it,
//! and how to show them. Nothing here may change the bytes that are hashed.

use crate::code::Code;
use crate::confusable;
use crate::report::{Report, Spot};

/// A line of the document without its line ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// Where the line begins, in bytes from the start of the document.
    pub(crate) offset: usize,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    /// The place of the character that begins at this byte of the line.
    pub(crate) fn spot(&self, byte: usize) -> Spot {
        let before = self.text.get(..byte).unwrap_or(self.text);
        Spot::new(self.number, before.chars().count() + 1)
    }
}

/// The lines of a document; a carriage return before the line feed is not part of the line.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    each_line(text).collect()
}

/// The lines of a document, one by one.
pub(crate) fn each_line(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, piece)| {
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begin = offset;
        offset += piece.len();
        Line { number: index + 1, offset: begin, text: line }
    })
}

/// How a character can mislead a reader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trick {
    Nul,
    Control,
    Bidi,
    Invisible,
}

/// The variation selector that asks for a picture.
const EMOJI_STYLE: char = '\u{fe0f}';

fn trick(c: char) -> Option<Trick> {
    match c {
        '\0' => Some(Trick::Nul),
        '\t' => None,
        '\u{2028}' | '\u{2029}' => Some(Trick::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(Trick::Bidi)
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
        | '\u{e0100}'..='\u{e01ef}' => Some(Trick::Invisible),
        c if c.is_control() => Some(Trick::Control),
        _ => None,
    }
}

/// Reads bytes as text. What is not UTF-8 is reported and replaced, so that the other rules can
/// still be checked.
pub(crate) fn decode<'a>(bytes: &'a [u8], report: &mut Report) -> std::borrow::Cow<'a, str> {
    if let Err(error) = std::str::from_utf8(bytes) {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = valid.split(|&byte| byte == b'\n').count();
        report.error(Code::TextNotUtf8, Spot::new(line, 0), "file: not UTF-8 from this line on");
    }
    String::from_utf8_lossy(bytes)
}

/// Reports every misleading character, each kind once a line.
pub(crate) fn check(lines: &[Line<'_>], report: &mut Report) {
    for line in lines {
        // ASCII without controls is nearly every line; the rest is looked at with care.
        if line.text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
            continue;
        }
        check_line(line, report);
        check_words(line, report);
        confusable::check_line(line, report);
    }
}

/// Between plain letters an invisible character serves nobody but who wants one word read and
/// another one searched.
fn check_words(line: &Line<'_>, report: &mut Report) {
    let mut before = ' ';
    let mut hidden = None;
    for (index, c) in line.text.chars().enumerate() {
        if trick(c) == Some(Trick::Invisible) {
            hidden = hidden.or(before.is_ascii_alphanumeric().then_some(index));
            continue;
        }
        if let Some(at) = hidden.take()
            && c.is_ascii_alphanumeric()
        {
            let spot = Spot::new(line.number, at + 1).wide(index - at);
            let message = "text: an invisible character inside a word";
            report.error_hint(Code::TextConfusable, spot, message, "remove it");
            return;
        }
        before = c;
    }
}

fn check_line(line: &Line<'_>, report: &mut Report) {
    let mut told: Vec<Trick> = Vec::new();
    for (index, c) in line.text.chars().enumerate() {
        let Some(kind) = trick(c) else { continue };
        if told.contains(&kind) {
            continue;
        }
        told.push(kind);
        if kind != Trick::Invisible && report.is_full() {
            continue;
        }
        let spot = Spot::new(line.number, index + 1);
        let shown = escape_line(c.encode_utf8(&mut [0; 4]));
        match kind {
            Trick::Nul => report.error(Code::TextNul, spot, "text: a NUL byte"),
            Trick::Bidi => report.error(
                Code::TextBidi,
                spot,
                format!("text: {shown} changes the direction of what is read"),
            ),
            Trick::Control => {
                report.error(Code::TextControl, spot, format!("text: control character {shown}"));
            }
            Trick::Invisible if line.number == 1 && index == 0 && c == '\u{feff}' => {
                report.error_hint(
                    Code::TextControl,
                    spot,
                    "text: a byte order mark",
                    "save the file as UTF-8 without a BOM",
                );
            }
            // It follows every other emoji that people write.
            Trick::Invisible if c == EMOJI_STYLE => {}
            // Joiners are part of some scripts' prose; front matter and command are checked apart.
            Trick::Invisible => {
                report.warning(Code::TextConfusable, spot, format!("text: {shown} is invisible"))
            }
        }
    }
}

/// Whether the text holds a character that nobody can see.
pub(crate) fn has_invisible(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(|c| trick(c) == Some(Trick::Invisible))
}

/// Whether the text holds any character that is not what it seems, tabs included.
pub(crate) fn has_trick(text: &str) -> bool {
    text.chars().any(|c| c.is_control() || trick(c).is_some())
}

/// The line with control characters (except tab), direction marks and invisible characters shown
/// as `\u{…}`, so that a terminal or a page shows what is really there.
#[must_use]
pub fn escape_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if trick(c).is_some() {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// At most `max` characters of a text, escaped, for use in a message.
pub(crate) fn quote(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut head: String = text.chars().take(SHOWN_MAX).collect();
    if head.len() < text.len() {
        head.push('…');
    }
    format!("`{}`", escape_line(&head).replace('\t', "\\t"))
}
