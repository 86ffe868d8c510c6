//! Markdown and HTML marks around the command. They are reported and skipped, so that the rules for
//! the words still apply. Text inside shell quotes must never be taken for a mark.

use std::ops::Range;

use model::TextLine;

use crate::code::Code;
use crate::report::Report;

/// Returns the byte range of the command within the line.
pub(crate) fn strip(line: &TextLine<'_>, report: &mut Report) -> Range<usize> {
    let Range { start, end } = without_blanks(line.text);
    let inner = line.text.get(start..end).unwrap_or("");
    let marked = mark_length(inner);
    if marked > 0 {
        let rest = inner.get(marked..).unwrap_or("");
        let mark = inner.get(..marked).unwrap_or("").trim_end();
        let spot = line.span_at(start).with_width(mark.chars().count());
        let what = "begins with a list, quote, heading or HTML mark";
        let hint = "write the command as plain text, without Markdown or HTML before it";
        report.error_hint(Code::CommandMarkup, spot, format!("command: the line {what}"), hint);
        return start + marked + (rest.len() - rest.trim_start_matches([' ', '\t']).len())..end;
    }
    if let Some(ticks) = wrapping(inner) {
        let spot = line.span_at(start).with_width(inner.chars().count());
        let hint = "write the command without the backticks; they would run it in a shell";
        let message = "command: the line is wrapped in backticks";
        report.error_hint(Code::CommandMarkup, spot, message, hint);
        return start + ticks..end - ticks;
    }
    start..end
}

/// Returns the byte range of the text without blanks around it; one after a backslash is kept.
pub(crate) fn without_blanks(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    let rest = text.get(start..).unwrap_or("");
    let trimmed = rest.trim_end_matches([' ', '\t']);
    let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    let escaped = usize::from(backslashes % 2 == 1 && trimmed.len() < rest.len());
    start..start + trimmed.len() + escaped
}

/// Returns the number of backticks on either side of a text that contains none.
fn wrapping(text: &str) -> Option<usize> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let closing = text.len() - text.trim_end_matches('`').len();
    let inner = text.get(ticks..text.len().saturating_sub(ticks))?;
    (ticks > 0 && ticks == closing && !inner.is_empty() && !inner.contains('`')).then_some(ticks)
}

/// Returns the length of the mark at the start of the line, in bytes.
fn mark_length(text: &str) -> usize {
    for mark in ["- ", "* ", "+ ", "> "] {
        if text.starts_with(mark) {
            return mark.len();
        }
    }
    let hashes = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && text.get(hashes..).is_some_and(|rest| rest.starts_with(' ')) {
        return hashes;
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = text.get(digits..).unwrap_or("");
    if (1..=9).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") ")) {
        return digits + 1;
    }
    html_length(text)
}

fn html_length(text: &str) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |at| at + 3);
    }
    let named = text.strip_prefix('<').is_some_and(|rest| {
        let rest = rest.strip_prefix(['/', '!', '?']).unwrap_or(rest);
        rest.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    if named { text.find('>').map_or(0, |at| at + 1) } else { 0 }
}
