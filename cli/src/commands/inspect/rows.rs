//! The contents of a spool: one row per request without a record, and one per record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use spool::{
    HeldRequest, Inbox, RunningRequest, RunningStep, SubmissionName, held_requests,
    running_requests, waiting_requests,
};

use super::daemon::DaemonView;
use super::results::{PublishedResult, request_of, result_names};
use crate::failure::Failure;

model::closed_set! {
    /// The name of a state that neither a step of the daemon nor a record names.
    enum StateName {
        Waiting = "waiting",
        Held = "held",
        Interrupted = "interrupted",
        Recorded = "recorded",
        Unreadable = "unreadable",
    }
}

/// The state of a request. Nothing in it is verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum QueueState {
    Waiting,
    /// The daemon reports that the request waits for an approval or permission.
    Held(HeldRequest),
    /// The daemon reports that it is working on the request.
    InFlight(RunningRequest),
    /// The request was in flight when the daemon died.
    Interrupted(RunningRequest),
    /// A record for this request exists, and its file is still in `approved/`.
    Recorded,
    Done(String),
    Unreadable,
}

impl QueueState {
    /// The names of all states before the outcome of a record.
    pub(super) fn unfinished() -> impl Iterator<Item = &'static str> {
        let before = [StateName::Waiting, StateName::Held].map(StateName::as_str);
        let after = [StateName::Interrupted, StateName::Recorded].map(StateName::as_str);
        before.into_iter().chain(RunningStep::TEXTS.iter().copied()).chain(after)
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Waiting => StateName::Waiting.as_str(),
            Self::Held(_) => StateName::Held.as_str(),
            Self::InFlight(running) => running.step.as_str(),
            Self::Interrupted(_) => StateName::Interrupted.as_str(),
            Self::Recorded => StateName::Recorded.as_str(),
            Self::Done(outcome) => outcome,
            Self::Unreadable => StateName::Unreadable.as_str(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct QueueRow {
    pub(crate) request_id: String,
    pub(crate) state: QueueState,
    pub(crate) result_id: Option<String>,
    pub(crate) created_utc: Option<String>,
    /// The record's reason why nothing ran, or why the outcome is unknown.
    pub(crate) reason: Option<String>,
    pub(crate) path: PathBuf,
}

impl QueueRow {
    fn waiting(request_id: String, state: QueueState, path: PathBuf) -> Self {
        Self { request_id, state, result_id: None, created_utc: None, reason: None, path }
    }
}

/// Requests without a record or still in `approved/`, and the directories that could not be read.
pub(crate) struct Queue {
    pub(crate) rows: Vec<QueueRow>,
    pub(crate) unreadable: Vec<Failure>,
}

/// Reads the queue. Of the results only the names are read.
pub(crate) fn queue(place: &Path, daemon: &DaemonView) -> Queue {
    let mut unseen = Vec::new();
    // The order matters: a request that leaves `approved/` meanwhile is found among the results.
    let dropped = submitted(place).unwrap_or_else(|failure| {
        unseen.push(failure);
        None
    });
    let (mut held, mut running) = (held_requests(place), running_requests(place));
    let names = result_names(place).unwrap_or_else(|failure| {
        unseen.push(failure);
        Vec::new()
    });
    let recorded: BTreeSet<&str> = names.iter().filter_map(|name| request_of(name)).collect();
    let approved = place.join("approved");
    // A caller who may not read `approved/` sees at least the daemon's report.
    let reported =
        || held.keys().cloned().chain(waiting_requests(place).into_iter().map(|one| one.file));
    let dropped =
        dropped.unwrap_or_else(|| reported().collect::<BTreeSet<_>>().into_iter().collect());
    let mut rows = Vec::new();
    for file in dropped {
        let request_id = file.strip_suffix(".md").unwrap_or(&file).to_owned();
        let is_recorded = recorded.contains(request_id.as_str());
        let state = match (running.remove(&request_id), held.remove(&file)) {
            (Some(request), _) if request.step == RunningStep::Publishing && is_recorded => {
                QueueState::Recorded
            }
            (Some(request), _) => in_flight(request, daemon),
            // This includes a request with an earlier record: its present state counts.
            (None, Some(held)) => QueueState::Held(held),
            (None, None) if is_recorded => QueueState::Recorded,
            (None, None) => QueueState::Waiting,
        };
        let path = approved.join(&file);
        rows.push(QueueRow::waiting(request_id, state, path));
    }
    for (request_id, request) in running {
        // A refused request may have been submitted again.
        if request.step == RunningStep::Publishing && recorded.contains(request_id.as_str()) {
            continue;
        }
        let path = approved.join(format!("{request_id}.md"));
        let state = in_flight(request, daemon);
        rows.push(QueueRow::waiting(request_id, state, path));
    }
    Queue { rows, unreadable: unseen }
}

fn in_flight(request: RunningRequest, daemon: &DaemonView) -> QueueState {
    if daemon.is_dead() { QueueState::Interrupted(request) } else { QueueState::InFlight(request) }
}

/// Returns the names of submitted files; empty if the directory does not accept submissions.
fn submitted(place: &Path) -> Result<Option<Vec<String>>, Failure> {
    let approved = place.join("approved");
    if !approved.is_dir() {
        return Ok(Some(Vec::new()));
    }
    let waiting = Inbox::open(&approved)?.submission_names()?;
    Ok(Some(waiting.iter().map(SubmissionName::name).map(str::to_owned).collect()))
}

/// Returns every record, oldest first.
pub(super) fn result_rows(place: &Path) -> Result<Vec<QueueRow>, Failure> {
    let results = place.join("results");
    let mut rows: Vec<QueueRow> = result_names(place)?
        .into_iter()
        .map(|name| row_of(PublishedResult::at(results.join(name))))
        .collect();
    rows.sort_by(|a, b| a.created_utc.cmp(&b.created_utc).then(a.path.cmp(&b.path)));
    Ok(rows)
}

/// Returns the latest records, newest first.
pub(super) fn last(place: &Path, rows_max: usize) -> Result<Vec<QueueRow>, Failure> {
    let results = place.join("results");
    let names = result_names(place)?.into_iter().rev().take(rows_max);
    Ok(names.map(|name| row_of(PublishedResult::at(results.join(name)))).collect())
}

pub(crate) fn row_of_result(place: &Path, name: &str) -> QueueRow {
    row_of(PublishedResult::at(place.join("results").join(name)))
}

fn row_of(published: PublishedResult) -> QueueRow {
    let name = published.name();
    match published.summary {
        Some(summary) => QueueRow {
            request_id: summary.request_id,
            state: QueueState::Done(summary.outcome),
            result_id: Some(summary.result_id),
            created_utc: Some(summary.created_utc),
            reason: summary.reason,
            path: published.path,
        },
        None => QueueRow {
            request_id: "unknown".to_owned(),
            state: QueueState::Unreadable,
            result_id: Some(name),
            created_utc: None,
            reason: None,
            path: published.path,
        },
    }
}
