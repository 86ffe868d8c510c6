//! The files that a result states: paths below /out with their digests in the front matter, and
//! the same in `## Outputs`. The two must never contradict each other, for people read one and
//! programs the other.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::digest::Sha256;
use crate::fields::{Fields, Placed};
use crate::report::Report;
use crate::text::{Line, escape_line, quote};

use super::front;

const DIGITS: usize = 64;

/// The digests by path below /out, as text shows it; none where a digest could not be read.
pub(super) struct Artifacts(BTreeMap<String, Option<Sha256>>);

/// Reads `artifacts`; none where it is not there or a path cannot be read, for then nobody knows
/// what the text should agree with.
pub(super) fn read(fields: &Fields<'_>, report: &mut Report) -> Option<Artifacts> {
    fields.peek("artifacts")?;
    let mut found = Some(BTreeMap::new());
    for (index, node) in fields.list("artifacts", report)?.iter().enumerate() {
        let Some(item) = Fields::of(node, format!("artifacts[{index}]."), report) else {
            found = None;
            continue;
        };
        let path = item.text("path", report).and_then(|path| below_out(&item, path, report));
        let digest = front::digest(&item, "sha256", report);
        let (Some(path), Some(known)) = (path, found.as_mut()) else {
            found = None;
            continue;
        };
        if known.insert(as_shown(path.value), digest).is_some() {
            let message = format!("`artifacts`: {} appears twice", quote(path.value));
            report.error(Code::OutputsDuplicate, path.spot, message);
        }
    }
    found.map(Artifacts)
}

fn below_out<'n>(
    item: &Fields<'_>,
    path: Placed<&'n str>,
    report: &mut Report,
) -> Option<Placed<&'n str>> {
    let below = path.value.strip_prefix("/out/").unwrap_or(path.value);
    let parts = || below.split('/');
    let (code, what) = if below.starts_with('/') || parts().any(|part| part == "..") {
        (Code::OutputsOutsideOut, "lies outside /out")
    } else if parts().any(|part| part.is_empty() || part == ".") {
        (Code::OutputsPath, "is no plain path below /out")
    } else if below.chars().any(char::is_control) {
        (Code::OutputsPath, "holds control characters")
    } else {
        return Some(Placed { value: below, spot: path.spot });
    };
    let message = format!("{}: {} {what}", item.name("path"), quote(path.value));
    report.error(code, path.spot, message);
    None
}

/// As a line of text shows a path, whatever characters it has.
fn as_shown(path: &str) -> String {
    escape_line(path).replace('\t', "\\t")
}

impl Artifacts {
    /// Checks the digests that stand behind paths below /out.
    pub(super) fn check_outputs(&self, lines: &[Line<'_>], report: &mut Report) {
        for line in lines {
            let Some((path, at, digest)) = row(line.text) else { continue };
            let (message, hint) = match self.0.get(path) {
                Some(Some(stated)) if *stated != digest => (
                    format!(
                        "`## Outputs`: not the digest that `artifacts` states for {}",
                        quote(path)
                    ),
                    "one of the two is wrong; hash the file again",
                ),
                Some(_) => continue,
                None => (
                    format!("`## Outputs`: `artifacts` does not state {}", quote(path)),
                    "list it there, with its sha256",
                ),
            };
            let spot = line.spot(at).wide(DIGITS);
            report.error_hint(Code::ResultDigest, spot, message, hint);
        }
    }
}

/// The path below /out that a line names, and the digest behind it with its place.
fn row(line: &str) -> Option<(&str, usize, Sha256)> {
    const ROOT: &str = "/out/";
    let (at, digest) = last_digest(line)?;
    let head = line.get(..at)?;
    let start = head.find(ROOT)?;
    let before = head.get(..start)?.trim_end_matches(' ');
    let fence = before.len() - before.trim_end_matches('`').len();
    let path = head.get(start + ROOT.len()..)?;
    // The digest of a table stands in a cell of its own, that of a list behind a word.
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
    // A code span that begins or ends with a backtick has a blank inside its fence.
    Some((path.strip_suffix(' ').unwrap_or(path), at, digest))
}

/// The last word of exactly 64 hexadecimal digits that is no part of a path.
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
