//! `/requests/ID`: one request. The page of a draft shows every field of the parsed request, and
//! then the text of the drafter as text. A submitted request is known from the daemon's reports
//! only.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};
use model::{RequestId, Sha256, UtcTime, digest_words};
use policies::ActionTarget;
use spool::{HeldRequest, RunningRequest, held_requests, running_requests, waiting_requests};
use validator::{
    Draft, DraftCheck, FileLocation, OwnerUid, REQUEST_BYTES_MAX, Request, Violation,
    fill_placeholder_approval,
};

use super::actions::{APPROVE, ApproverNames, CANCEL, HOLD, REJECT, RELEASE, form, obstacle};
use super::{draft_inputs, listed_violations, request_facts};
use crate::clock;
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};
use crate::text::{self, row};

/// The places where the spool has a request.
struct RequestPlaces {
    id: RequestId,
    draft: Option<Vec<u8>>,
    is_waiting: bool,
    held: Option<HeldRequest>,
    running: Option<RunningRequest>,
    /// The ids of its results, the oldest first.
    results: Vec<String>,
}

impl RequestPlaces {
    /// Reads the places in the order in which a request moves.
    fn read(console: &ConsoleState, id: RequestId) -> Result<Self, PageError> {
        let file = format!("{id}.md");
        let draft = console.draft(&ActionTarget::Request(id.clone()))?;
        let is_waiting = waiting_requests(&console.spool).iter().any(|it| it.file == file);
        let held = held_requests(&console.spool).remove(&file);
        let running = running_requests(&console.spool).remove(id.as_str());
        let results = console.result_ids()?.into_iter().map(|it| it.to_string());
        let is_mine = |it: &String| records::request_of(it) == Some(id.as_str());
        let results = results.filter(is_mine).collect();
        Ok(Self { id, draft, is_waiting, held, running, results })
    }

    fn is_submitted(&self) -> bool {
        self.is_waiting || self.held.is_some() || self.running.is_some()
    }

    fn is_known(&self) -> bool {
        self.draft.is_some() || self.is_submitted() || !self.results.is_empty()
    }
}

pub(crate) async fn request(
    State(console): State<Arc<ConsoleState>>,
    Path(id): Path<String>,
) -> Result<Html<String>, PageError> {
    let id: RequestId = id.parse().map_err(|_| PageError::missing())?;
    blocking(console, move |console| page(console, id).map(|page| Html(page.into_string()))).await
}

fn page(console: &ConsoleState, id: RequestId) -> Result<Markup, PageError> {
    let places = RequestPlaces::read(console, id)?;
    if !places.is_known() {
        return Err(PageError::missing());
    }
    let names = ApproverNames::read(console)?;
    let frame = PageFrame::new(PageKind::Request, places.id.as_str()).with_actions();
    Ok(frame.page(html! {
        (results(&places.results))
        @if places.is_submitted() { (submitted(&places, &names)) }
        @if let Some(draft) = &places.draft {
            (draft_sections(console, &places.id, draft, &names))
        }
    }))
}

fn results(ids: &[String]) -> Markup {
    html! {
        @if !ids.is_empty() {
            h2 { "Results" }
            ul { @for id in ids { li { a href={ "/results/" (id) } { (id) } } } }
        }
    }
}

/// Returns the state of a submitted request, its orders, and its output while it runs.
fn submitted(places: &RequestPlaces, names: &ApproverNames) -> Markup {
    let id = places.id.as_str();
    html! {
        h2 { "State, as the daemon reports it" }
        (text::facts(state_rows(places)))
        @if let Some(held) = &places.held {
            ul {
                @for reason in &held.waits_for {
                    li { (text::line(&reason.message)) " " code.quiet { (text::line(&reason.code)) } }
                }
            }
        }
        div.actions {
            @if places.running.is_none() {
                (form(&HOLD, id, names))
                (form(&RELEASE, id, names))
            }
            (form(&CANCEL, id, names))
        }
        @if places.running.is_some() {
            h2 { "Output of the tool" }
            p.quiet { "Untrusted text, as it comes." }
            pre id="output" tabindex="0" data-source={ "/requests/" (id) "/output" } {}
        }
    }
}

fn state_rows(places: &RequestPlaces) -> Vec<(&'static str, Markup)> {
    if let Some(running) = &places.running {
        let mut rows = vec![
            row("Step", running.step.as_str()),
            row("Since", &running.step_since_utc),
            row("Submitter", running.submitter.as_deref().unwrap_or("unknown")),
        ];
        let limit = running.time_sec_max.map(|it| format!("{it} s"));
        rows.extend(limit.map(|limit| row("Time limit", &limit)));
        return rows;
    }
    match &places.held {
        Some(held) => vec![
            row("Step", "held"),
            row("Since", &held.since_utc),
            row("Refused without an answer at", &held.until_utc),
        ],
        None => vec![row("Step", "waiting")],
    }
}

fn draft_sections(
    console: &ConsoleState,
    id: &RequestId,
    draft: &[u8],
    names: &ApproverNames,
) -> Markup {
    let sha256 = Sha256::of(draft);
    let (violations, request) = check(id, draft, clock::now());
    html! {
        h2 { "Draft" }
        (document_facts(&sha256))
        (obstacle(console, names))
        div.actions { (form(&APPROVE, id.as_str(), names)) (form(&REJECT, id.as_str(), names)) }
        (listed_violations::list(&violations))
        @if let Some(request) = &request {
            (request_facts::sections(request))
            (draft_inputs::section(console, id, request))
        }
        h2 { "The whole document, as text" }
        p.quiet { "An agent may have written it. Nothing in it is an instruction to you." }
        (text::lines(draft))
    }
}

/// Returns the digest of a document, and its words to compare with another screen.
pub(super) fn document_facts(sha256: &Sha256) -> Markup {
    html! {
        dl {
            dt { "SHA-256" }
            dd { code id="document-digest" { (sha256) } }
            dt { "Six words" }
            dd { span.words { (digest_words(sha256).join(" ")) } }
        }
    }
}

/// Checks a draft as if it were approved now, because a draft has no approval yet. Returns the
/// request if no violation is an error.
fn check(id: &RequestId, draft: &[u8], now: UtcTime) -> (Vec<Violation>, Option<Request>) {
    let filled = fill_placeholder_approval(draft, now).map(|it| it.bytes).ok();
    // A file within the limit may exceed it when its approval is filled in.
    let filled = filled.filter(|bytes| bytes.len() <= REQUEST_BYTES_MAX);
    let bytes = filled.unwrap_or_else(|| draft.to_vec());
    match Draft::new(bytes, &format!("{id}.md"), OwnerUid::new(0)) {
        Ok(draft) => {
            let DraftCheck { violations, verdict } = draft.check(FileLocation::Spool, now);
            (violations, verdict.ok())
        }
        Err(_) => (Vec::new(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_draft_is_text() {
        let hostile = "---\npurpose: \"<script>alert(1)</script>\"\n---\n# <img src=x onerror=y>\n";
        let id: RequestId = "TR-20260209-160501Z-hostile".parse().unwrap();
        let (violations, request) = check(&id, hostile.as_bytes(), id.date());
        assert!(request.is_none() && !violations.is_empty());
        let page = html! {
            (listed_violations::list(&violations))
            (text::lines(hostile.as_bytes()))
        };
        let page = page.into_string();
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }

    #[test]
    fn a_document_has_its_digest_and_words() {
        let shown = document_facts(&Sha256::of(b"")).into_string();
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert!(
            shown.contains(&format!("<code id=\"document-digest\">{digest}</code>")),
            "{shown}"
        );
        assert_eq!(digest_words(&Sha256::of(b"")).len(), 6);
    }
}
