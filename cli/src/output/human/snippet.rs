//! One line of a document as a terminal shows it: escaped, tabs as spaces, and of a long line only
//! what stands around the place that is meant. It must never let a character of the document act on
//! the terminal, and its cost must not grow with the length of the line.

use std::ops::Range;

use model::escape_line;

/// Every tab is as wide as this, wherever it stands: a caret below is then as wide everywhere.
const TAB: &str = "    ";

/// Where a line was cut.
const CUT: char = '…';

pub(crate) struct Snippet {
    pub(crate) text: String,
    /// What is meant, in bytes of the text.
    pub(crate) meant: Range<usize>,
}

impl Snippet {
    /// `meant` is in bytes of the line; the text will have at most this many columns.
    pub(crate) fn of(line: &str, meant: Range<usize>, columns: usize) -> Self {
        let (before, rest) = line.split_at(meant.start);
        let (middle, after) = rest.split_at(meant.len());
        let room = columns.saturating_sub(2);
        let middle = Strip::take(middle.chars(), room);
        let beside = room - middle.columns();
        let left = Strip::take(before.chars().rev(), beside);
        let right = Strip::take(if middle.cut { "" } else { after }.chars(), beside);
        let half = beside / 2;
        let for_left = half.max(beside.saturating_sub(right.columns()));
        let for_right = half.max(beside.saturating_sub(left.columns()));
        Self::joined(left.within(for_left), &middle, &right.within(for_right))
    }

    fn joined(left: Strip, middle: &Strip, right: &Strip) -> Self {
        let mut text = String::new();
        text.extend(left.cut.then_some(CUT));
        text.extend(left.pieces.iter().rev().map(|piece| piece.text.as_str()));
        let start = text.len();
        text.extend(middle.pieces.iter().map(|piece| piece.text.as_str()));
        let meant = start..text.len();
        text.extend(right.pieces.iter().map(|piece| piece.text.as_str()));
        text.extend((middle.cut || right.cut).then_some(CUT));
        Self { text, meant }
    }
}

/// A character as it is shown.
struct Piece {
    text: String,
    /// At most as many as this.
    columns: usize,
}

impl Piece {
    fn of(c: char) -> Self {
        let text = match c {
            '\t' => TAB.to_owned(),
            c => escape_line(c.encode_utf8(&mut [0; 4])),
        };
        // Some letters are two columns wide; to cut a line a little early is no harm.
        let columns = if text.is_ascii() { text.len() } else { 2 };
        Self { text, columns }
    }
}

/// As many characters of a text as there was room for.
struct Strip {
    pieces: Vec<Piece>,
    cut: bool,
}

impl Strip {
    fn take(mut chars: impl Iterator<Item = char>, columns: usize) -> Self {
        let (mut pieces, mut used) = (Vec::new(), 0);
        for piece in chars.by_ref().map(Piece::of) {
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

    /// The same, with the far end cut off.
    fn within(mut self, columns: usize) -> Self {
        let mut used = self.columns();
        while used > columns {
            used -= self.pieces.pop().map_or(used, |piece| piece.columns);
            self.cut = true;
        }
        self
    }
}
