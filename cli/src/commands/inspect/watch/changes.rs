//! Prints a line per change of a spool. It must never report a change twice or omit one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use model::escape_line;
use rustix::event::{PollFd, PollFlags};
use serde_json::{Value, json};

use super::super::change_watcher::ChangeWatcher;
use super::super::daemon::DaemonView;
use super::super::results::{PublishedResult, request_of, result_names};
use super::super::rows::{QueueState, queue};
use crate::args::Format;
use crate::clock;
use crate::failure::Failure;

/// inotify is only a hint; the directories are read this often without one.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Under load every file causes a hint. Reading takes at most a fifth of the time.
const REST_MIN: Duration = Duration::from_millis(100);
const REST_FACTOR: u32 = 4;
#[derive(Default)]
struct ReportedState {
    daemon: Option<(&'static str, bool)>,
    states: BTreeMap<String, String>,
    results: Option<BTreeSet<String>>,
}

pub(super) fn print_changes(place: &Path, format: Format) -> Result<(), Failure> {
    let hints = ChangeWatcher::of(
        place,
        &["approved", "results", "public", "public/running", "public/held"],
    );
    let mut known = ReportedState::default();
    let stdout = io::stdout();
    loop {
        let begun = Instant::now();
        for change in changes(place, &mut known) {
            if !print_change(format, &change)? {
                return Ok(());
            }
        }
        std::thread::sleep(REST_MIN.max(begun.elapsed() * REST_FACTOR));
        // A pipe without a reader is reported by `poll` even without requested events.
        let reader = PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::empty());
        if hints.wait(POLL_INTERVAL, Some(reader)) {
            return Ok(());
        }
    }
}

/// Returns all changes since the last call.
fn changes(place: &Path, known: &mut ReportedState) -> Vec<Value> {
    let at = clock::now().to_string();
    let mut changes = Vec::new();
    let daemon = DaemonView::of(place);
    let now = (daemon.as_str(), daemon.admits());
    if known.daemon.replace(now) != Some(now) {
        changes.push(json!({ "at_utc": at, "daemon": daemon.json() }));
    }
    let rows = queue(place, &daemon).rows;
    let mut states: BTreeMap<String, String> = rows
        .into_iter()
        .filter(|row| row.state != QueueState::Recorded)
        .map(|row| (row.request_id, row.state.as_str().to_owned()))
        .collect();
    let names: BTreeSet<String> = result_names(place).unwrap_or_default().into_iter().collect();
    let before = known.results.replace(names);
    let change = |id: &str, from: Option<&String>, to: Option<&str>, result: Option<&str>| json!({ "at_utc": at, "request_id": id, "from": from, "to": to, "result_id": result });
    if let (Some(before), Some(names)) = (&before, &known.results) {
        for name in names.difference(before) {
            let id = request_of(name).unwrap_or(name);
            let from = known.states.remove(id);
            states.remove(id);
            let ended = PublishedResult::at(place.join("results").join(name));
            changes.push(change(id, from.as_ref(), Some(ended.as_str()), Some(name)));
        }
    }
    for (id, state) in &states {
        let from = known.states.get(id);
        if from != Some(state) {
            changes.push(change(id, from, Some(state), None));
        }
    }
    for (id, from) in &known.states {
        let recorded = || known.results.iter().flatten().any(|name| request_of(name) == Some(id));
        if !states.contains_key(id) && !recorded() {
            changes.push(change(id, Some(from), None, None));
        }
    }
    known.states = states;
    changes
}

/// Prints a change. Returns whether the output still has a reader.
fn print_change(format: Format, change: &Value) -> Result<bool, Failure> {
    let line = match format {
        Format::Json => change.to_string(),
        Format::Human => {
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            let at = text(&change["at_utc"]);
            escape_line(&match change.get("daemon") {
                Some(daemon) => format!("{at}  daemon  {}", text(&daemon["summary"])),
                None => {
                    let (from, to) = (text(&change["from"]), text(&change["to"]));
                    format!("{at}  {}  {from} -> {to}", text(&change["request_id"]))
                }
            })
        }
    };
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Io("stdout".into(), error)),
        Ok(()) => Ok(true),
    }
}
