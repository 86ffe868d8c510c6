//! Positions in a document, and its lines. A position is for messages; nothing may slice a text by it.

/// A position in a document: line and column from 1, zero for "as a whole", and the number of
/// characters that are meant, zero if unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceSpan {
    /// From 1; zero for the whole document.
    pub line: usize,
    /// In characters, from 1; zero for the whole line.
    pub column: usize,
    /// In characters; zero if unknown.
    pub width: usize,
}

impl SourceSpan {
    /// The document as a whole.
    pub const WHOLE_FILE: Self = Self { line: 0, column: 0, width: 0 };

    /// A position of unknown width.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        Self { line, column, width: 0 }
    }

    /// The same position with a width in characters.
    #[must_use]
    pub fn wide(self, width: usize) -> Self {
        Self { width, ..self }
    }
}

/// A value and its position in the document.
#[derive(Clone, Copy, Debug)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its position.
    pub spot: SourceSpan,
}

/// A line of a document without its line ending.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Where the line begins, in bytes from the start of the document.
    pub offset: usize,
    /// Its text.
    pub text: &'a str,
}

impl Line<'_> {
    /// The position of the character that begins at this byte of the line.
    #[must_use]
    pub fn spot(&self, byte: usize) -> SourceSpan {
        let before = self.text.get(..byte).unwrap_or(self.text);
        SourceSpan::new(self.number, before.chars().count() + 1)
    }
}

/// The lines of a document; a carriage return before the line feed is not part of the line.
#[must_use]
pub fn lines(text: &str) -> Vec<Line<'_>> {
    each_line(text).collect()
}

/// The lines of a document, one by one.
pub fn each_line(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, piece)| {
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begin = offset;
        offset += piece.len();
        Line { number: index + 1, offset: begin, text: line }
    })
}
