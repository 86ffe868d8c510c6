//! The violations of a document's check.

use maud::{Markup, html};
use validator::{Severity, Violation};

use crate::text;

/// Limit of shown violations. `toolexec lint` shows all.
const LISTED_MAX: usize = 100;

/// Returns the list of violations, or that there are none.
pub(super) fn list(violations: &[Violation]) -> Markup {
    html! {
        h2 { "Check" }
        @if violations.is_empty() {
            p.good { "The check found nothing." }
        } @else {
            ul.rows {
                @for violation in violations.iter().take(LISTED_MAX) { (row(violation)) }
            }
        }
        @if violations.len() > LISTED_MAX {
            p.quiet { "… and " (violations.len() - LISTED_MAX) " more; see `toolexec lint`" }
        }
    }
}

fn row(violation: &Violation) -> Markup {
    let is_error = violation.severity == Severity::Error;
    html! {
        li {
            span.state.bad[is_error].wait[!is_error] { (violation.severity.as_str()) }
            span {
                @if violation.line > 0 { "line " (violation.line) ": " }
                (text::line(&violation.message))
                @if let Some(hint) = &violation.hint { " Help: " (text::line(hint)) }
                " "
                code.quiet { (violation.code.as_str()) }
            }
        }
    }
}
