//! Positions in a document, for messages only, and its lines. Never slice a text by a position.

/// A position in a document: line, column and width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceSpan {
    /// The line, from 1; zero for the whole document.
    pub line: usize,
    /// The column in characters, from 1; zero for the whole line.
    pub column: usize,
    /// The width in characters; zero if unknown.
    pub width: usize,
}

impl SourceSpan {
    /// The document as a whole.
    pub const WHOLE_FILE: Self = Self { line: 0, column: 0, width: 0 };

    /// Returns a position of unknown width.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        Self { line, column, width: 0 }
    }

    /// Returns the position with a width in characters.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        Self { width, ..self }
    }
}

/// A value and its position in the document.
#[derive(Clone, Copy, Debug)]
pub struct WithSpan<T> {
    /// The value.
    pub value: T,
    /// Its position.
    pub span: SourceSpan,
}

/// A line of a document without its line ending.
#[derive(Clone, Copy, Debug)]
pub struct TextLine<'a> {
    /// The line number, from 1.
    pub number: usize,
    /// The offset of the line in bytes from the start of the document.
    pub offset: usize,
    /// The text of the line.
    pub text: &'a str,
}

impl TextLine<'_> {
    /// Returns the position of the character that begins at this byte of the line.
    #[must_use]
    pub fn span_at(&self, byte: usize) -> SourceSpan {
        let before = self.text.get(..byte).unwrap_or(self.text);
        SourceSpan::new(self.number, before.chars().count() + 1)
    }
}

/// Returns the lines of a document. A carriage return before the line feed is not part of the line.
#[must_use]
pub fn lines(text: &str) -> Vec<TextLine<'_>> {
    each_line(text).collect()
}

/// Iterates over the lines of a document.
pub fn each_line(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut offset = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, piece)| {
        let line = piece.strip_suffix('\n').unwrap_or(piece);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let begin = offset;
        offset += piece.len();
        TextLine { number: index + 1, offset: begin, text: line }
    })
}
