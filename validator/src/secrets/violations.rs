//! The violations that report a secret. They must never repeat its text.

use model::SourceSpan;

use super::search::{FoundSecret, PASSWORD, secret_kinds};
use crate::code::Code;
use crate::report::Report;
use crate::violation::{Severity, Violation};

/// Reports a secret; a secret that only words suggest is a warning.
pub(crate) fn report(found: &FoundSecret, spot: SourceSpan, report: &mut Report) {
    let looks = if found.sure { "is" } else { "looks like" };
    report_as(found.kind, looks, spot, report);
}

/// Reports the value of an option such as `--password`.
pub(crate) fn report_password(spot: SourceSpan, report: &mut Report) {
    report_as(PASSWORD, "looks like", spot, report);
}

fn report_as(kind: &'static str, looks: &str, spot: SourceSpan, report: &mut Report) {
    let known = secret_kinds().iter().find(|it| it.name == kind);
    let what = known.map_or("a secret", |it| it.what);
    let severity = known.map_or(Severity::Error, |it| it.severity);
    let message = match severity {
        Severity::Error => format!("text: this {looks} {what}"),
        Severity::Warning => format!("text: this may be {what}"),
    };
    let hint = "remove it and replace the secret; it counts as disclosed";
    let row = Violation { severity, ..Violation::error(Code::Secret(kind), message) };
    report.add(row.within(spot).hint(hint));
}
