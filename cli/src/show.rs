//! How findings look to a person: place, severity, code, message, hint; text from outside escaped.

use std::path::Path;

use validator::{Code, Severity, Violation, escape_line};

/// One violation, in the manner of compilers.
pub(crate) fn violation(file: &Path, violation: &Violation) -> String {
    let place = match (violation.line, violation.column) {
        (0, _) => file.display().to_string(),
        (line, 0) => format!("{}:{line}", file.display()),
        (line, column) => format!("{}:{line}:{column}", file.display()),
    };
    let (severity, code) = (violation.severity.as_str(), violation.code.as_str());
    let mut text = format!("{place}: {severity}[{code}]: {}", escape_line(&violation.message));
    if let Some(hint) = &violation.hint {
        text.push_str("\n  hint: ");
        text.push_str(&escape_line(hint));
    }
    text
}

/// What is said of a file that is not read because of its size.
pub(crate) fn too_large(bytes_max: u64) -> Violation {
    let message = format!("file: larger than {bytes_max} bytes, the limit");
    Violation::error(Code::TextTooLarge, message)
}

/// How many of each, in words.
pub(crate) fn count(violations: &[Violation]) -> String {
    let of = |severity| violations.iter().filter(|v| v.severity == severity).count();
    let words = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    };
    format!("{}, {}", words(of(Severity::Error), "error"), words(of(Severity::Warning), "warning"))
}

pub(crate) fn has_error(violations: &[Violation]) -> bool {
    violations.iter().any(|violation| violation.severity == Severity::Error)
}

/// The wall clock, whole seconds.
pub(crate) fn now() -> validator::UtcTime {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    validator::UtcTime::from_unix(i64::try_from(since).unwrap_or(i64::MAX))
}
