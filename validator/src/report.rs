//! Collects violations. It may drop some of hostile input, but must never forget an error.

use model::SourceSpan;

use crate::code::Code;
use crate::secrets;
use crate::violation::{Severity, Violation};

/// Enough for any honest document, and a bound on the report for a hostile one.
const VIOLATIONS_MAX: usize = 500;

#[derive(Default)]
pub(crate) struct Report {
    errors: Vec<Violation>,
    warnings: Vec<Violation>,
    failed: bool,
}

impl Report {
    pub(crate) fn add(&mut self, violation: Violation) {
        let rows = match violation.severity {
            Severity::Error => {
                self.failed = true;
                &mut self.errors
            }
            Severity::Warning => &mut self.warnings,
        };
        if rows.len() < VIOLATIONS_MAX {
            rows.push(violation);
        }
    }

    pub(crate) fn error(&mut self, code: Code, spot: SourceSpan, message: impl Into<String>) {
        self.add(Violation::error(code, message).within(spot));
    }

    pub(crate) fn error_hint(
        &mut self,
        code: Code,
        spot: SourceSpan,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add(Violation::error(code, message).within(spot).hint(hint));
    }

    pub(crate) fn warning(&mut self, code: Code, spot: SourceSpan, message: impl Into<String>) {
        self.add(Violation::warning(code, message).within(spot));
    }

    /// Returns true if further errors would be dropped, so their messages need not be formatted.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= VIOLATIONS_MAX
    }

    /// Returns true if further warnings would be dropped.
    pub(crate) fn has_enough_warnings(&self) -> bool {
        self.warnings.len() >= VIOLATIONS_MAX
    }

    /// Returns true if any error was added, even if it was dropped.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    /// Returns the violations by position, without warnings that repeat a code on their line.
    pub(crate) fn into_rows(self) -> Vec<Violation> {
        let mut rows = self.errors;
        rows.extend(self.warnings);
        rows.sort_by_cached_key(|row| {
            (row.line, row.code.as_str(), row.severity == Severity::Warning, row.column)
        });
        rows.dedup_by(|later, first| {
            let repeated = later.message == first.message || later.severity == Severity::Warning;
            repeated && later.code == first.code && later.line == first.line
        });
        rows.sort_by_cached_key(|row| (row.line, row.column, row.code.as_str()));
        rows.iter_mut().for_each(redact_secret);
        rows
    }
}

/// Replaces a message that contains a secret by its code's meaning: any message may quote the text.
fn redact_secret(row: &mut Violation) {
    let has_secret = |text: &str| !secrets::find_in_text(text).is_empty();
    if has_secret(&row.message) {
        row.message = row.code.meaning().to_owned();
    }
    if row.hint.as_deref().is_some_and(has_secret) {
        row.hint = None;
    }
}
