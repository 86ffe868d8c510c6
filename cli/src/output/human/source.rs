//! Lines of a document that may be shown again. A suspected secret must never leave this file
//! readable: reports reach more readers, and are kept longer, than the document.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use model::escape_line;
use validator::{Code, Violation, withholding_code};

/// Replaces a secret. Its length does not depend on the secret's.
const MASK: &str = "********";

/// A range of characters, from 0.
type Columns = Range<usize>;

const WHOLE_LINE: Columns = 0..usize::MAX;

/// A document's text and the ranges that are hidden.
pub(crate) struct SourceText<'a> {
    lines: Vec<&'a str>,
    hidden: BTreeMap<usize, Columns>,
}

impl<'a> SourceText<'a> {
    /// Hides every secret found in the text.
    pub(crate) fn new(text: &'a str, violations: &[Violation]) -> Self {
        // Splits lines as the validator does: a carriage return alone does not end a line.
        let lines: Vec<&str> = text
            .split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
            .map(|line| line.strip_suffix('\r').unwrap_or(line))
            .collect();
        let mut source = Self { lines, hidden: BTreeMap::new() };
        let secrets = violations.iter().filter(|row| matches!(row.code, Code::Secret(_)));
        for row in secrets {
            let columns = match (row.column, row.width) {
                (0, _) => WHOLE_LINE,
                (column, 0) => column - 1..usize::MAX,
                (column, width) => column - 1..(column - 1).saturating_add(width),
            };
            source.hide(row.line, columns);
        }
        source.hide_keys();
        source
    }

    /// Hides a range. The text between several secrets of a line is hidden too.
    fn hide(&mut self, line: usize, columns: Columns) {
        let known = self.hidden.entry(line).or_insert(columns.clone());
        *known = known.start.min(columns.start)..known.end.max(columns.end);
    }

    /// Hides private keys. The validator finds only the first line of a key; the body is hidden up
    /// to the end line, or to the end of the text.
    fn hide_keys(&mut self) {
        let mut inside = false;
        for number in 1..=self.lines.len() {
            let Some(line) = self.lines.get(number - 1).copied() else { return };
            if let Some(at) = line.find("-----BEGIN ")
                && line[at..].contains("PRIVATE KEY")
            {
                inside = true;
                self.hide(number, line[..at].chars().count()..usize::MAX);
            } else if inside {
                self.hide(number, WHOLE_LINE);
            }
            inside &= !line.contains("-----END ");
        }
    }

    /// Returns the line with this number, from 1.
    pub(crate) fn line(&self, number: usize) -> Option<SourceLine<'a>> {
        let text = *self.lines.get(number.checked_sub(1)?)?;
        let hidden = self.hidden.get(&number).cloned();
        // A finding may be missing: the validator reports only the first of a kind on a line, and
        // long reports are cut. Check again, and hide the rest of the line if necessary.
        let rest = hidden.as_ref().map(|columns| columns.start..usize::MAX);
        let has_secret = |line: &SourceLine<'_>| {
            matches!(withholding_code(&line.readable), Some(Code::Secret(_)))
        };
        let tries = [hidden, rest].map(|columns| SourceLine::new(text, columns));
        let kept = tries.into_iter().find(|line| !has_secret(line));
        Some(kept.unwrap_or_else(|| SourceLine::new(text, Some(WHOLE_LINE))))
    }
}

pub(crate) struct SourceLine<'a> {
    text: &'a str,
    hidden: Option<Columns>,
    /// The text with hidden ranges masked.
    readable: Cow<'a, str>,
}

impl<'a> SourceLine<'a> {
    fn new(text: &'a str, hidden: Option<Columns>) -> Self {
        let readable = match &hidden {
            None => Cow::Borrowed(text),
            Some(columns) => {
                let (start, end) = (byte_of(text, columns.start), byte_of(text, columns.end));
                Cow::Owned(format!("{}{MASK}{}", &text[..start], &text[end..]))
            }
        };
        Self { text, hidden, readable }
    }

    pub(crate) fn readable(&self) -> &str {
        &self.readable
    }

    /// Returns the characters that a violation refers to: at least one, unless the line is empty.
    pub(crate) fn span(&self, row: &Violation) -> Columns {
        let Some(start) = row.column.checked_sub(1) else {
            let indent = self.text.chars().take_while(|c| c.is_whitespace()).count();
            let end = self.text.trim_end().chars().count();
            return indent.min(end)..end;
        };
        let rest = &self.text[byte_of(self.text, start)..];
        let width = if row.width == 0 { default_width(rest) } else { row.width };
        let width = rest.chars().take(width).count();
        // A position behind the end marks where something is missing.
        let start = if rest.is_empty() { self.text.chars().count() } else { start };
        start..start + width
    }

    /// Returns the same range in bytes of the readable text.
    pub(super) fn readable_span(&self, row: &Violation) -> Range<usize> {
        let meant = self.span(row);
        let (text, readable) = (self.text, self.readable.as_ref());
        let Some(hidden) = &self.hidden else {
            return byte_of(text, meant.start)..byte_of(text, meant.end);
        };
        let mask = byte_of(text, hidden.start);
        let behind = |column| readable.len() - (text.len() - byte_of(text, column));
        let start = match meant.start {
            column if column < hidden.start => byte_of(text, column),
            column if column < hidden.end => mask,
            column => behind(column),
        };
        let end = match meant.end {
            column if column <= hidden.start => byte_of(text, column),
            column if column <= hidden.end => mask + MASK.len(),
            column => behind(column),
        };
        // A line that is hidden to its end has its end behind the mask.
        start.min(end)..end
    }
}

/// Returns how many leading characters a violation without a width refers to: an operator, an
/// invisible character, or a word with its quotes. At least one.
fn default_width(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let unseen = |c: char| escape_line(c.encode_utf8(&mut [0; 4])).chars().nth(1).is_some();
    let operator = |c: char| matches!(c, '|' | '&' | ';' | '<' | '>');
    let more = match first {
        c if unseen(c) => 0,
        c if operator(c) => chars.take_while(|&c| operator(c)).count(),
        quote @ ('"' | '\'') => {
            let inner = chars.by_ref().take_while(|&c| c != quote).count();
            // The closing quote was consumed, if the text has one.
            inner + usize::from(text.chars().nth(inner + 1).is_some())
        }
        // Covers a code fence as well as `code`.
        '`' => chars.take_while(|c| !c.is_whitespace()).count(),
        _ => {
            let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`') || unseen(c);
            chars.take_while(|&c| !ends(c)).count()
        }
    };
    more + 1
}

/// Returns the byte offset of a column, or the end of a shorter text.
fn byte_of(text: &str, column: usize) -> usize {
    if text.is_ascii() {
        return column.min(text.len());
    }
    text.char_indices().nth(column).map_or(text.len(), |(at, _)| at)
}
