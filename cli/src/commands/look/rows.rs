//! What is in a spool, a row for each request that has no record yet and for each record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use spool::{Dropbox, Held, Running, Step, Waiting, held_in, running_in, waiting_in};

use super::daemon::Daemon;
use super::results::{Published, request_of, result_names};
use crate::failure::Failure;

/// What is known of a request without having verified anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Waiting,
    /// Waiting for somebody's answer, by the daemon's word.
    Held(Held),
    /// In the daemon's hands, by its word.
    InFlight(Running),
    /// It was, when the daemon died.
    Interrupted(Running),
    /// There is a record of a request of this name, and a file of it still in `approved/`.
    Recorded,
    /// The outcome that the record names.
    Done(String),
    Unreadable,
}

impl State {
    /// Every word of a request that has no record yet, or has not left.
    pub(super) const WORDS: [&str; 8] = [
        "waiting",
        "held",
        "claimed",
        "staging",
        "running",
        "publishing",
        "interrupted",
        "recorded",
    ];

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Waiting => "waiting",
            Self::Held(_) => "held",
            Self::InFlight(running) => running.step.as_str(),
            Self::Interrupted(_) => "interrupted",
            Self::Recorded => "recorded",
            Self::Done(outcome) => outcome,
            Self::Unreadable => "unreadable",
        }
    }
}

/// One request or record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct QueueRow {
    pub(crate) request_id: String,
    pub(crate) state: State,
    pub(crate) result_id: Option<String>,
    pub(crate) created_utc: Option<String>,
    /// Of a record: why nothing ran, or why the end is unknown.
    pub(crate) reason: Option<String>,
    pub(crate) path: PathBuf,
}

impl QueueRow {
    fn waiting(request_id: String, state: State, path: PathBuf) -> Self {
        Self { request_id, state, result_id: None, created_utc: None, reason: None, path }
    }
}

/// What has no record yet or has not left, and what of the directories cannot be seen.
pub(crate) struct Queue {
    pub(crate) rows: Vec<QueueRow>,
    pub(crate) unseen: Vec<Failure>,
}

/// Looks at everything but the results themselves.
pub(crate) fn queue(place: &Path, daemon: &Daemon) -> Queue {
    let mut unseen = Vec::new();
    // In this order: what leaves `approved/` meanwhile is found among the results.
    let dropped = dropped(place).unwrap_or_else(|failure| {
        unseen.push(failure);
        None
    });
    let (mut held, mut running) = (held_in(place), running_in(place));
    let names = result_names(place).unwrap_or_else(|failure| {
        unseen.push(failure);
        Vec::new()
    });
    let recorded: BTreeSet<&str> = names.iter().filter_map(|name| request_of(name)).collect();
    let approved = place.join("approved");
    // Who may not look into `approved/` is told at least what the daemon says.
    let told = || held.keys().cloned().chain(waiting_in(place).into_iter().map(|one| one.file));
    let dropped = dropped.unwrap_or_else(|| told().collect::<BTreeSet<_>>().into_iter().collect());
    let mut rows = Vec::new();
    for file in dropped {
        let request_id = file.strip_suffix(".md").unwrap_or(&file).to_owned();
        let is_recorded = recorded.contains(request_id.as_str());
        let state = match (running.remove(&request_id), held.remove(&file)) {
            (Some(told), _) if told.step == Step::Publishing && is_recorded => State::Recorded,
            (Some(told), _) => in_flight(told, daemon),
            // Also one that has a record of an earlier time: what it waits for now is what counts.
            (None, Some(held)) => State::Held(held),
            (None, None) if is_recorded => State::Recorded,
            (None, None) => State::Waiting,
        };
        let path = approved.join(&file);
        rows.push(QueueRow::waiting(request_id, state, path));
    }
    for (request_id, told) in running {
        // One that was refused may be on its way again.
        if told.step == Step::Publishing && recorded.contains(request_id.as_str()) {
            continue;
        }
        let path = approved.join(format!("{request_id}.md"));
        let state = in_flight(told, daemon);
        rows.push(QueueRow::waiting(request_id, state, path));
    }
    Queue { rows, unseen }
}

fn in_flight(told: Running, daemon: &Daemon) -> State {
    if daemon.is_dead() { State::Interrupted(told) } else { State::InFlight(told) }
}

/// The names that were dropped; none where nothing can be dropped at all.
fn dropped(place: &Path) -> Result<Option<Vec<String>>, Failure> {
    let approved = place.join("approved");
    if !approved.is_dir() {
        return Ok(Some(Vec::new()));
    }
    let waiting = Dropbox::open(&approved)?.waiting()?;
    Ok(Some(waiting.iter().map(Waiting::name).map(str::to_owned).collect()))
}

/// Every record, oldest first.
pub(super) fn done(place: &Path) -> Result<Vec<QueueRow>, Failure> {
    let results = place.join("results");
    let mut rows: Vec<QueueRow> = result_names(place)?
        .into_iter()
        .map(|name| row_of(Published::at(results.join(name))))
        .collect();
    rows.sort_by(|a, b| a.created_utc.cmp(&b.created_utc).then(a.path.cmp(&b.path)));
    Ok(rows)
}

/// The last records, newest first.
pub(super) fn last(place: &Path, rows_max: usize) -> Result<Vec<QueueRow>, Failure> {
    let results = place.join("results");
    let names = result_names(place)?.into_iter().rev().take(rows_max);
    Ok(names.map(|name| row_of(Published::at(results.join(name)))).collect())
}

/// One record by its name.
pub(crate) fn row_of_result(place: &Path, name: &str) -> QueueRow {
    row_of(Published::at(place.join("results").join(name)))
}

fn row_of(published: Published) -> QueueRow {
    let name = published.name();
    match published.said {
        Some(said) => QueueRow {
            request_id: said.request_id,
            state: State::Done(said.outcome),
            result_id: Some(said.result_id),
            created_utc: Some(said.created_utc),
            reason: said.reason,
            path: published.path,
        },
        None => QueueRow {
            request_id: "unknown".to_owned(),
            state: State::Unreadable,
            result_id: Some(name),
            created_utc: None,
            reason: None,
            path: published.path,
        },
    }
}
