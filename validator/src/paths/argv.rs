//! Checks paths in command words that are not code: every absolute one, as the tool gets it.

use model::{SourceSpan, quote};

use super::{
    PathKind, REPORTED_PER_LINE_MAX, has_file_url, has_traversal, host_kind, is_home, is_windows,
    kind_of_absolute, scheme_end,
};
use crate::report::Report;

/// Returns the absolute paths of a word: the word itself, or the text after `=`, `:`, `,`, `@` or
/// an attached short option. Text after `scheme://` belongs to a URL.
pub(crate) fn absolute_in(word: &str) -> Vec<&str> {
    if !word.contains('/') {
        return Vec::new();
    }
    let end = scheme_end(word).map_or(word.len(), |at| at + 1);
    let mut found = Vec::new();
    let mut start = 0;
    for piece in word.get(..end).unwrap_or(word).split_inclusive(['=', ':', ',', '@']) {
        let text = piece.trim_end_matches(['=', ':', ',', '@']);
        let attached = text.strip_prefix('-').filter(|_| start == 0).and_then(|rest| {
            let mut chars = rest.chars();
            let letter = chars.next()?;
            letter.is_ascii_alphabetic().then_some(chars.as_str())
        });
        let path = attached.unwrap_or(text);
        if path.starts_with('/') {
            found.push(path);
        }
        start += piece.len();
    }
    found
}

/// Checks a word that is not code, and returns the number of violations.
pub(crate) fn check_word(word: &str, spot: SourceSpan, report: &mut Report) -> usize {
    // Most words have no character that any test below looks for.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if word != ".." && word.bytes().all(is_plain) {
        return 0;
    }
    let mut wrong: Vec<(PathKind, &str)> =
        absolute_in(word).into_iter().map(|path| (kind_of_absolute(path), path)).collect();
    // An argument may be JSON or a list; there, only paths known to be on the host count.
    if word.contains(['"', '\'', '[', '{', '(', ' ', ';']) {
        let in_path = |c: char| c.is_ascii_alphanumeric() || "._-/~".contains(c);
        let pieces = word.split(|c: char| !in_path(c));
        wrong.extend(pieces.filter_map(|piece| Some((host_kind(piece)?, piece))));
    }
    if word.split(['/', '=', ':', ',']).any(|part| part == "..") || has_traversal(word) {
        wrong.push((PathKind::Traversal, word));
    }
    let home = word.split(['=', ':', ',']).any(is_home);
    if home || has_file_url(word) || word.split(['=', ',']).any(is_windows) {
        wrong.push((PathKind::Host, word));
    }
    wrong.retain(|(kind, _)| *kind != PathKind::Allowed);
    wrong
        .iter()
        .take(REPORTED_PER_LINE_MAX)
        .for_each(|(kind, path)| report_path(*kind, path, spot, report));
    wrong.len()
}

pub(super) fn report_path(kind: PathKind, path: &str, spot: SourceSpan, report: &mut Report) {
    if let Some((code, what)) = kind.violation() {
        let message = format!("command: {} {what}", quote(path));
        report.error_hint(code, spot, message, kind.hint());
    }
}
