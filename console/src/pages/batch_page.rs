//! `/batch?ids=ID&ids=ID`: the content of each selected draft, and one form that approves all of
//! them. A draft that the page does not show whole must never be in that form.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Html;
use maud::{Markup, html};
use model::{RequestId, Sha256};
use policies::{ActionTarget, BATCH_REQUESTS_MAX};

use super::actions::{ApproverNames, batch_form, obstacle};
use super::draft_inputs::PageBudget;
use super::shown_draft::{document_facts, show};
use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};

/// In a batch of at most this many drafts, all sections are open at first.
const OPEN_MAX: usize = 5;

model::closed_set! {
    /// The reason why a selected draft is not part of the batch.
    enum LeftOutReason {
        Gone = "it is not a draft any more",
        Unreadable = "it cannot be read",
        HasDot = "its id has a dot",
        Invalid = "its check has found errors",
        NotWhole = "it is not shown fully",
    }
}

/// A draft that the page shows whole.
struct BatchDraft {
    id: RequestId,
    sha256: Sha256,
    markup: Markup,
}

/// The selected drafts, in their order.
#[derive(Default)]
struct DraftBatch {
    shown: Vec<BatchDraft>,
    left_out: Vec<(RequestId, LeftOutReason)>,
}

impl DraftBatch {
    fn read(console: &ConsoleState, ids: Vec<RequestId>) -> Self {
        let (mut batch, mut budget) = (Self::default(), PageBudget::of_batch());
        for id in ids {
            match read(console, &id, &mut budget) {
                Ok((sha256, markup)) => batch.shown.push(BatchDraft { id, sha256, markup }),
                Err(reason) => batch.left_out.push((id, reason)),
            }
        }
        batch
    }
}

/// Returns the digest and the sections of a draft that a batch may contain. A draft that is left
/// out uses the budget too, which bounds the work for a page.
fn read(
    console: &ConsoleState,
    id: &RequestId,
    budget: &mut PageBudget,
) -> Result<(Sha256, Markup), LeftOutReason> {
    if id.has_dot() {
        return Err(LeftOutReason::HasDot);
    }
    let draft = console.draft(&ActionTarget::Request(id.clone()));
    let draft = draft.map_err(|_| LeftOutReason::Unreadable)?.ok_or(LeftOutReason::Gone)?;
    if !budget.take_text(draft.len()) {
        return Err(LeftOutReason::NotWhole);
    }
    let shown = show(console, id, &draft, budget);
    match (shown.is_valid, shown.is_whole) {
        (false, _) => Err(LeftOutReason::Invalid),
        (true, false) => Err(LeftOutReason::NotWhole),
        (true, true) => Ok((Sha256::of(&draft), shown.markup)),
    }
}

pub(crate) async fn batch(
    State(console): State<Arc<ConsoleState>>,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Html<String>, PageError> {
    let ids = selected(&fields)?;
    blocking(console, move |console| Ok(Html(page(console, ids)?.into_string()))).await
}

/// Returns the selected ids, each once.
fn selected(fields: &[(String, String)]) -> Result<Vec<RequestId>, PageError> {
    let mut ids: Vec<RequestId> = Vec::new();
    for (_, value) in fields.iter().filter(|(name, _)| name == "ids") {
        let id: RequestId = value.parse().map_err(|_| PageError::missing())?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    match ids.len() > BATCH_REQUESTS_MAX {
        true => Err(PageError::new(
            StatusCode::BAD_REQUEST,
            format!("A batch has at most {BATCH_REQUESTS_MAX} drafts; help: select fewer."),
        )),
        false => Ok(ids),
    }
}

fn page(console: &ConsoleState, ids: Vec<RequestId>) -> Result<Markup, PageError> {
    let names = ApproverNames::read(console)?;
    let batch = DraftBatch::read(console, ids);
    let obstacle = obstacle(console, &names);
    Ok(PageFrame::new(PageKind::Batch, "Batch").with_actions().page(html! {
        @if batch.shown.is_empty() && batch.left_out.is_empty() {
            p { "No draft is selected. " a href="/" { "Select drafts on the first page." } }
        }
        (left_out(&batch))
        (drafts(&batch))
        @if !batch.shown.is_empty() {
            h2 { "Approve" }
            (obstacle)
            div.actions { (batch_form(&ids_of(&batch), &names)) }
        }
    }))
}

fn ids_of(batch: &DraftBatch) -> Vec<&str> {
    batch.shown.iter().map(|draft| draft.id.as_str()).collect()
}

fn left_out(batch: &DraftBatch) -> Markup {
    let count = batch.left_out.len();
    let total = count.saturating_add(batch.shown.len());
    html! {
        @if count > 0 {
            h2 { "Not part of the batch" }
            p.wait {
                (count) " of " (total) " selected drafts " (if count == 1 { "is" } else { "are" })
                " not shown fully below, and the signature does not cover "
                (if count == 1 { "it" } else { "them" }) "."
            }
            ul {
                @for (id, reason) in &batch.left_out {
                    li { a href={ "/requests/" (id) } { (id) } ": " (reason) }
                }
            }
        }
    }
}

/// Returns a section for each draft, which a keyboard opens and closes.
fn drafts(batch: &DraftBatch) -> Markup {
    let count = batch.shown.len();
    html! {
        @if count > 0 {
            h2 { "Drafts in the batch" }
            p { "Read each draft. One signature approves all of them: " (count) "." }
        }
        @for draft in &batch.shown {
            details.draft open[count <= OPEN_MAX] {
                summary { (draft.id) }
                (document_facts(draft.id.as_str(), &draft.sha256))
                (draft.markup)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "TR-20260209-160501Z-one";

    fn fields(ids: &[&str]) -> Vec<(String, String)> {
        ids.iter().map(|id| ("ids".to_owned(), (*id).to_owned())).collect()
    }

    #[test]
    fn a_selection_is_a_bounded_list_of_ids() {
        let found = selected(&fields(&[ID, "TR-20260209-160502Z-two", ID])).unwrap();
        assert_eq!(
            found.iter().map(RequestId::as_str).collect::<Vec<_>>(),
            [ID, "TR-20260209-160502Z-two"]
        );
        let named = [("by".to_owned(), "x".to_owned())];
        assert_eq!(selected(&named), Ok(Vec::new()));
        for wrong in ["", "../x", "SA-20260209-160501Z-one", "<b>"] {
            assert_eq!(selected(&fields(&[wrong])), Err(PageError::missing()), "{wrong}");
        }
        let many: Vec<String> =
            (0..=BATCH_REQUESTS_MAX).map(|number| format!("{ID}-{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(selected(&fields(&many)).unwrap_err().status, StatusCode::BAD_REQUEST);
        assert_eq!(selected(&fields(&many[1..])).unwrap().len(), BATCH_REQUESTS_MAX);
    }

    fn batch_of(shown: usize) -> DraftBatch {
        let draft = |_| BatchDraft {
            id: ID.parse().unwrap(),
            sha256: Sha256::of(b""),
            markup: html! { p { "content" } },
        };
        DraftBatch { shown: (0..shown).map(draft).collect(), left_out: Vec::new() }
    }

    #[test]
    fn the_sections_of_a_small_batch_are_open() {
        let opened = format!("<details class=\"draft\" open><summary>{ID}</summary>");
        let small = drafts(&batch_of(OPEN_MAX)).into_string();
        assert_eq!(small.matches(&opened).count(), OPEN_MAX, "{small}");
        let large = drafts(&batch_of(OPEN_MAX + 1)).into_string();
        let closed = format!("<details class=\"draft\"><summary>{ID}</summary>");
        assert_eq!(large.matches(&closed).count(), OPEN_MAX + 1, "{large}");
    }

    #[test]
    fn a_draft_that_is_left_out_is_named_with_its_reason() {
        let mut batch = batch_of(2);
        assert_eq!(left_out(&batch).into_string(), "");
        batch.left_out.push((ID.parse().unwrap(), LeftOutReason::NotWhole));
        let shown = left_out(&batch).into_string();
        assert!(shown.contains("1 of 3 selected drafts is not shown fully below"), "{shown}");
        let row = format!("<a href=\"/requests/{ID}\">{ID}</a>: it is not shown fully");
        assert!(shown.contains(&row), "{shown}");
    }
}
