//! The facts of a request for an event. The request is untrusted: it is read with a bound, by
//! handle, and no link is followed.

use std::os::fd::OwnedFd;

use model::{Sha256, UtcTime};
use validator::{
    Draft, FileLocation, OwnerUid, REQUEST_BYTES_MAX, Request, Work, fill_placeholder_approval,
    input_warnings, reveal_line,
};

use super::model::{EventFacts, EventText};
use crate::output::human::source::SourceText;
use crate::regular_file::{open_regular, read_bounded};

/// Limit of purpose and command, in characters.
const TEXT_CHARS_MAX: usize = 300;

/// Reads the facts of a request. Returns `None` for a file that cannot be a request.
pub(super) fn read_facts(
    directory: &OwnedFd,
    name: &str,
    with_text: bool,
    now: UtcTime,
) -> Option<EventFacts> {
    let bytes = read_bounded(open_regular(directory, name).ok()?, REQUEST_BYTES_MAX)?;
    Some(facts_of(bytes, name, with_text, now))
}

fn facts_of(bytes: Vec<u8>, name: &str, with_text: bool, now: UtcTime) -> EventFacts {
    let sha256 = Some(Sha256::of(&bytes));
    // A draft has no approval yet, and would not be a valid request.
    let filled = match fill_placeholder_approval(&bytes, now) {
        Ok(filled) => filled.bytes,
        Err(_) => bytes,
    };
    // Nothing is decided here, so the owner does not matter.
    let draft = Draft::new(filled, name, OwnerUid::new(0)).ok();
    let request = draft.and_then(|draft| draft.check(FileLocation::Elsewhere, now).verdict.ok());
    EventFacts {
        outcome: None,
        risk_class: request.as_ref().map(|request| request.risk().level()),
        sha256,
        text: request.filter(|_| with_text).map(|request| text_of(&request)),
    }
}

fn text_of(request: &Request) -> EventText {
    let command = match request.work() {
        Work::Command { line, .. } => one_line(line),
        Work::Code(_) => "(code)".to_owned(),
    };
    EventText { purpose: one_line(request.purpose()), command }
}

/// Returns the text as one line without control characters. Suspected secrets are masked, because
/// the receiver is another host.
fn one_line(text: &str) -> String {
    let warnings = input_warnings(text);
    let source = SourceText::new(text, &warnings);
    let lines = (1..=text.lines().count()).filter_map(|number| source.line(number));
    let lines: Vec<_> =
        lines.map(|line| reveal_line(line.readable()).replace('\t', "\\t")).collect();
    let whole = lines.join("\\n");
    match whole.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_bounded_line_without_control_characters_and_secrets() {
        assert_eq!(one_line("a\tb\n\u{1b}[2J\u{202e}c"), "a\\tb\\n\\u{1b}[2J\\u{202e}c");
        let long = one_line(&"é".repeat(TEXT_CHARS_MAX + 9));
        assert_eq!(long.chars().count(), TEXT_CHARS_MAX + 1);
        assert!(long.ends_with('…'), "{long}");
        let key = ["AKIA", "QYLPMN5HFIQR7XYZ"].concat();
        let masked = one_line(&format!("python x.py --key {key}"));
        assert!(masked.starts_with("python") && !masked.contains(&key), "{masked}");
    }

    #[test]
    fn bytes_that_are_not_a_request_have_a_digest_only() {
        let facts = facts_of(b"a draft".to_vec(), "x.md", true, UtcTime::from_unix(0));
        let sha256 = Some(Sha256::of(b"a draft"));
        assert_eq!(facts, EventFacts { sha256, ..EventFacts::default() });
    }
}
