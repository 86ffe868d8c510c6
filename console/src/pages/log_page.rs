//! `/log`: the head of the transparency log. Auditors compare it with their own copy.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};
use records::log::{LogError, LogView, PublicLogKey};

use crate::beneath::{open_directory, read_file};
use crate::documents::unreadable;
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};
use crate::text::{self, code_row, row};

/// Sufficient for the signatures of many witnesses.
const NOTE_BYTES_MAX: usize = 64 * 1024;

pub(crate) async fn log(
    State(console): State<Arc<ConsoleState>>,
) -> Result<Html<String>, PageError> {
    blocking(console, |console| Ok(Html(page(console)?.into_string()))).await
}

fn page(console: &ConsoleState) -> Result<Markup, PageError> {
    let content = match verified_head(console) {
        Some(Ok((key, view))) => verified(key, &view),
        Some(Err(error)) => {
            html! { p.bad { "The log does not verify: " (text::line(&error.to_string())) } }
        }
        None => unverified(console)?,
    };
    Ok(PageFrame::new(PageKind::Log, "Log").page(content))
}

/// Opens the log with the first key that fits; `None` without keys.
fn verified_head(console: &ConsoleState) -> Option<Result<(&PublicLogKey, LogView), LogError>> {
    let directory = console.part("log");
    let mut last = None;
    for key in &console.trust.logs {
        match LogView::open(&directory, key) {
            Ok(view) => return Some(Ok((key, view))),
            Err(error) => last = Some(Err(error)),
        }
    }
    last
}

fn verified(key: &PublicLogKey, view: &LogView) -> Markup {
    let head = view.head();
    html! {
        p { span.state.good { "signed by the key of the log" } }
        (text::facts(vec![
            row("Log", key.origin().as_str()),
            row("Entries", &head.size().to_string()),
            code_row("Root", &head.root().to_string()),
            code_row("Key", &key.id().to_string()),
        ]))
        h2 { "Checkpoint" }
        (text::lines(head.note().as_bytes()))
    }
}

fn unverified(console: &ConsoleState) -> Result<Markup, PageError> {
    let note = match open_directory(&console.part("log")) {
        Ok(log) => read_file(&log, "checkpoint", NOTE_BYTES_MAX),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let note = note.map_err(|error| unreadable("The log", &error))?;
    Ok(html! {
        p.wait { "Not verified: the console has no key of the log (--log-key)." }
        @match &note {
            Some(note) => {
                h2 { "Checkpoint" }
                (text::lines(note))
            }
            None => p { "The spool has no log yet." },
        }
    })
}
