//! Notices that the queue has changed, for browsers that show it. A notice is only a hint to look
//! again, so a cheap reading of times and names is enough.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::Response;
use model::Sha256;
use serde::Deserialize;
use spool::{RunningStep, running_requests};
use tokio::time::sleep;

use crate::event_stream::{EventSender, open_stream};
use crate::page_error::PageError;
use crate::state::{ConsoleState, WorkKind, blocking_as};

const INTERVAL: Duration = Duration::from_millis(500);
/// The digits of a version.
const DIGITS: usize = 16;

/// The places whose time of change belongs to the state of the queue.
const PLACES: [&str; 3] = ["drafts", "public/held", "public/waiting.json"];

/// The state of the queue, to be compared with a later one.
pub(crate) struct QueueVersion {
    changed: [Option<(i64, i64)>; PLACES.len()],
    running: Vec<(String, RunningStep)>,
}

impl QueueVersion {
    pub(crate) fn read(console: &ConsoleState) -> Self {
        let changed = PLACES.map(|place| {
            let found = fs::symlink_metadata(console.part(place)).ok()?;
            Some((found.ctime(), found.ctime_nsec()))
        });
        // Their directory changes twice a second while a tool runs.
        let running = running_requests(&console.spool).into_iter();
        Self { changed, running: running.map(|(id, it)| (id, it.step)).collect() }
    }

    /// Returns a short text that differs from that of another state.
    pub(crate) fn text(&self) -> String {
        let digest =
            Sha256::of(format!("{:?} {:?}", self.changed, self.running).as_bytes()).to_string();
        digest.chars().take(DIGITS).collect()
    }
}

/// The part of the address after `?`.
#[derive(Deserialize)]
pub(crate) struct ShownVersion {
    /// The state that the page shows, if it says so.
    version: Option<String>,
}

/// Sends an event for each change of the queue since the page was made.
pub(crate) async fn events(
    State(console): State<Arc<ConsoleState>>,
    Query(shown): Query<ShownVersion>,
) -> Result<Response, PageError> {
    let (sender, response) = open_stream(&console)?;
    let shown = shown.version.filter(|version| !version.is_empty());
    tokio::spawn(follow(console, sender, shown));
    Ok(response)
}

async fn follow(console: Arc<ConsoleState>, sender: EventSender, mut known: Option<String>) {
    while sender.is_open() {
        let read = blocking_as(WorkKind::Look, Arc::clone(&console), |console| {
            Ok(QueueVersion::read(console).text())
        });
        let Ok(version) = read.await else { return };
        let has_changed = known.as_ref().is_some_and(|known| *known != version);
        let sent = match has_changed {
            true => sender.send("changed", "\"queue\"").await,
            false => sender.keep_alive().await,
        };
        if sent.is_err() {
            return;
        }
        known = Some(version);
        sleep(INTERVAL).await;
    }
}
