//! Checks paths in program text on the command line. `/` may be a division or begin a pattern
//! there, so only well-known host paths count. An input counts only if a whole string is its path.

use model::SourceSpan;

use super::argv::report_path;
use super::{PathKind, REPORTED_PER_LINE_MAX, below_in, has_file_url, has_traversal, host_kind};
use crate::report::Report;

fn in_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-/~".contains(c)
}

/// Checks program text, and returns the number of violations.
pub(crate) fn check_code(code: &str, spot: SourceSpan, report: &mut Report) -> usize {
    let mut reported = 0;
    for word in code.split(|c: char| !in_path(c)) {
        let kind = if has_traversal(word) { Some(PathKind::Traversal) } else { host_kind(word) };
        if let Some(kind) = kind {
            report_path(kind, word, spot, report);
            reported += 1;
        }
        if reported == REPORTED_PER_LINE_MAX {
            return reported;
        }
    }
    if has_file_url(code) {
        report_path(PathKind::Host, "file:", spot, report);
        reported += 1;
    }
    reported
}

/// Returns the names below /in of paths that fill a whole string: `open("/in/x.csv")`. Patterns,
/// divisions and strings that the code extends do not count.
pub(crate) fn inputs_in(code: &str) -> impl Iterator<Item = String> {
    let quote = |c: char| c == '"' || c == '\'' || c == '`';
    let (mut before, mut end) = (None, 0);
    code.split_inclusive(quote).filter_map(move |piece| {
        end += piece.len();
        let closing = piece.chars().next_back().filter(|c| quote(*c));
        let opened = std::mem::replace(&mut before, closing);
        let path = piece.strip_suffix(quote)?.trim_end_matches('\\');
        let after = code.get(end..).unwrap_or("").trim_start();
        let whole = opened.is_some() && opened == closing && !after.starts_with(['+', '%']);
        (whole && path.starts_with("/in/") && path.chars().all(in_path)).then(|| below_in(path))?
    })
}
