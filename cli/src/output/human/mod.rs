//! Findings as text for people: severity, code, message, location, the underlined source line, and
//! the fix. Untrusted text must never be printed unescaped.

mod patch_text;
mod snippet;
pub(crate) mod source;

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use annotate_snippets::renderer::DEFAULT_LINE_NUM_STYLE;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet as Marked};
use model::escape_line;
use validator::{Code, Severity, Violation, withholding_code};

pub(crate) use patch_text::patch_text;

use crate::output;
use crate::output::human::snippet::Snippet;
use crate::output::human::source::{SourceLine, SourceText};
use crate::output::screen::OutputScreen;

/// Limit for people. Machine-readable formats contain all rows.
const ROWS_MAX: usize = 100;

/// Prints violations to stderr, beside the output of a command that is not about them.
pub(crate) fn print_to_stderr(file: &Path, bytes: &[u8], rows: &[Violation]) {
    let text = String::from_utf8_lossy(bytes);
    let report = violations(OutputScreen::of(&io::stderr()), file, &text, rows);
    if !report.is_empty() {
        output::stderr_line(report.trim_end());
    }
}

/// Formats violations in source order. If there are too many, warnings are left out first.
pub(crate) fn violations(
    screen: OutputScreen,
    file: &Path,
    text: &str,
    rows: &[Violation],
) -> String {
    let source = SourceText::new(text, rows);
    let mut shown: Vec<&Violation> = rows.iter().collect();
    shown.sort_by_key(|row| Reverse(row.severity == Severity::Error));
    shown.truncate(ROWS_MAX);
    shown.sort_by_key(|row| (row.line, row.column));
    let mut report = String::new();
    for rows in shown.chunk_by(|one, next| one.line == next.line) {
        let line = rows.first().and_then(|row| source.line(row.line));
        for row in rows {
            report.push_str(&violation(screen, file, line.as_ref(), row));
            report.push_str("\n\n");
        }
    }
    match rows.len().saturating_sub(ROWS_MAX) {
        0 => {}
        more => report.push_str(&format!("… and {more} more\n\n")),
    }
    report
}

/// Formats one violation in the style of rustc.
fn violation(
    screen: OutputScreen,
    file: &Path,
    line: Option<&SourceLine<'_>>,
    row: &Violation,
) -> String {
    let level = match row.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(message(row)).id(row.code.as_str());
    let mut group = Group::with_title(title);
    let gutter = if line.is_some() { row.line.to_string().len() } else { 0 };
    if let Some(line) = line {
        let columns = screen.columns.saturating_sub(gutter + " | ".len());
        let Snippet { text, highlight: meant } =
            Snippet::of(line.readable(), line.readable_span(row), columns);
        let mark = AnnotationKind::Primary.span(meant);
        group = group.element(Marked::source(text).line_start(row.line).annotation(mark));
    }
    if let Some(hint) = hint(row) {
        group = group.element(Level::HELP.message(hint));
    }
    // The line is already cut to the screen, around the marked span.
    let renderer = if screen.colour { Renderer::styled() } else { Renderer::plain() };
    let rendered = renderer.term_width(usize::from(u16::MAX)).render(&[group]);
    let place = place_line(screen, gutter, &place(file, row));
    match rendered.split_once('\n') {
        Some((title, rest)) => {
            let rest = rest.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            format!("{title}\n{place}\n{rest}")
        }
        None => format!("{rendered}\n{place}"),
    }
}

/// Formats the location line. The renderer would count columns of the escaped line.
fn place_line(screen: OutputScreen, gutter: usize, place: &str) -> String {
    let indent = " ".repeat(gutter);
    let style = DEFAULT_LINE_NUM_STYLE;
    match screen.colour {
        true => format!("{indent}{style}--> {style:#}{place}"),
        false => format!("{indent}--> {place}"),
    }
}

fn place(file: &Path, row: &Violation) -> String {
    let file = name(file);
    match (row.line, row.column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

/// Returns the escaped message. The meaning of the code replaces a message that quotes a secret.
pub(crate) fn message(row: &Violation) -> String {
    match withholding_code(&row.message) {
        Some(Code::Secret(_)) => row.code.meaning().to_owned(),
        _ => escape_line(&row.message),
    }
}

/// Returns the escaped help text, which may have several lines.
pub(super) fn hint(row: &Violation) -> Option<String> {
    let hint = row.hint.as_ref()?;
    Some(hint.lines().map(escape_line).collect::<Vec<_>>().join("\n"))
}

/// Returns a path with every character escaped that a terminal would interpret.
pub(crate) fn name(file: &Path) -> String {
    escape_line(&file.to_string_lossy())
}

/// Returns the violation for a file that is too large to be read.
pub(crate) fn too_large(bytes_max: u64) -> Violation {
    let message = format!("file: larger than the limit of {bytes_max} bytes");
    Violation::error(Code::TextTooLarge, message)
}

/// Returns the number of errors and warnings as text.
pub(crate) fn count(violations: &[Violation]) -> String {
    let of = |severity| violations.iter().filter(|v| v.severity == severity).count();
    let words = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    format!("{}, {}", words(of(Severity::Error), "error"), words(of(Severity::Warning), "warning"))
}

pub(crate) fn has_error(violations: &[Violation]) -> bool {
    violations.iter().any(|violation| violation.severity == Severity::Error)
}
