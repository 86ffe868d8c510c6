//! JSON that several commands print: paths, findings and refusals.

use std::path::Path;

use serde_json::{Value, json};
use validator::{Violation, reveal_line};

use super::human;

/// Returns a path as a JSON string. Bytes that are not UTF-8 are replaced.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the reason why a request is not approved or not submitted.
pub(crate) fn refusal(file: &Path, why: &str, rows: &[Violation]) -> Value {
    json!({
        "request": path(file),
        "refused": reveal_line(why),
        "violations": rows.iter().map(violation).collect::<Vec<_>>(),
    })
}

/// Returns a violation. Its message is redacted if it quotes a suspected secret.
pub(crate) fn violation(row: &Violation) -> Value {
    json!({
        "code": row.code.as_str(),
        "severity": row.severity.as_str(),
        "message": human::message(row),
        "line": row.line,
        "column": row.column,
        "hint": human::hint(row),
    })
}
