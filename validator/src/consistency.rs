//! Consistency of the sections about files, which the approver reads, with the front matter.

use model::{Sha256, SourceSpan, TextLine, quote};

use crate::code::Code;
use crate::declarations::{Declaration, Declarations, is_tree, path_of};
use crate::outputs::{self, DeclaredOutput};
use crate::report::Report;
use crate::sections::Section;

pub(crate) fn inputs(section: &Section<'_>, declared: &Declarations<Sha256>, report: &mut Report) {
    let Some(declared) = declared else { return };
    let known = DeclarationIndex::of(declared);
    let mut named: Vec<&str> = Vec::new();
    for line in &section.lines {
        let paths = paths_below(line, "/in/");
        named.extend(paths.iter().map(|(path, _)| *path));
        check_digests(line, &paths, &known, report);
        for (path, spot) in undeclared_paths(line, &paths, &known) {
            let message =
                format!("{}: named here, but not declared in `inputs`", quoted_path("/in/", path));
            report.error(Code::InputsUndeclared, spot, message);
        }
    }
    for item in unlisted(declared, &mut named) {
        let message = format!("`/in/{}`: declared, but not listed here", item.path);
        let hint = format!("add a line such as `- /in/{}`", item.path);
        report.error_hint(Code::InputsMissing, section.spot, message, hint);
    }
}

pub(crate) fn outputs(
    section: &Section<'_>,
    declared: &Declarations<DeclaredOutput>,
    report: &mut Report,
) {
    let has_work = outputs::work_folder(declared).is_some();
    let Some(declared) = declared else { return };
    let known = DeclarationIndex::of(declared);
    let mut named: Vec<&str> = Vec::new();
    for line in &section.lines {
        let mut paths = paths_below(line, "/out/");
        named.extend(paths.iter().map(|(path, _)| *path));
        paths.retain(|(path, _)| !has_work || !outputs::is_in_work(path));
        for (path, spot) in undeclared_paths(line, &paths, &known) {
            let message = format!(
                "{}: named here, but not declared in `outputs_expected`",
                quoted_path("/out/", path)
            );
            report.error(Code::OutputsPath, spot, message);
        }
    }
    for item in unlisted(declared, &mut named) {
        let message = format!("`/out/{}`: declared, but not listed here", item.path);
        let hint = format!("add a line such as `- /out/{}`", item.path);
        report.error_hint(Code::OutputsPath, section.spot, message, hint);
    }
}

fn unlisted<'d, T>(
    declared: &'d [Declaration<T>],
    named: &mut Vec<&str>,
) -> Vec<&'d Declaration<T>> {
    named.sort_unstable();
    declared.iter().filter(|item| named.binary_search(&path_of(&item.path)).is_err()).collect()
}

/// The declarations sorted by path, so that a lookup does not scan them all.
struct DeclarationIndex<'d, T>(Vec<&'d Declaration<T>>);

impl<'d, T> DeclarationIndex<'d, T> {
    fn of(declared: &'d [Declaration<T>]) -> Self {
        let mut sorted: Vec<&Declaration<T>> = declared.iter().collect();
        sorted.sort_by(|a, b| path_of(&a.path).cmp(path_of(&b.path)));
        Self(sorted)
    }

    /// Returns every declaration of this path; an invalid request may have several.
    fn of_path(&self, path: &str) -> &[&'d Declaration<T>] {
        let from = self.0.partition_point(|item| path_of(&item.path) < path);
        let rest = self.0.get(from..).unwrap_or_default();
        let length = rest.partition_point(|item| path_of(&item.path) == path);
        rest.get(..length).unwrap_or_default()
    }

    /// Returns whether the path is declared, or is below a declared folder.
    fn covers(&self, path: &str) -> bool {
        let is_folder = |above: &str| self.of_path(above).iter().any(|item| is_tree(&item.path));
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        !self.of_path(path).is_empty()
            || (path.split('/').all(|part| part != "..") && above.any(is_folder))
    }
}

/// Returns the paths below `root` that the line names in any Markdown, with byte offsets.
fn paths_below<'a>(line: &TextLine<'a>, root: &str) -> Vec<(&'a str, usize)> {
    let in_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let mut found = Vec::new();
    for (at, _) in line.text.match_indices(root) {
        let before = line.text.get(..at).and_then(|head| head.chars().next_back());
        if before.is_some_and(in_path) {
            continue;
        }
        let rest = line.text.get(at + root.len()..).unwrap_or("");
        let end = rest.find(|c: char| !in_path(c)).unwrap_or(rest.len());
        // A full stop or a slash after a path ends the sentence, not the name.
        let path = rest.get(..end).unwrap_or("").trim_end_matches(['.', '/']);
        if !path.is_empty() {
            found.push((path, at));
        }
    }
    found
}

fn quoted_path(root: &str, path: &str) -> String {
    quote(&format!("{root}{path}"))
}

/// Returns at most `REPORTED_PER_LINE_MAX` undeclared paths of a line.
fn undeclared_paths<'a, T>(
    line: &TextLine<'_>,
    paths: &[(&'a str, usize)],
    known: &DeclarationIndex<'_, T>,
) -> Vec<(&'a str, SourceSpan)> {
    const REPORTED_PER_LINE_MAX: usize = 50;
    paths
        .iter()
        .filter(|(path, _)| !known.covers(path))
        .take(REPORTED_PER_LINE_MAX)
        .map(|(path, at)| (*path, line.span_at(*at)))
        .collect()
}

/// Reports a digest next to a path that differs from the digest declared for that path.
fn check_digests(
    line: &TextLine<'_>,
    paths: &[(&str, usize)],
    known: &DeclarationIndex<'_, Sha256>,
    report: &mut Report,
) {
    if paths.is_empty() {
        return;
    }
    let words = line.text.split(|c: char| !c.is_ascii_alphanumeric());
    let stated: Vec<(&str, Sha256)> =
        words.filter_map(|word| Some((word, word.parse().ok()?))).collect();
    if stated.is_empty() {
        return;
    }
    let mut named: Vec<&str> = paths.iter().map(|(path, _)| *path).collect();
    named.sort_unstable();
    named.dedup();
    let expected: Option<Vec<Sha256>> =
        named.iter().flat_map(|path| known.of_path(path)).map(|item| item.rest).collect();
    // An unreadable declared digest is reported already; there is nothing to compare with.
    let Some(mut expected) = expected else { return };
    expected.sort_unstable();
    for (word, digest) in stated {
        if expected.binary_search(&digest).is_err() {
            let message = format!("{}: not the digest that `inputs` declares", quote(word));
            report.error(Code::InputsMismatch, SourceSpan::new(line.number, 0), message);
        }
    }
}
