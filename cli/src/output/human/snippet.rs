//! A document's line for a terminal: escaped, tabs as spaces, cut around the marked span. No
//! character may act on the terminal. The cost must not grow with the length of the line.

use std::ops::Range;

use model::escape_line;

/// Tabs have this fixed width everywhere, so that the caret line below aligns.
const TAB: &str = "    ";

const CUT: char = '…';

pub(crate) struct Snippet {
    pub(crate) text: String,
    /// The span to underline, in bytes of `text`.
    pub(crate) highlight: Range<usize>,
}

impl Snippet {
    /// Cuts a line to at most `columns` columns. `highlight` is in bytes of `line`.
    pub(crate) fn of(line: &str, meant: Range<usize>, columns: usize) -> Self {
        let (before, rest) = line.split_at(meant.start);
        let (middle, after) = rest.split_at(meant.len());
        let free = columns.saturating_sub(2);
        let middle = SnippetPart::take(middle.chars(), free);
        let beside = free - middle.columns();
        let left = SnippetPart::take(before.chars().rev(), beside);
        let right = SnippetPart::take(if middle.cut { "" } else { after }.chars(), beside);
        let half = beside / 2;
        let for_left = half.max(beside.saturating_sub(right.columns()));
        let for_right = half.max(beside.saturating_sub(left.columns()));
        Self::joined(left.within(for_left), &middle, &right.within(for_right))
    }

    fn joined(left: SnippetPart, middle: &SnippetPart, right: &SnippetPart) -> Self {
        let mut text = String::new();
        text.extend(left.cut.then_some(CUT));
        text.extend(left.pieces.iter().rev().map(|piece| piece.text.as_str()));
        let start = text.len();
        text.extend(middle.pieces.iter().map(|piece| piece.text.as_str()));
        let meant = start..text.len();
        text.extend(right.pieces.iter().map(|piece| piece.text.as_str()));
        text.extend((middle.cut || right.cut).then_some(CUT));
        Self { text, highlight: meant }
    }
}

/// A character as shown on the terminal.
struct SnippetChar {
    text: String,
    /// An upper bound.
    columns: usize,
}

impl SnippetChar {
    fn of(c: char) -> Self {
        let text = match c {
            '\t' => TAB.to_owned(),
            c => escape_line(c.encode_utf8(&mut [0; 4])),
        };
        // Some letters are two columns wide. Cutting a line a little early does no harm.
        let columns = if text.is_ascii() { text.len() } else { 2 };
        Self { text, columns }
    }
}

/// The characters of a text that fit into a number of columns.
struct SnippetPart {
    pieces: Vec<SnippetChar>,
    cut: bool,
}

impl SnippetPart {
    fn take(mut chars: impl Iterator<Item = char>, columns: usize) -> Self {
        let (mut pieces, mut used) = (Vec::new(), 0);
        for piece in chars.by_ref().map(SnippetChar::of) {
            used += piece.columns;
            if used > columns {
                return Self { pieces, cut: true };
            }
            pieces.push(piece);
        }
        Self { pieces, cut: false }
    }

    fn columns(&self) -> usize {
        self.pieces.iter().map(|piece| piece.columns).sum()
    }

    /// Returns the same part, cut at its far end.
    fn within(mut self, columns: usize) -> Self {
        let mut used = self.columns();
        while used > columns {
            used -= self.pieces.pop().map_or(used, |piece| piece.columns);
            self.cut = true;
        }
        self
    }
}
