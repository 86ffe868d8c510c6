//! Findings as text by topic, and as JSON. Untrusted names are escaped for the terminal.

use std::fmt::Write as _;

use model::escape_line;
use serde_json::{Value, json};

use super::finding::{DoctorFinding, FindingVerdict};
use super::model::DoctorSubject;
use crate::output;
use crate::output::screen::OutputScreen;

/// The width of the object column. A longer path shifts only its own line.
const OBJECT_COLUMNS: usize = 18;
const VERDICT_COLUMNS: usize = 13;

pub(super) fn as_text(screen: OutputScreen, findings: &[DoctorFinding]) -> String {
    let mut text = String::new();
    for of_topic in findings.chunk_by(|one, next| one.topic == next.topic) {
        if let Some(first) = of_topic.first() {
            let bold = if screen.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
            push(&mut text, format_args!("{}{}{}", bold.0, first.topic.as_str(), bold.1));
        }
        of_topic.iter().for_each(|finding| one(&mut text, screen, finding));
    }
    let count = |verdict| findings.iter().filter(|it| it.verdict == verdict).count();
    push(
        &mut text,
        format_args!(
            "{} findings: {} failures, {} warnings, {} not looked at",
            findings.len(),
            count(FindingVerdict::Failure),
            count(FindingVerdict::Warning),
            count(FindingVerdict::NotChecked)
        ),
    );
    text
}

fn one(text: &mut String, screen: OutputScreen, finding: &DoctorFinding) {
    let word = format!("{:<VERDICT_COLUMNS$}", finding.verdict.as_str());
    let word =
        if screen.colour { format!("{}{word}\x1b[0m", colour(finding.verdict)) } else { word };
    let (object, found) = (escape_line(&finding.object), escape_line(&finding.found));
    push(text, format_args!("  {word}  {object:<OBJECT_COLUMNS$}  {found}"));
    if let Some(remedy) = &finding.remedy {
        let indent = VERDICT_COLUMNS + 4;
        push(text, format_args!("{:indent$}help: {}", "", escape_line(remedy)));
    }
}

fn colour(verdict: FindingVerdict) -> &'static str {
    match verdict {
        FindingVerdict::Ok => "\x1b[32m",
        FindingVerdict::Warning => "\x1b[33m",
        FindingVerdict::Failure => "\x1b[1;31m",
        FindingVerdict::NotChecked => "\x1b[2m",
    }
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    writeln!(text, "{line}").unwrap_or_default();
}

pub(super) fn as_json(subject: &DoctorSubject, findings: &[DoctorFinding]) -> Value {
    let count = |verdict| findings.iter().filter(|it| it.verdict == verdict).count();
    let config = match subject {
        DoctorSubject::Embedded { .. } => None,
        DoctorSubject::Service { config, .. } => Some(output::path(config)),
    };
    let listed = findings.iter().map(|finding| {
        json!({
            "topic": finding.topic.as_str(),
            "object": finding.object,
            "verdict": finding.verdict.as_str(),
            "found": finding.found,
            "remedy": finding.remedy,
        })
    });
    json!({
        "service": subject.is_service(),
        "config": config,
        "state": subject.state().map(output::path),
        "failures": count(FindingVerdict::Failure),
        "warnings": count(FindingVerdict::Warning),
        "not_checked": count(FindingVerdict::NotChecked),
        "findings": listed.collect::<Vec<_>>(),
    })
}
