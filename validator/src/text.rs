//! Finds the characters that no approved document may have. It must never change hashed bytes.

use model::{DeceptiveChar, EMOJI_STYLE, SourceSpan, TextLine, deceptive_kind, escape_line};

use crate::code::Code;
use crate::confusable;
use crate::report::Report;

/// Decodes text. Invalid UTF-8 is reported and replaced, so that the other rules can be checked.
pub(crate) fn decode<'a>(bytes: &'a [u8], report: &mut Report) -> std::borrow::Cow<'a, str> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return text.into(),
        Err(error) => error,
    };
    let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let line = valid.split(|&byte| byte == b'\n').count();
    report.error(Code::TextNotUtf8, SourceSpan::new(line, 0), "file: not UTF-8 from this line on");
    String::from_utf8_lossy(bytes)
}

/// Returns true if a byte of the text passes the test. A piece is tested to its end, so that the
/// compiler tests many bytes at once.
pub(crate) fn has_byte(text: &str, is: impl Fn(u8) -> bool) -> bool {
    const PIECE: usize = 64;
    let mut pieces = text.as_bytes().chunks(PIECE);
    pieces.any(|piece| piece.iter().fold(false, |seen, byte| seen | is(*byte)))
}

/// Reports every misleading character of the text, each kind once per line.
pub(crate) fn check(text: &str, lines: &[TextLine<'_>], report: &mut Report) {
    // Nearly every text is plain, and nearly every line of the others.
    if !has_byte(text, |byte| byte != b'\n' && !is_plain(byte)) {
        return;
    }
    for line in lines {
        if line.text.bytes().all(is_plain) {
            continue;
        }
        check_line(line, report);
        check_words(line, report);
        confusable::check_line(line, report);
    }
}

/// ASCII without controls.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..0x7f)
}

/// Reports an invisible character between plain letters: it hides the word from a search.
fn check_words(line: &TextLine<'_>, report: &mut Report) {
    let mut before = ' ';
    let mut hidden = None;
    for (index, c) in line.text.chars().enumerate() {
        if deceptive_kind(c) == Some(DeceptiveChar::Invisible) {
            hidden = hidden.or(before.is_ascii_alphanumeric().then_some(index));
            continue;
        }
        if let Some(at) = hidden.take()
            && c.is_ascii_alphanumeric()
        {
            let spot = SourceSpan::new(line.number, at + 1).with_width(index - at);
            let message = "text: an invisible character inside a word";
            report.error_hint(Code::TextConfusable, spot, message, "remove it");
            return;
        }
        before = c;
    }
}

fn check_line(line: &TextLine<'_>, report: &mut Report) {
    let mut reported: Vec<DeceptiveChar> = Vec::new();
    for (index, c) in line.text.chars().enumerate() {
        let Some(kind) = deceptive_kind(c) else { continue };
        if reported.contains(&kind) {
            continue;
        }
        reported.push(kind);
        if kind != DeceptiveChar::Invisible && report.is_full() {
            continue;
        }
        let spot = SourceSpan::new(line.number, index + 1);
        let shown = escape_line(c.encode_utf8(&mut [0; 4]));
        match kind {
            DeceptiveChar::Nul => report.error(Code::TextNul, spot, "text: a NUL byte"),
            DeceptiveChar::Bidi => report.error(
                Code::TextBidi,
                spot,
                format!("text: {shown} changes the text direction"),
            ),
            DeceptiveChar::Control => {
                report.error(Code::TextControl, spot, format!("text: control character {shown}"));
            }
            DeceptiveChar::Invisible if line.number == 1 && index == 0 && c == '\u{feff}' => {
                report.error_hint(
                    Code::TextControl,
                    spot,
                    "text: a byte order mark",
                    "save the file as UTF-8 without a BOM",
                );
            }
            // Many emoji are followed by this character.
            DeceptiveChar::Invisible if c == EMOJI_STYLE => {}
            // Joiners are prose in some scripts. Front matter and command are checked separately.
            DeceptiveChar::Invisible => {
                report.warning(Code::TextConfusable, spot, format!("text: {shown} is invisible"))
            }
        }
    }
}
