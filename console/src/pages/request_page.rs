//! `/requests/ID`: one request. The page of a draft shows every field of the parsed request, and
//! then the text of the drafter as text. A submitted request is known from the daemon's reports
//! only.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};
use model::{RequestId, Sha256};
use policies::ActionTarget;
use spool::{
    HeldRequest, RunningRequest, RunningStep, held_requests, running_requests, waiting_requests,
};

use super::actions::{
    APPROVE, ApproverNames, CANCEL, HOLD, OfferedAction, REJECT, RELEASE, form, obstacle,
};
use super::draft_inputs::PageBudget;
use super::shown_draft::{document_facts, show};
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
            @for order in orders(places.running.as_ref().map(|it| it.step)) {
                (form(order, id, names))
            }
        }
        @if places.running.is_some() {
            h2 { "Output of the tool" }
            p.quiet { "Untrusted text, as it comes." }
            pre id="output" tabindex="0" data-source={ "/requests/" (id) "/output" } {}
            // Separate from the status of the page, which has the messages of actions.
            p id="output-status" role="status" {}
        }
    }
}

/// Returns the orders that have an effect in a step. A request without one waits or is held.
fn orders(step: Option<RunningStep>) -> &'static [&'static OfferedAction] {
    match step {
        None => &[&HOLD, &RELEASE, &CANCEL],
        // A hold takes it back into the queue. A request that is in progress has no hold, so a
        // release would change nothing.
        Some(RunningStep::Claimed | RunningStep::Staging) => &[&HOLD, &CANCEL],
        Some(RunningStep::Running) => &[&CANCEL],
        // Its tool has ended.
        Some(RunningStep::Publishing) => &[],
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
    html! {
        h2 { "Draft" }
        (document_facts(id.as_str(), &Sha256::of(draft)))
        (obstacle(console, names))
        div.actions { (form(&APPROVE, id.as_str(), names)) (form(&REJECT, id.as_str(), names)) }
        (show(console, id, draft, &mut PageBudget::of_one_draft()).markup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(step: Option<RunningStep>) -> Vec<&'static str> {
        orders(step).iter().map(|order| order.kind.as_str()).collect()
    }

    #[test]
    fn an_order_is_offered_in_the_steps_in_which_it_has_an_effect() {
        assert_eq!(kinds(None), ["hold", "release", "cancel"]);
        for step in [RunningStep::Claimed, RunningStep::Staging] {
            assert_eq!(kinds(Some(step)), ["hold", "cancel"], "{step}");
        }
        assert_eq!(kinds(Some(RunningStep::Running)), ["cancel"]);
        assert!(kinds(Some(RunningStep::Publishing)).is_empty());
    }
}
