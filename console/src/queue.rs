//! The queue as the pages show it: drafts, and the requests that the daemon reports. Only names and
//! public state are read, so that a thousand drafts are listed at once. Nothing in it is verified.

use std::collections::BTreeMap;

use policies::ActionTarget;
use spool::{PublishedStatus, held_requests, published_status, running_requests, waiting_requests};

use crate::state::ConsoleState;

/// Limit of listed drafts, the newest.
const DRAFTS_MAX: usize = 1000;

model::closed_set! {
    /// The state of a request before it runs. The daemon names the later steps.
    pub(crate) enum ListedState {
        Draft = "draft",
        Held = "held",
        Waiting = "waiting",
    }
}

/// One request or standing approval.
pub(crate) struct ListedRequest {
    /// The id, or the name of a file in `approved/` that has none.
    pub(crate) name: String,
    /// None if the name is not an id.
    pub(crate) target: Option<ActionTarget>,
    pub(crate) state: &'static str,
    /// The reasons why it is held.
    pub(crate) reasons: Vec<String>,
}

impl ListedRequest {
    fn new(name: &str, state: &'static str) -> Self {
        let (name, target) = (name.to_owned(), name.parse().ok());
        Self { name, target, state, reasons: Vec::new() }
    }

    /// Returns whether a batch can approve it: a draft of a request.
    pub(crate) fn may_be_in_batch(&self) -> bool {
        let is_plain = |target: &ActionTarget| match target {
            ActionTarget::Request(id) => !id.has_dot(),
            ActionTarget::Standing(_) => false,
        };
        self.state == ListedState::Draft.as_str() && self.target.as_ref().is_some_and(is_plain)
    }

    /// Returns the address of its page.
    pub(crate) fn href(&self) -> Option<String> {
        Some(match self.target.as_ref()? {
            ActionTarget::Request(id) => format!("/requests/{id}"),
            ActionTarget::Standing(id) => format!("/standing/{id}"),
        })
    }

    /// The part of the id that begins with its time.
    fn age_key(&self) -> &str {
        self.name.get(3..).unwrap_or(&self.name)
    }
}

/// All that the page of the queue shows.
pub(crate) struct QueueListing {
    /// The newest first.
    pub(crate) rows: Vec<ListedRequest>,
    /// The number of older drafts that are left out.
    pub(crate) older_drafts: usize,
    /// The last report of the daemon, which may have ended since.
    pub(crate) status: Option<PublishedStatus>,
}

impl QueueListing {
    /// Reads the drafts first, then the queue, then the requests in progress: a request that moves
    /// meanwhile is still found.
    pub(crate) fn read(console: &ConsoleState) -> Self {
        let mut drafts: Vec<ListedRequest> = console
            .draft_targets()
            .iter()
            .map(|target| ListedRequest::new(target.as_str(), ListedState::Draft.as_str()))
            .collect();
        newest_first(&mut drafts);
        let older_drafts = drafts.len().saturating_sub(DRAFTS_MAX);
        drafts.truncate(DRAFTS_MAX);
        let mut rows: BTreeMap<String, ListedRequest> =
            drafts.into_iter().map(|row| (row.name.clone(), row)).collect();
        for row in reported(console) {
            rows.insert(row.name.clone(), row);
        }
        let mut rows: Vec<ListedRequest> = rows.into_values().collect();
        newest_first(&mut rows);
        Self { rows, older_drafts, status: published_status(&console.spool).ok() }
    }
}

/// Returns what the daemon reports, a request in progress after the same one in the queue.
fn reported(console: &ConsoleState) -> Vec<ListedRequest> {
    let stem = |file: &str| file.strip_suffix(".md").unwrap_or(file).to_owned();
    let mut rows = Vec::new();
    for waiting in waiting_requests(&console.spool) {
        rows.push(ListedRequest::new(&stem(&waiting.file), ListedState::Waiting.as_str()));
    }
    for (file, held) in held_requests(&console.spool) {
        let reasons = held.waits_for.iter().map(|it| format!("{}: {}", it.code, it.message));
        let row = ListedRequest::new(&stem(&file), ListedState::Held.as_str());
        rows.push(ListedRequest { reasons: reasons.collect(), ..row });
    }
    for (id, running) in running_requests(&console.spool) {
        rows.push(ListedRequest::new(&id, running.step.as_str()));
    }
    rows
}

fn newest_first(rows: &mut [ListedRequest]) {
    rows.sort_by(|one, other| other.age_key().cmp(one.age_key()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_standing_approvals_are_sorted_by_their_time() {
        let names = [
            "TR-20260209-160501Z-one",
            "SA-20260209-160502Z-two",
            "TR-20260209-160503Z-three",
            "x",
        ];
        let mut rows = names.map(|name| ListedRequest::new(name, "draft"));
        newest_first(&mut rows);
        let sorted = rows.each_ref().map(|row| row.name.as_str());
        assert_eq!(sorted, [names[3], names[2], names[1], names[0]]);
    }

    #[test]
    fn only_drafts_of_requests_are_approved_together() {
        let of = |name, state| ListedRequest::new(name, state);
        assert!(of("TR-20260209-160501Z-one", "draft").may_be_in_batch());
        assert!(!of("TR-20260209-160501Z-one", "held").may_be_in_batch());
        assert!(!of("SA-20260209-160501Z-one", "draft").may_be_in_batch());
        assert!(!of("<b>", "draft").may_be_in_batch());
        let href = of("SA-20260209-160501Z-one", "draft").href();
        assert_eq!(href.as_deref(), Some("/standing/SA-20260209-160501Z-one"));
        assert_eq!(of("<b>", "waiting").href(), None);
    }
}
