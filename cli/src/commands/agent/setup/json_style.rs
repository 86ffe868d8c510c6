//! The layout of a JSON text: an entry is written as the text around it is.

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;

use super::json_text::JsonNode;
use super::model::EditRefusal;

/// The layout of an item.
pub(super) enum JsonStyle {
    /// On one line.
    Compact,
    /// One item a line.
    Pretty {
        /// The indentation of one level.
        unit: String,
        /// The indentation of the item.
        indent: String,
        eol: &'static str,
    },
}

/// Returns the line end of a text.
pub(super) fn eol_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the blanks before a position.
pub(super) fn blanks_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let end = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    before.get(end..).unwrap_or_default()
}

/// Returns the indentation of the line of a position.
pub(super) fn indent_of_line(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let end = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..end).unwrap_or_default()
}

impl JsonStyle {
    /// Returns the style of an item after these blanks.
    pub(super) fn after(blanks: &str, text: &str, root: &JsonNode) -> Self {
        match blanks.rsplit_once('\n') {
            None => Self::Compact,
            Some((_, indent)) => Self::indented(indent, text, root),
        }
    }

    /// Returns the style of an item with this indentation.
    pub(super) fn indented(indent: &str, text: &str, root: &JsonNode) -> Self {
        Self::Pretty { unit: unit_of(text, root), indent: indent.to_owned(), eol: eol_of(text) }
    }

    /// Returns the style of a new file.
    pub(super) fn of_new_file() -> Self {
        Self::Pretty { unit: "  ".to_owned(), indent: String::new(), eol: "\n" }
    }

    /// Returns the text of a value.
    pub(super) fn render(&self, value: &impl Serialize) -> Result<String, EditRefusal> {
        let Self::Pretty { unit, indent, eol } = self else {
            return serde_json::to_string(value).map_err(|_| EditRefusal::bug());
        };
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(unit.as_bytes());
        let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        written.map_err(|_| EditRefusal::bug())?;
        let text = String::from_utf8(bytes).map_err(|_| EditRefusal::bug())?;
        // A line end within a string is written as `\n`.
        Ok(text.replace('\n', &format!("{eol}{indent}")))
    }

    /// Returns the text before a value: its key, or nothing in a list.
    pub(super) fn key(&self, name: Option<&str>) -> String {
        match (name, self) {
            (None, _) => String::new(),
            (Some(name), Self::Compact) => format!("\"{name}\":"),
            (Some(name), Self::Pretty { .. }) => format!("\"{name}\": "),
        }
    }
}

/// Returns the indentation of one level.
pub(super) fn unit_of(text: &str, root: &JsonNode) -> String {
    let first = root.spans().first().map_or("", |span| blanks_before(text, span.start));
    match first.rsplit_once('\n') {
        Some((_, unit)) if !unit.is_empty() => unit.to_owned(),
        _ => "  ".to_owned(),
    }
}
