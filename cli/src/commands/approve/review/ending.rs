//! The end of a review: the findings, the signatures that are missing, and the verdict.

use validator::{Severity, Violation};

use super::model::ShownFile;
use super::page::ReviewPage;
use crate::output::human;
use crate::output::screen::OutputScreen;

pub(super) fn findings(
    page: &mut ReviewPage,
    shown: ShownFile<'_>,
    rows: &[Violation],
    screen: OutputScreen,
) {
    let body = String::from_utf8_lossy(shown.bytes);
    let found = human::violations(screen, shown.path, &body, rows);
    if !found.is_empty() {
        page.title("Findings");
        page.0.push_str(&found);
    }
}

pub(super) fn missing(page: &mut ReviewPage, pending: &[&Violation]) {
    if pending.is_empty() {
        return;
    }
    page.title("Still missing");
    for row in pending {
        page.line(format_args!("  {}: {}", row.code.as_str(), human::message(row)));
    }
}

pub(super) fn verdict(page: &mut ReviewPage, verdict: &str, rows: &[Violation]) {
    let errors = match rows.iter().filter(|it| it.severity == Severity::Error).count() {
        0 => String::new(),
        1 => " (1 error)".to_owned(),
        more => format!(" ({more} errors)"),
    };
    page.line(format_args!("\n{verdict}{errors}"));
}
