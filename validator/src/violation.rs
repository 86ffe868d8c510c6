//! One row of a report: what is wrong, where, and what would help. A row is no proof of anything,
//! so its fields are open; it must never hold the text of a secret it reports.

use model::SourceSpan;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::code::Code;

model::closed_set! {
    /// Whether a violation makes the file invalid.
    #[derive(Hash)]
    pub enum Severity {
        /// The file is invalid.
        Error = "error",
        /// Worth a look; the file stays valid.
        Warning = "warning",
    }
}

/// One thing that is wrong with a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The stable code.
    pub code: Code,
    /// Whether it makes the document invalid.
    pub severity: Severity,
    /// What is wrong, the object first.
    pub message: String,
    /// The line, from 1; 0 is the whole file.
    pub line: usize,
    /// The column in characters, from 1; 0 is the whole line.
    pub column: usize,
    /// How many characters from that column on are meant; 0 where that is not known. It is for
    /// drawing and not part of the JSON form.
    pub width: usize,
    /// What to do about it, where there is something to say.
    pub hint: Option<String>,
}

impl Violation {
    /// A violation that makes the document invalid, of the whole file until [`Violation::at`].
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::row(code, Severity::Error, message.into())
    }

    /// A violation that leaves the document valid, of the whole file until [`Violation::at`].
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::row(code, Severity::Warning, message.into())
    }

    fn row(code: Code, severity: Severity, message: String) -> Self {
        Self { code, severity, message, line: 0, column: 0, width: 0, hint: None }
    }

    /// The same, at this line and column, both from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.line = line;
        self.column = column;
        self
    }

    /// The same, at this place of the document.
    pub(crate) fn within(self, spot: SourceSpan) -> Self {
        Self { width: spot.width, ..self.at(spot.line, spot.column) }
    }

    /// The same, with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Violation", 6)?;
        row.serialize_field("code", &self.code.as_str())?;
        row.serialize_field("severity", self.severity.as_str())?;
        row.serialize_field("message", &self.message)?;
        row.serialize_field("line", &self.line)?;
        row.serialize_field("column", &self.column)?;
        row.serialize_field("hint", &self.hint)?;
        row.end()
    }
}
