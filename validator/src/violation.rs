//! A violation: one row of a report, with message, position and hint. It proves nothing, so its
//! fields are public. It must never contain the text of a secret that it reports.

use model::SourceSpan;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::code::Code;

model::closed_set! {
    /// The severity of a violation.
    #[derive(Hash)]
    pub enum Severity {
        /// The file is invalid.
        Error = "error",
        /// Worth a look; the file stays valid.
        Warning = "warning",
    }
}

/// One violation of a rule in a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The stable code.
    pub code: Code,
    /// The severity; an error makes the document invalid.
    pub severity: Severity,
    /// The problem, beginning with its object.
    pub message: String,
    /// The line, from 1; 0 is the whole file.
    pub line: usize,
    /// The column in characters, from 1; 0 is the whole line.
    pub column: usize,
    /// The width in characters; 0 if unknown. For display only, not in the JSON form.
    pub width: usize,
    /// The suggested fix, if any.
    pub hint: Option<String>,
}

impl Violation {
    /// Creates an error, for the whole file until [`Violation::at`].
    #[must_use]
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::row(code, Severity::Error, message.into())
    }

    /// Creates a warning, for the whole file until [`Violation::at`].
    #[must_use]
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::row(code, Severity::Warning, message.into())
    }

    fn row(code: Code, severity: Severity, message: String) -> Self {
        Self { code, severity, message, line: 0, column: 0, width: 0, hint: None }
    }

    /// Sets the line and column, both from 1.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        self.line = line;
        self.column = column;
        self
    }

    /// Sets the position in the document.
    pub(crate) fn within(self, spot: SourceSpan) -> Self {
        Self { width: spot.width, ..self.at(spot.line, spot.column) }
    }

    /// Sets the hint.
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
