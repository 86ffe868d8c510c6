//! The files that a result states: paths below /out with digests in the front matter and in `##
//! Outputs`. They must never contradict each other: people read one and programs the other.

use std::collections::BTreeMap;

use model::{Sha256, TextLine, WithSpan, escape_line, quote};

use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::report::Report;

use super::front_matter;

const DIGITS: usize = 64;

/// The digests by path below /out; None for an unreadable digest.
#[derive(Default)]
pub(super) struct Artifacts {
    exact: BTreeMap<String, Option<Sha256>>,
    /// Digests by the unquoted form of the path in text. Two paths can have the same form.
    shown: BTreeMap<String, Vec<Option<Sha256>>>,
}

/// Reads `artifacts`; None if it is missing or a path is unreadable, so nothing can agree with it.
pub(super) fn read(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Artifacts> {
    fields.peek("artifacts")?;
    let mut found = Some(Artifacts::default());
    for (index, node) in fields.list("artifacts", report)?.iter().enumerate() {
        let Some(item) = FrontMatterFields::of(node, format!("artifacts[{index}]."), report) else {
            found = None;
            continue;
        };
        let path = item.text("path", report).and_then(|path| below_out(&item, path, report));
        let digest = front_matter::digest(&item, "sha256", report);
        let (Some(path), Some(known)) = (path, found.as_mut()) else {
            found = None;
            continue;
        };
        known.shown.entry(escaped_path(path.value)).or_default().push(digest);
        if known.exact.insert(path.value.to_owned(), digest).is_some() {
            let message = format!("`artifacts`: {} appears twice", quote(path.value));
            report.error(Code::OutputsDuplicate, path.span, message);
        }
    }
    found
}

fn below_out<'n>(
    item: &FrontMatterFields<'_>,
    path: WithSpan<&'n str>,
    report: &mut Report,
) -> Option<WithSpan<&'n str>> {
    let below = path.value.strip_prefix("/out/").unwrap_or(path.value);
    let parts = || below.split('/');
    let (code, what) = if below.starts_with('/') || parts().any(|part| part == "..") {
        (Code::OutputsOutsideOut, "is outside /out")
    } else if parts().any(|part| part.is_empty() || part == ".") {
        (Code::OutputsPath, "is not a plain path below /out")
    } else if below.chars().any(char::is_control) {
        (Code::OutputsPath, "contains control characters")
    } else {
        return Some(WithSpan { value: below, span: path.span });
    };
    let message = format!("{}: {} {what}", item.name("path"), quote(path.value));
    report.error(code, path.span, message);
    None
}

/// Escapes a path as a line of text shows it, with any characters.
fn escaped_path(path: &str) -> String {
    escape_line(path).replace('\t', "\\t")
}

impl Artifacts {
    /// Checks the digests after paths below /out.
    pub(super) fn check_outputs(&self, lines: &[TextLine<'_>], report: &mut Report) {
        for line in lines {
            let Some((path, at, digest)) = row(line.text) else { continue };
            let stated = self.stated_digests(&path);
            let fits = |stated: &Option<Sha256>| stated.is_none_or(|stated| stated == digest);
            let (message, hint) = match stated {
                stated if stated.iter().any(fits) => continue,
                [] => (
                    format!("`## Outputs`: `artifacts` does not state {}", quote(path.text())),
                    "list it in `artifacts` with its sha256",
                ),
                _ => (
                    format!(
                        "`## Outputs`: not the digest that `artifacts` states for {}",
                        quote(path.text())
                    ),
                    "hash the file again; one of the digests is wrong",
                ),
            };
            let spot = line.span_at(at).with_width(DIGITS);
            report.error_hint(Code::ResultDigest, spot, message, hint);
        }
    }
}

impl Artifacts {
    /// Returns the digests that `artifacts` states for the path of a line.
    fn stated_digests(&self, path: &ArtifactPath<'_>) -> &[Option<Sha256>] {
        match path {
            ArtifactPath::Quoted(path) => self.exact.get(path).map_or(&[], std::slice::from_ref),
            ArtifactPath::Bare(path) => self.shown.get(*path).map_or(&[], Vec::as_slice),
        }
    }
}

/// A path below /out that a line names.
enum ArtifactPath<'a> {
    /// A path as a quoted string.
    Quoted(String),
    /// A path without quotes, with characters escaped.
    Bare(&'a str),
}

impl ArtifactPath<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Quoted(path) => path,
            Self::Bare(path) => path,
        }
    }
}

const ROOT: &str = "/out/";

/// Returns true if a line names a path below /out with its digest.
pub(super) fn has_row(line: &str) -> bool {
    row(line).is_some()
}

/// Returns the path below /out that a line names, and the digest after it with its position.
fn row(line: &str) -> Option<(ArtifactPath<'_>, usize, Sha256)> {
    if let Some((path, end)) = quoted_path(line) {
        let (at, digest) = last_digest(line.get(end..)?)?;
        return Some((ArtifactPath::Quoted(path), end + at, digest));
    }
    let (path, at, digest) = bare_row(line)?;
    Some((ArtifactPath::Bare(path), at, digest))
}

/// Returns the path of a line that names it as a JSON string, and the end of that string.
fn quoted_path(line: &str) -> Option<(String, usize)> {
    const QUOTED_ROOT: &str = "\"/out/";
    let start = line.find(QUOTED_ROOT)?;
    // Elsewhere in a line, a quotation mark is part of the text.
    if !line.get(..start)?.bytes().all(|byte| b" \t-*+|`".contains(&byte)) {
        return None;
    }
    let mut strings = serde_json::Deserializer::from_str(line.get(start..)?).into_iter::<String>();
    let path = strings.next()?.ok()?;
    Some((path.strip_prefix(ROOT)?.to_owned(), start + strings.byte_offset()))
}

fn bare_row(line: &str) -> Option<(&str, usize, Sha256)> {
    let (at, digest) = last_digest(line)?;
    let head = line.get(..at)?;
    let start = head.find(ROOT)?;
    let before = head.get(..start)?.trim_end_matches(' ');
    let fence = before.len() - before.trim_end_matches('`').len();
    let path = head.get(start + ROOT.len()..)?;
    // In a table, the digest has its own column; in a list, it follows a label.
    let path = path.trim_end_matches([' ', '\t', '`', '*', '|', '"', '(']);
    let labelled = path.strip_suffix("sha256:").or_else(|| path.strip_suffix("sha256"));
    let path = match labelled {
        Some(path) => path.trim_end_matches([' ', '\t', '|', ',', '(']),
        None => path.trim_end_matches([' ', ':', '=', '*']),
    };
    let ticks = path.len() - path.trim_end_matches('`').len();
    if fence == 0 || ticks < fence {
        return Some((path, at, digest));
    }
    let path = path.get(..path.len() - fence)?;
    // A code span that begins or ends with a backtick has a blank inside its delimiters.
    Some((path.strip_suffix(' ').unwrap_or(path), at, digest))
}

/// Returns the last word of exactly 64 hexadecimal digits that is not part of a path.
fn last_digest(line: &str) -> Option<(usize, Sha256)> {
    let mut found = None;
    let mut at = 0usize;
    for run in line.split(|c: char| !c.is_ascii_alphanumeric()) {
        let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
        if run.len() == DIGITS
            && before.is_some_and(|byte| b" \t`:|=\"(*".contains(byte))
            && let Ok(digest) = run.parse()
        {
            found = Some((at, digest));
        }
        let end = at + run.len();
        at = end + line.get(end..)?.chars().next().map_or(0, char::len_utf8);
    }
    found
}
