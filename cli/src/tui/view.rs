//! A snapshot of a spool, as the screen shows it. All texts are escaped, except for paths.

use std::path::PathBuf;

use model::UtcTime;
use spool::RunningRequest;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SpoolView {
    pub(super) spool: String,
    pub(super) at: UtcTime,
    /// The state of the daemon as one word; `sentence` is the long form.
    pub(super) daemon: &'static str,
    pub(super) sentence: String,
    pub(super) admits: bool,
    pub(super) policy: Option<String>,
    pub(super) free_mib: Option<u64>,
    /// Parts of the spool that could not be read, with the reason.
    pub(super) unseen: Vec<String>,
    pub(super) queue: Vec<Item>,
    pub(super) running: Vec<Item>,
    pub(super) outcomes: Vec<Item>,
}

/// One request or record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    /// The id of the request, or else the name of its file.
    pub(super) id: String,
    /// Identifies the item within its pane.
    pub(super) key: String,
    pub(super) state: String,
    /// The reason for waiting, or the time of the end.
    pub(super) note: String,
    pub(super) kind: ItemKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ItemKind {
    /// A file in `drafts/`.
    Draft(PathBuf),
    /// A file in `approved/`.
    Waiting(PathBuf),
    InFlight(Box<RunningRequest>),
    Record(PathBuf),
}

impl Item {
    /// Returns the file of a request that was not started yet.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        match &self.kind {
            ItemKind::Draft(path) | ItemKind::Waiting(path) => Some(path),
            ItemKind::InFlight(_) | ItemKind::Record(_) => None,
        }
    }

    /// Returns the last part of the id, which the user types as confirmation.
    pub(super) fn last_part(&self) -> &str {
        self.id.rsplit('-').find(|part| !part.is_empty()).unwrap_or(&self.id)
    }
}

/// A spool with an item of each kind, for tests.
#[cfg(test)]
pub(super) mod example {
    use spool::RunningStep;

    use super::*;

    pub(crate) fn item(id: &str, state: &str) -> Item {
        let path = PathBuf::from(format!("/spool/approved/{id}.md"));
        let is = if state == "draft" { ItemKind::Draft(path) } else { ItemKind::Waiting(path) };
        let (id, key) = (id.to_owned(), id.to_owned());
        Item { id, key, state: state.to_owned(), note: String::new(), kind: is }
    }

    fn running(id: &str, step: RunningStep) -> Item {
        let running = RunningRequest {
            request_id: id.to_owned(),
            since_utc: "2026-02-09T16:05:01Z".to_owned(),
            step,
            step_since_utc: "2026-02-09T16:05:02Z".to_owned(),
            time_sec_max: Some(60),
            memory_bytes_max: Some(256 << 20),
            submitter: Some("alice".to_owned()),
            hashed_bytes: Some(1 << 30),
            input_bytes: Some(4 << 30),
            memory_bytes: Some(128 << 20),
            cpu_ms: Some(11_800),
            cpu_ms_max: Some(60_000),
        };
        let (state, is) = (step.as_str().to_owned(), ItemKind::InFlight(Box::new(running)));
        Item { state, note: "of alice".to_owned(), kind: is, ..item(id, "running") }
    }

    pub(crate) fn example_view() -> SpoolView {
        let held =
            Item { note: "approval.count".to_owned(), ..item("TR-20260209-160502Z-held", "held") };
        let ended = Item {
            note: "2026-02-09T16:04:00Z".to_owned(),
            kind: ItemKind::Record(PathBuf::from("/spool/results/TS")),
            ..item("TR-20260209-160300Z-ended", "wall_limit")
        };
        SpoolView {
            spool: "/var/spool/toolexec".to_owned(),
            at: "2026-02-09T16:05:32Z".parse().unwrap(),
            daemon: "serving",
            sentence: "serving since 2026-02-09T16:00:00Z".to_owned(),
            admits: true,
            policy: Some("standard".to_owned()),
            free_mib: Some(1234),
            unseen: Vec::new(),
            queue: vec![item("TR-20260209-160501Z-python-stats", "waiting"), held],
            running: vec![
                running("TR-20260209-160503Z-runs", RunningStep::Running),
                running("TR-20260209-160504Z-staged", RunningStep::Staging),
            ],
            outcomes: vec![ended],
        }
    }
}
