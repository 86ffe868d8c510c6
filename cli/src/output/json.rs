//! What several answers for programs have in common: paths, findings and refusals.

use std::path::Path;

use serde_json::{Value, json};
use validator::{Violation, reveal_line};

use super::human;

/// A path as it stands in JSON, where every name must be text.
pub(crate) fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Why a request is not approved, or not promoted.
pub(crate) fn refusal(file: &Path, why: &str, rows: &[Violation]) -> Value {
    json!({
        "request": path(file),
        "refused": reveal_line(why),
        "violations": rows.iter().map(violation).collect::<Vec<_>>(),
    })
}

/// A message may quote what looks like a secret.
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
