//! Escaping of text that a tool wrote (file names, requests to its proxy) for a record. The front
//! matter has the text exactly, or escaped as code points if the lint refuses it. The page may
//! withhold it. Nothing here may change how text of the request, the policy or the rules is shown.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::report::RejectedObject;
use validator::{Code, Violation};

use crate::untrusted::{lint_refusal, lint_refusal_as, marker, one_line, shown_prefix};
use crate::yaml::{FactNode, TextMask, is_printable, quoted};

/// The maximum number of rejected objects in the front matter.
const REJECTED_ROWS_MAX: usize = 1000;
/// The maximum size of those rows, even if every third character is escaped.
const REJECTED_BYTES_MAX: usize = 256 * 1024;

/// The redaction of a tool's text. By default it shows everything that is not unfit by itself.
#[derive(Default)]
pub(crate) struct ToolRedaction {
    /// Every text in the front matter is escaped.
    masked: bool,
    /// Lines of the document with a lint error.
    lines: BTreeMap<usize, Code>,
    /// The page shows nothing, for this reason.
    all: Option<Code>,
}

impl ToolRedaction {
    /// Withholds as much as possible. The front matter keeps what a machine needs.
    pub(crate) fn withhold_all(code: Code) -> Self {
        Self { masked: true, lines: BTreeMap::new(), all: Some(code) }
    }

    /// Returns the reason why the page shows nothing, if so.
    pub(crate) fn withheld_all_reason(&self) -> Option<Code> {
        self.all
    }

    /// Withholds text on lines with a lint error. Returns false if nothing more was withheld.
    pub(crate) fn withhold(&mut self, errors: &[Violation], tool_lines: &ToolLines) -> bool {
        let mut more = false;
        for error in errors {
            if error.line > 0 && error.line <= tool_lines.front_lines {
                more |= !std::mem::replace(&mut self.masked, true);
            } else if tool_lines.page.contains(&error.line) {
                more |= self.lines.insert(error.line, error.code).is_none();
            }
        }
        more
    }

    pub(crate) fn withheld_reason(&self, line: usize) -> Option<Code> {
        self.all.or_else(|| self.lines.get(&line).copied())
    }

    /// Renders exact text for machines in the front matter, alone on its line.
    pub(crate) fn exact_node(&self, text: &str) -> FactNode {
        match (self.all, self.masked || lint_refusal(text).is_some()) {
            (_, false) => FactNode::Text(text.to_owned()),
            (None, true) => FactNode::Masked(text.to_owned(), TextMask::All),
            // The lint may have refused the size, and a full mask would exceed it again.
            (Some(_), true) => FactNode::Masked(text.to_owned(), TextMask::Third),
        }
    }

    /// Renders text for people in the front matter.
    pub(crate) fn text_node(&self, text: &str) -> FactNode {
        let (head, _) = shown_prefix(text);
        match lint_refusal(head) {
            Some(code) => FactNode::Text(marker(code)),
            None => self.exact_node(head),
        }
    }
}

/// The lines of a document that contain text of a tool.
#[derive(Default)]
pub(crate) struct ToolLines {
    /// The number of lines of the front matter, with its two `---`.
    pub(crate) front_lines: usize,
    /// The numbers of the lines below it.
    pub(crate) page: BTreeSet<usize>,
}

/// Returns the rejected objects that the front matter lists, at least the first. The total is
/// stated as well. The number of listed objects is the same in every form of a record.
pub(crate) fn listed_objects(rejected: &[RejectedObject]) -> &[RejectedObject] {
    let mut left = REJECTED_BYTES_MAX;
    let fits = rejected.iter().take(REJECTED_ROWS_MAX).enumerate().take_while(|(at, object)| {
        let most = quoted(shown_prefix(&object.path).0).len() * 2 + ROW_BYTES;
        let rest = left.checked_sub(most);
        left = rest.unwrap_or(0);
        rest.is_some() || *at == 0
    });
    rejected.get(..fits.count()).unwrap_or(rejected)
}

/// The bytes of the keys and punctuation of a row.
const ROW_BYTES: usize = 48;

/// Renders a path below /out for the page, or returns the reason to withhold it. The path can be
/// read back exactly: it is unambiguous, or in quotes with JSON escapes.
pub(crate) fn out_path(path: &str) -> Result<String, Code> {
    let path = format!("/out/{path}");
    let shown = if is_plain(&path) { path.clone() } else { in_quotes(&path) };
    match lint_refusal_as(&path, &shown) {
        Some(code) => Err(code),
        None => Ok(shown),
    }
}

/// Renders text of a tool for the page, on one line.
pub(crate) fn body_text(text: &str) -> Result<String, Code> {
    let (head, cut) = shown_prefix(text.trim());
    let shown = one_line(head, cut);
    match lint_refusal_as(head, &shown) {
        Some(code) => Err(code),
        None => Ok(shown),
    }
}

/// Returns whether a path has only letters, digits, a few marks, and single spaces inside its
/// parts. Such a path has no Markdown and loses no space at an end.
fn is_plain(path: &str) -> bool {
    let allowed =
        |c: char| c == ' ' || "._-/+".contains(c) || (c.is_alphanumeric() && is_printable(c));
    let part = |part: &str| !part.starts_with(' ') && !part.ends_with(' ') && !part.contains("  ");
    // Some readers turn `www.` into links; others would take such digits for a digest.
    let linked = path.contains("www.");
    let digits = path.split(|c: char| !c.is_ascii_hexdigit()).any(|run| run.len() >= 64);
    path.chars().all(allowed) && path.split('/').all(part) && !linked && !digits
}

/// Renders a path as a JSON string in a code span. A space that could be lost is escaped, and so is
/// a backtick, which could end the span.
fn in_quotes(path: &str) -> String {
    let mut shown = String::from("`\"");
    let mut before = '/';
    let mut rest = path.chars().peekable();
    while let Some(c) = rest.next() {
        let at_end = matches!(rest.peek(), None | Some('/' | ' '));
        match c {
            '"' | '\\' => shown.extend(['\\', c]),
            ' ' if at_end || matches!(before, '/' | ' ') => shown.push_str("\\u0020"),
            '`' => shown.push_str("\\u0060"),
            c if is_printable(c) => shown.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    shown.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        before = c;
    }
    shown.push_str("\"`");
    shown
}

#[cfg(test)]
mod tests {
    use model::RejectReason;

    use super::*;

    #[test]
    fn paths_are_quoted_where_they_could_be_misread() {
        let shown = |path: &str| out_path(path).unwrap();
        assert_eq!(shown("sub/a b-1.json"), "/out/sub/a b-1.json");
        assert_eq!(shown("é漢.txt"), "/out/é漢.txt");
        for (path, expected) in [
            ("a ", "`\"/out/a\\u0020\"`"),
            ("a\u{a0}", "`\"/out/a\\u00a0\"`"),
            ("a  b/ c", "`\"/out/a\\u0020\\u0020b/\\u0020c\"`"),
            ("a,", "`\"/out/a,\"`"),
            ("a`b\"\\", "`\"/out/a\\u0060b\\\"\\\\\"`"),
            ("\u{1f600}\u{e0100}", "`\"/out/\u{1f600}\\udb40\\udd00\"`"),
        ] {
            assert_eq!(shown(path), expected);
            let string: String = serde_json::from_str(expected.trim_matches('`')).unwrap();
            assert_eq!(string, format!("/out/{path}"));
        }
    }

    #[test]
    fn some_rejected_object_is_listed_whatever_its_name_is() {
        let row = |path: String| RejectedObject { path, reason: RejectReason::Fifo };
        assert_eq!(listed_objects(&[]).len(), 0);
        assert_eq!(listed_objects(&vec![row("\\".repeat(4000)); 2000]).len(), 64);
        assert_eq!(listed_objects(&vec![row("name".into()); 2000]).len(), 1000);
    }

    #[test]
    fn only_what_stands_on_a_refused_line_is_withheld() {
        let tool_lines = ToolLines { front_lines: 10, page: [12, 14].into() };
        let error = |line| Violation::error(Code::ResultDigest, "x").at(line, 1);
        let mut tool = ToolRedaction::default();
        assert!(tool.withhold(&[error(14)], &tool_lines));
        assert_eq!(
            (tool.withheld_reason(12), tool.withheld_reason(14)),
            (None, Some(Code::ResultDigest))
        );
        assert!(!tool.withhold(&[error(14), error(13), error(0)], &tool_lines));
        assert!(matches!(tool.exact_node("x"), FactNode::Text(_)));
        assert!(tool.withhold(&[error(3)], &tool_lines));
        assert!(matches!(tool.exact_node("x"), FactNode::Masked(..)));
        assert_eq!(tool.withheld_reason(12), None);
    }
}
