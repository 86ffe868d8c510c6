//! Text that a tool wrote (names of its files, what it asked its proxy for) on its way into a record.
//! The front matter has it exactly, or in numbers where the lint takes offence; the page may have to
//! withhold it. Nothing here may change how words of the request, the policy or the rules are shown.

use std::collections::{BTreeMap, BTreeSet};

use sandbox::report::Rejected;
use validator::{Code, Violation, withheld};

use crate::outside::{head, marker, one_line, unfit};
use crate::yaml::{Mask, Node, printable, quoted};

/// Rows of rejected objects that the front matter has, at most.
const REJECTED_ROWS_MAX: usize = 1000;
/// What those rows take of it, even where every third character is written as its number.
const REJECTED_BYTES_MAX: usize = 256 * 1024;

/// How text of a tool is shown. By default all of it is, but for what is unfit by itself.
#[derive(Default)]
pub(crate) struct ToolShowing {
    /// Every text in the front matter is written with characters as their numbers.
    masked: bool,
    /// Lines of the document on which the lint found what it refuses.
    lines: BTreeMap<usize, Code>,
    /// Nothing is shown on the page, for this reason.
    all: Option<Code>,
}

impl ToolShowing {
    /// As little as there can be of it: the front matter has what a machine needs.
    pub(crate) fn nothing(code: Code) -> Self {
        Self { masked: true, lines: BTreeMap::new(), all: Some(code) }
    }

    /// Why nothing is shown on the page, if so.
    pub(crate) fn nothing_for(&self) -> Option<Code> {
        self.all
    }

    /// Takes the text away that stands where the lint found an error. False where all of that was done
    /// before, or where an error is on a line without a tool's text.
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

    /// Why the text on this line of the document may not be shown, if so.
    pub(crate) fn reason(&self, line: usize) -> Option<Code> {
        self.all.or_else(|| self.lines.get(&line).copied())
    }

    /// For the front matter: what a machine needs exactly. Alone on its line.
    pub(crate) fn exact(&self, text: &str) -> Node {
        match (self.all, self.masked || unfit(text).is_some()) {
            (_, false) => Node::Text(text.to_owned()),
            (None, true) => Node::Masked(text.to_owned(), Mask::All),
            // Where size may have been the reason, a full mask would be one again.
            (Some(_), true) => Node::Masked(text.to_owned(), Mask::Third),
        }
    }

    /// For the front matter, where the text is for people.
    pub(crate) fn words(&self, text: &str) -> Node {
        let (head, _) = head(text);
        match unfit(head) {
            Some(code) => Node::Text(marker(code)),
            None => self.exact(head),
        }
    }
}

/// The lines of a document that have text of a tool.
#[derive(Default)]
pub(crate) struct ToolLines {
    /// Lines of the front matter and its two `---`.
    pub(crate) front_lines: usize,
    /// Numbers of lines below it.
    pub(crate) page: BTreeSet<usize>,
}

/// As many rejected objects as the front matter lists: the first one always, and their number stands
/// beside them. It is the same number in every form of a record.
pub(crate) fn listed(rejected: &[Rejected]) -> &[Rejected] {
    let mut left = REJECTED_BYTES_MAX;
    let fits = rejected.iter().take(REJECTED_ROWS_MAX).enumerate().take_while(|(at, object)| {
        let most = quoted(head(&object.path).0).len() * 2 + ROW_BYTES;
        let room = left.checked_sub(most);
        left = room.unwrap_or(0);
        room.is_some() || *at == 0
    });
    rejected.get(..fits.count()).unwrap_or(rejected)
}

/// Keys and marks of a row.
const ROW_BYTES: usize = 48;

/// A path below /out as the page has it, or why it may not stand there. It is read back exactly: as it
/// is where nobody can take it for anything else, else in quotes and with the escapes of JSON.
pub(crate) fn out_path(path: &str) -> Result<String, Code> {
    let path = format!("/out/{path}");
    let shown = if is_plain(&path) { path.clone() } else { in_quotes(&path) };
    match unfit(&path).or_else(|| withheld(&shown)) {
        Some(code) => Err(code),
        None => Ok(shown),
    }
}

/// Words of a tool on the page, on one line.
pub(crate) fn prose(text: &str) -> Result<String, Code> {
    let (head, cut) = head(text.trim());
    let shown = one_line(head, cut);
    match unfit(head).or_else(|| withheld(&shown)) {
        Some(code) => Err(code),
        None => Ok(shown),
    }
}

/// Letters, digits and few marks, and spaces between them one by one: nothing of it is Markdown, and
/// none of it is lost at an end.
fn is_plain(path: &str) -> bool {
    let allowed =
        |c: char| c == ' ' || "._-/+".contains(c) || (c.is_alphanumeric() && printable(c));
    let part = |part: &str| !part.starts_with(' ') && !part.ends_with(' ') && !part.contains("  ");
    // Some readers make links of these by themselves; others would take such digits for a digest.
    let linked = path.contains("www.");
    let digits = path.split(|c: char| !c.is_ascii_hexdigit()).any(|run| run.len() >= 64);
    path.chars().all(allowed) && path.split('/').all(part) && !linked && !digits
}

/// As a code span of one string. A space that could be lost is written as its number, and so is a
/// backtick, which could end the span.
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
            c if printable(c) => shown.push(c),
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
        let row = |path: String| Rejected { path, reason: RejectReason::Fifo };
        assert_eq!(listed(&[]).len(), 0);
        assert_eq!(listed(&vec![row("\\".repeat(4000)); 2000]).len(), 64);
        assert_eq!(listed(&vec![row("name".into()); 2000]).len(), 1000);
    }

    #[test]
    fn only_what_stands_on_a_refused_line_is_withheld() {
        let tool_lines = ToolLines { front_lines: 10, page: [12, 14].into() };
        let error = |line| Violation::error(Code::ResultDigest, "x").at(line, 1);
        let mut tool = ToolShowing::default();
        assert!(tool.withhold(&[error(14)], &tool_lines));
        assert_eq!((tool.reason(12), tool.reason(14)), (None, Some(Code::ResultDigest)));
        assert!(!tool.withhold(&[error(14), error(13), error(0)], &tool_lines));
        assert!(matches!(tool.exact("x"), Node::Text(_)));
        assert!(tool.withhold(&[error(3)], &tool_lines));
        assert!(matches!(tool.exact("x"), Node::Masked(..)));
        assert_eq!(tool.reason(12), None);
    }
}
