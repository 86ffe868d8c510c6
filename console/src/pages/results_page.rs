//! `/results`: the records, the newest first, a page at a time. The outcomes are those that the
//! records state; the page of one result verifies it.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Html;
use maud::{Markup, html};
use model::ResultId;
use records::{Summary, split_reason};
use serde::Deserialize;

use crate::frame::{PageFrame, PageKind};
use crate::page_error::PageError;
use crate::state::{ConsoleState, blocking};
use crate::text;

/// Results of one page.
const ROWS_MAX: usize = 50;

/// The part of the address after `?`.
#[derive(Deserialize)]
pub(crate) struct ResultsPosition {
    /// Show the results before this one.
    before: Option<String>,
}

pub(crate) async fn results(
    State(console): State<Arc<ConsoleState>>,
    Query(position): Query<ResultsPosition>,
) -> Result<Html<String>, PageError> {
    let before = position.before.map(|id| id.parse::<ResultId>().map_err(|_| PageError::missing()));
    let before = before.transpose()?;
    blocking(console, move |console| Ok(Html(page(console, before.as_ref())?.into_string()))).await
}

fn page(console: &ConsoleState, before: Option<&ResultId>) -> Result<Markup, PageError> {
    let ids = console.result_ids()?;
    let (shown, has_older) = part_of(&ids, before);
    let older = shown.last().filter(|_| has_older);
    Ok(PageFrame::new(PageKind::Results, "Results").page(html! {
        @if shown.is_empty() { p { "None." } }
        ul.rows {
            @for id in &shown {
                (row(id, records::summary(&console.part("results").join(id.as_str())).as_ref()))
            }
        }
        @if let Some(last) = older {
            p { a href={ "/results?before=" (last) } { "Older results" } }
        }
    }))
}

/// Returns the ids of a page, the newest first, and whether older ones exist. `ids` are sorted.
fn part_of<'i>(ids: &'i [ResultId], before: Option<&ResultId>) -> (Vec<&'i ResultId>, bool) {
    let end =
        before.map_or(ids.len(), |before| ids.partition_point(|id| id.as_str() < before.as_str()));
    let shown: Vec<&ResultId> = ids.iter().take(end).rev().take(ROWS_MAX).collect();
    (shown, end > ROWS_MAX)
}

fn row(id: &ResultId, summary: Option<&Summary>) -> Markup {
    let outcome = summary.map_or("unreadable", |it| it.outcome.as_str());
    let reason = summary.and_then(|it| it.reason.as_deref());
    html! {
        li {
            span.state.good[outcome == "ok"].bad[outcome != "ok"] { (text::line(outcome)) }
            span {
                a href={ "/results/" (id) } { (id) }
                @if let Some(reason) = reason {
                    br;
                    span.quiet { (text::line(split_reason(reason).0)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let id = |number: usize| {
            let text = format!("TS-20260209-160501Z-TR-20260209-160501Z-n{number:03}");
            text.parse::<ResultId>().unwrap()
        };
        let ids: Vec<ResultId> = (0..120).map(id).collect();
        let (mut seen, mut before) = (0, None);
        loop {
            let (shown, has_older) = part_of(&ids, before);
            assert!(shown.iter().copied().eq(ids.iter().rev().skip(seen).take(ROWS_MAX)));
            seen += shown.len();
            before = shown.last().copied();
            if !has_older {
                break;
            }
        }
        assert_eq!(seen, 120);
        assert!(part_of(&[], None).0.is_empty());
    }
}
