//! `/`: the queue, the newest first. Checkboxes select drafts for the page of a batch.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Html;
use maud::{Markup, html};
use spool::PublishedStatus;

use super::actions::{ApproverNames, SELECTION_FORM, obstacle, selection_form};
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::queue::{ListedRequest, ListedState, QueueListing};
use crate::queue_changes::QueueVersion;
use crate::state::{ConsoleState, blocking};
use crate::text;

pub(crate) async fn queue(
    State(console): State<Arc<ConsoleState>>,
) -> Result<Html<String>, PageError> {
    blocking(console, |console| page(console).map(|page| Html(page.into_string()))).await
}

fn page(console: &ConsoleState) -> Result<Markup, PageError> {
    // Before the listing: a change between the two is seen twice, and never missed.
    let version = QueueVersion::read(console).text();
    let listing = QueueListing::read(console);
    let names = ApproverNames::read(console)?;
    let has_drafts = listing.rows.iter().any(ListedRequest::may_be_in_batch);
    let frame = PageFrame::new(PageKind::Queue, "Queue").with_version(&version);
    Ok(frame.page(html! {
        (daemon(listing.status.as_ref()))
        @if listing.rows.is_empty() { p { "Nothing waits." } }
        @if has_drafts {
            (obstacle(console, &names))
            div.actions { (selection_form()) }
        }
        ul.rows {
            @for request in &listing.rows { (row(request)) }
        }
        @if listing.older_drafts > 0 {
            p.quiet { (listing.older_drafts) " older drafts are not listed." }
        }
    }))
}

fn daemon(status: Option<&PublishedStatus>) -> Markup {
    html! {
        @match status {
            None => p.wait { "The daemon has published no status." },
            Some(status) => {
                p.quiet {
                    "The daemon was " (status.state.as_str()) " at " (text::line(&status.at_utc))
                    ", with policy " (text::line(&status.policy.name)) "."
                }
                @if let Some(why) = &status.admission_stopped {
                    p.bad { "It admits nothing: " (text::line(why)) }
                }
            }
        }
    }
}

fn row(request: &ListedRequest) -> Markup {
    let name = text::line(&request.name);
    let is_draft = request.state == ListedState::Draft.as_str();
    let is_held = request.state == ListedState::Held.as_str();
    html! {
        li {
            @if request.may_be_in_batch() {
                input type="checkbox" name="ids" value=(name) form=(SELECTION_FORM)
                    aria-label={ "Select " (name) };
            }
            span.state.wait[is_draft || is_held] { (request.state) }
            span {
                @match request.href() {
                    Some(href) => a href=(href) { (name) },
                    None => (name),
                }
                @for reason in &request.reasons {
                    br;
                    span.quiet { (text::line(reason)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, state: &'static str, reason: &str) -> String {
        let target = name.parse().ok();
        let reasons = vec![reason.to_owned()];
        row(&ListedRequest { name: name.to_owned(), target, state, reasons }).into_string()
    }

    #[test]
    fn a_hostile_file_name_is_text() {
        let page = shown("<script>x", "waiting", "a: <img>\u{202e}");
        assert!(
            page.contains("&lt;script&gt;x") && page.contains("&lt;img&gt;\\u{202e}"),
            "{page}"
        );
        assert!(!page.contains("<script>") && !page.contains("checkbox"), "{page}");
    }

    #[test]
    fn a_draft_has_a_labelled_checkbox_and_a_link() {
        let id = "TR-20260209-160501Z-one";
        let page = shown(id, "draft", "");
        let checkbox = format!("<input type=\"checkbox\" name=\"ids\" value=\"{id}\"");
        assert!(page.contains(&checkbox), "{page}");
        assert!(page.contains(&format!("aria-label=\"Select {id}\"")), "{page}");
        assert!(page.contains(&format!("<a href=\"/requests/{id}\">{id}</a>")), "{page}");
        assert!(!shown(id, "held", "").contains("checkbox"));
    }
}
