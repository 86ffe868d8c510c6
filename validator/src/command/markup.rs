//! Markdown and HTML marks around the command. They are reported and skipped, so that the rules
//! for the words still speak; what stands inside shell quotes must never be taken for a mark.

use std::ops::Range;

use crate::code::Code;
use crate::report::Report;
use crate::text::Line;

/// The bytes of the line that are the command itself.
pub(crate) fn strip(line: &Line<'_>, report: &mut Report) -> Range<usize> {
    let text = line.text;
    let start = text.len() - text.trim_start_matches([' ', '\t']).len();
    let end = text.trim_end_matches([' ', '\t']).len();
    let inner = text.get(start..end).unwrap_or("");
    let marked = mark_length(inner);
    if marked > 0 {
        tell(line, start, "begins with a list, quote, heading or HTML mark", report);
        let rest = inner.get(marked..).unwrap_or("");
        return start + marked + (rest.len() - rest.trim_start().len())..end;
    }
    let ticks = inner.len() - inner.trim_start_matches('`').len();
    let closing = inner.len() - inner.trim_end_matches('`').len();
    let wrapped = ticks > 0 && ticks == closing && inner.len() > 2 * ticks;
    if wrapped && !inner.get(ticks..inner.len() - ticks).unwrap_or("").contains('`') {
        tell(line, start, "is wrapped in backticks", report);
        return start + ticks..end - ticks;
    }
    start..end
}

fn tell(line: &Line<'_>, at: usize, what: &str, report: &mut Report) {
    let message = format!("command: the line {what}");
    let hint = "write the command as plain text, without Markdown";
    report.error_hint(Code::CommandMarkup, line.spot(at), message, hint);
}

/// How many bytes of the line's beginning are a mark.
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
