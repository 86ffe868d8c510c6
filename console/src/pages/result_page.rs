//! `/results/ID`: the record of one run, the verdict of its verification, and what the tool left. A
//! record that does not verify is shown with each reason, and nothing of it as a fact.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};
use records::{RecordClaims, Trust, VerifiedRecord, VerifyError};
use serde_json::Value;
use validator::{Severity, check_result};

use super::result_content;
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::result_files::OpenedResult;
use crate::state::{ConsoleState, blocking};
use crate::text::{self, code_row, row};

/// Limit of a result that is verified for a page, in bytes of its artifacts.
const VERIFIED_BYTES_MAX: u64 = 2 << 30;
/// Limit of shown reasons.
const FAULTS_MAX: usize = 100;

/// The verdict about a record.
enum RecordVerdict {
    Verified(Box<VerifiedRecord>),
    Faulty(Vec<VerifyError>),
    /// Nothing was verified, for this reason.
    Unverified(&'static str),
}

pub(crate) async fn result(
    State(console): State<Arc<ConsoleState>>,
    Path(id): Path<String>,
) -> Result<Html<String>, PageError> {
    blocking(console, move |console| Ok(Html(page(console, &id)?.into_string()))).await
}

fn page(console: &ConsoleState, id: &str) -> Result<Markup, PageError> {
    let opened = OpenedResult::open(console, id)?;
    let verdict = verify(console, &opened);
    let violations = check_result(&opened.record, &format!("{}.md", opened.id));
    // The text of an unverified record may imitate one of a run.
    let has_error = violations.iter().any(|it| it.severity == Severity::Error);
    let is_shown = matches!(verdict, RecordVerdict::Verified(_)) || !has_error;
    Ok(PageFrame::new(PageKind::Result, opened.id.as_str()).page(html! {
        (verdict_section(&verdict))
        @if is_shown {
            h2 { (heading(&verdict)) }
            (text::facts(claims(&opened.claims)))
            (recorded_violations(&opened.claims))
            (result_content::sections(&opened))
            (all_facts(&verdict))
        } @else {
            p.bad { "The record is invalid and is not shown; help: run `toolexec verify`." }
        }
    }))
}

fn verify(console: &ConsoleState, opened: &OpenedResult) -> RecordVerdict {
    let Some(trust) = &console.trust.results else {
        return RecordVerdict::Unverified("the console has no keys (--result-keys)");
    };
    let artifacts = opened.claims.artifacts.iter();
    let bytes = artifacts.fold(0_u64, |sum, it| sum.saturating_add(it.size_bytes));
    match bytes > VERIFIED_BYTES_MAX {
        true => RecordVerdict::Unverified("its files are too large for a page"),
        false => verify_with(console, opened, trust),
    }
}

fn verify_with(console: &ConsoleState, opened: &OpenedResult, trust: &Trust) -> RecordVerdict {
    let directory = console.part("results").join(opened.id.as_str());
    match records::verify(&directory, trust) {
        Ok(verified) => RecordVerdict::Verified(Box::new(verified)),
        Err(faults) => RecordVerdict::Faulty(faults),
    }
}

fn heading(verdict: &RecordVerdict) -> &'static str {
    match verdict {
        RecordVerdict::Verified(_) => "Facts",
        _ => "The record states, not verified",
    }
}

fn verdict_section(verdict: &RecordVerdict) -> Markup {
    html! {
        h2 { "Verification" }
        @match verdict {
            RecordVerdict::Verified(verified) => {
                p { span.state.good { "verified" } }
                (verified_facts(verified))
            }
            RecordVerdict::Faulty(faults) => {
                p { span.state.bad { "does not verify" } }
                ul {
                    @for fault in faults.iter().take(FAULTS_MAX) {
                        li { (text::line(&fault.to_string())) }
                    }
                }
            }
            RecordVerdict::Unverified(why) => p { span.state.wait { "not verified" } ": " (why) },
        }
    }
}

fn verified_facts(verified: &VerifiedRecord) -> Markup {
    let log = verified.log().map_or("not checked".to_owned(), |log| {
        format!("entry {} of {} in {}", log.index, log.size, log.origin)
    });
    let mut rows = vec![
        row("Signer", verified.signer_principal()),
        code_row("Key", verified.signer_fingerprint()),
        row("Files hashed", &verified.files_rehashed().to_string()),
        row("Log", &log),
    ];
    rows.extend(verified.standing_checked().map(|it| row("Standing approval", it)));
    for skipped in verified.skipped_checks() {
        rows.push(row("Not checked", &skipped.to_string()));
    }
    text::facts(rows)
}

fn claims(claims: &RecordClaims) -> Vec<(&'static str, Markup)> {
    let request = &claims.request_id;
    let mut rows = vec![
        row("Outcome", &claims.outcome),
        row("Exit code", &claims.exit_code.to_string()),
        row("Created", &claims.created_utc),
        row("Run time", &format!("{} s", claims.runtime_sec)),
        row("Network", &claims.network_used),
        code_row("Request", request),
    ];
    rows.extend(claims.reason.as_deref().map(|reason| row("Reason", reason)));
    rows
}

fn recorded_violations(claims: &RecordClaims) -> Markup {
    html! {
        @if !claims.violations.is_empty() {
            h2 { "Violations of the request" }
            ul {
                @for violation in claims.violations.iter().take(FAULTS_MAX) {
                    li {
                        (text::line(&violation.message)) " "
                        code.quiet { (text::line(&violation.code)) }
                    }
                }
            }
        }
    }
}

/// Returns every fact of a verified record.
fn all_facts(verdict: &RecordVerdict) -> Markup {
    let RecordVerdict::Verified(verified) = verdict else { return html! {} };
    let facts = verified.facts();
    html! {
        @if *facts != Value::Null {
            h2 { "Every fact" }
            details {
                summary { "Show as JSON" }
                (text::lines(format!("{facts:#}").as_bytes()))
            }
        }
    }
}
