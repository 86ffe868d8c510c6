//! Reports YAML that cannot be parsed, with a hint for the usual mistakes.

use serde_yaml::granit_parser::{ErrorKind, ScanError};

use crate::code::Code;
use crate::violation::Violation;

/// Returns the violation of an error of the parser, without its position.
pub(super) fn syntax_violation(error: &ScanError) -> Violation {
    let message = format!("front matter: not valid YAML: {}", error.info());
    let violation = Violation::error(Code::FrontmatterSyntax, message);
    match hint(error.kind()) {
        Some(hint) => violation.hint(hint),
        None => violation,
    }
}

fn hint(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::MappingValueNotAllowed => Some("quote a value that contains `: `"),
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            Some("write `\\\"` for a quotation mark inside double quotes")
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            Some("write `\\\\` for a backslash inside double quotes")
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation => Some("indent with spaces"),
        _ => None,
    }
}
