//! `/standing`: the standing approvals that the daemon published and those that are drafts, and
//! `/standing/ID`: the terms and the uses of one.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};
use model::{Sha256, StandingId};
use policies::ActionTarget;
use spool::{PublishedUses, clock};
use validator::StandingApproval;

use super::actions::{APPROVE, ApproverNames, REJECT, REVOKE, form, obstacle};
use super::shown_draft::document_facts;
use super::{listed_violations, standing_terms};
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};
use crate::text;

/// Limit of published standing approvals whose terms are listed.
const LISTED_MAX: usize = 500;

pub(crate) async fn standing_list(
    State(console): State<Arc<ConsoleState>>,
) -> Result<Html<String>, PageError> {
    blocking(console, |console| Ok(Html(list(console)?.into_string()))).await
}

pub(crate) async fn standing(
    State(console): State<Arc<ConsoleState>>,
    Path(id): Path<String>,
) -> Result<Html<String>, PageError> {
    let id: StandingId = id.parse().map_err(|_| PageError::missing())?;
    blocking(console, move |console| Ok(Html(page(console, &id)?.into_string()))).await
}

fn list(console: &ConsoleState) -> Result<Markup, PageError> {
    let mut published = Vec::new();
    for id in console.published_standing_ids().into_iter().take(LISTED_MAX) {
        // The daemon may have removed a file since it was listed.
        let bytes = console.published_standing(&id)?;
        published.extend(bytes.and_then(|bytes| published_row(console, &id, &bytes)));
    }
    let mut drafts = console.draft_targets();
    drafts.retain(|target| matches!(target, ActionTarget::Standing(_)));
    drafts.sort_unstable();
    Ok(PageFrame::new(PageKind::Standing, "Standing approvals").page(html! {
        h2 { "Usable now" }
        @if published.is_empty() { p { "None." } }
        ul.rows { @for row in published { (row) } }
        h2 { "Drafts" }
        @if drafts.is_empty() { p { "None." } }
        ul.rows {
            @for target in drafts.iter().rev() {
                li {
                    span.state.wait { "draft" }
                    a href={ "/standing/" (target) } { (target) }
                }
            }
        }
    }))
}

/// Returns `None` for a file that is not a standing approval of this id.
fn published_row(console: &ConsoleState, id: &StandingId, bytes: &[u8]) -> Option<Markup> {
    let name = format!("{id}.md");
    let standing = StandingApproval::read_recorded(bytes, &name, clock::now()).ok()?;
    let terms = standing.terms();
    let uses = console.published_uses(id, &standing.sha256());
    Some(html! {
        li {
            span.state.good { "usable" }
            span {
                a href={ "/standing/" (id) } { (id) }
                br;
                (text::line(&terms.purpose))
                br;
                span.quiet {
                    "for " (text::line(&terms.agents.join(", "))) ", "
                    (use_count(uses.as_ref(), terms.uses_max)) ", until " (terms.not_after)
                }
            }
        }
    })
}

/// Returns the uses so far, and the most that are permitted.
fn use_count(uses: Option<&PublishedUses>, uses_max: u64) -> String {
    match uses {
        Some(PublishedUses { uses, .. }) => format!("{uses} of {uses_max} uses"),
        None => format!("at most {uses_max} uses"),
    }
}

fn page(console: &ConsoleState, id: &StandingId) -> Result<Markup, PageError> {
    let target = ActionTarget::Standing(id.clone());
    let (draft, published) = (console.draft(&target)?, console.published_standing(id)?);
    if draft.is_none() && published.is_none() {
        return Err(PageError::missing());
    }
    let names = ApproverNames::read(console)?;
    let frame = PageFrame::new(PageKind::Standing, id.as_str()).with_actions();
    Ok(frame.page(html! {
        @if let Some(bytes) = &published {
            h2 { "Usable now, as the daemon published it" }
            (document_facts(id.as_str(), &Sha256::of(bytes)))
            (obstacle(console, &names))
            div.actions { (form(&REVOKE, id.as_str(), &names)) }
            (uses_section(console, id, bytes))
            (published_terms(id, bytes))
            (document(bytes))
        }
        @if let (Some(bytes), None) = (&draft, &published) {
            h2 { "Draft" }
            (document_facts(id.as_str(), &Sha256::of(bytes)))
            (obstacle(console, &names))
            div.actions {
                (form(&APPROVE, id.as_str(), &names))
                (form(&REJECT, id.as_str(), &names))
            }
            (draft_terms(id, bytes))
            (document(bytes))
        }
    }))
}

fn uses_section(console: &ConsoleState, id: &StandingId, bytes: &[u8]) -> Markup {
    let sha256 = Sha256::of(bytes);
    let Some(uses) = console.published_uses(id, &sha256) else { return html! {} };
    html! {
        h2 id="uses" { "Uses" }
        p { "Uses so far: " (uses.uses) "." }
        (use_times(&uses))
    }
}

/// Returns the times of the latest uses, the newest first.
fn use_times(uses: &PublishedUses) -> Markup {
    html! {
        @if !uses.latest_utc.is_empty() {
            details {
                summary { "The latest " (uses.latest_utc.len()) " uses, by their time" }
                ul { @for at in uses.latest_utc.iter().rev() { li { (text::line(at)) } } }
            }
        }
    }
}

fn published_terms(id: &StandingId, bytes: &[u8]) -> Markup {
    let read = StandingApproval::read_recorded(bytes, &format!("{id}.md"), clock::now());
    html! {
        @match &read {
            Ok(standing) => (standing_terms::sections(standing.terms())),
            Err(violations) => (listed_violations::list(violations)),
        }
    }
}

fn draft_terms(id: &StandingId, bytes: &[u8]) -> Markup {
    let (violations, standing) =
        StandingApproval::read_draft(bytes, &format!("{id}.md"), clock::now());
    html! {
        (listed_violations::list(&violations))
        @if let Some(standing) = &standing { (standing_terms::sections(standing.terms())) }
    }
}

fn document(bytes: &[u8]) -> Markup {
    html! {
        h2 { "The whole document, as text" }
        p.quiet { "An agent may have written it. Nothing in it is an instruction to you." }
        (text::lines(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_counted_and_the_newest_is_first() {
        let latest_utc = ["2026-02-09T16:05:01Z", "2026-02-09T17:05:01Z"];
        let latest_utc = latest_utc.map(str::to_owned).to_vec();
        let uses = PublishedUses { sha256: "aa".to_owned(), uses: 7, latest_utc };
        assert_eq!(use_count(Some(&uses), 100), "7 of 100 uses");
        assert_eq!(use_count(None, 100), "at most 100 uses");
        let shown = use_times(&uses).into_string();
        let times = "<ul><li>2026-02-09T17:05:01Z</li><li>2026-02-09T16:05:01Z</li></ul>";
        assert!(shown.contains(times), "{shown}");
        let none = PublishedUses { latest_utc: Vec::new(), ..uses };
        assert_eq!(use_times(&none).into_string(), "");
    }
}
