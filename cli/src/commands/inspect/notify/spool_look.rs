//! Reads the present state of a spool for events. Never writes.

use std::path::{Path, PathBuf};

use model::{Outcome, RequestId, ResultId, UtcTime};
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde_json::Value;
use spool::{DaemonState, held_requests, published_status};

use super::super::daemon::DaemonView;
use super::super::results::result_names;
use super::document::read_facts;
use super::drafts::DraftWatch;
use super::model::{EventFacts, SpoolEvent, SpoolEventKind};

/// Limit of held requests. The others are announced when some of these are gone.
const HELD_MAX: usize = 1000;
/// The key of the event that the daemon admits nothing.
pub(super) const STOP_KEY: &str = "admission_stopped";

/// The events of one look, without their facts.
pub(super) struct SpoolLook {
    /// The drafts and held requests that wait now, and a daemon that admits nothing.
    pub(super) waiting: Vec<SpoolEvent>,
    /// The names of all results, oldest first. `None` if they are unreadable or not wanted.
    pub(super) results: Option<Vec<String>>,
    /// The directories that could not be read.
    pub(super) problems: Vec<String>,
}

pub(super) struct SpoolReader {
    place: PathBuf,
    kinds: Vec<SpoolEventKind>,
    with_text: bool,
    drafts: DraftWatch,
}

impl SpoolReader {
    pub(super) fn new(place: &Path, kinds: Vec<SpoolEventKind>, with_text: bool) -> Self {
        Self { place: place.to_owned(), kinds, with_text, drafts: DraftWatch::default() }
    }

    /// Returns whether another look reads more drafts at once.
    pub(super) fn has_more_drafts(&self) -> bool {
        self.drafts.has_more()
    }

    /// Returns whether the last look left drafts for the next one.
    pub(super) fn is_partial(&self) -> bool {
        self.drafts.is_partial()
    }

    pub(super) fn look(&mut self, now: UtcTime) -> SpoolLook {
        let mut look = SpoolLook { waiting: Vec::new(), results: None, problems: Vec::new() };
        if self.wants(SpoolEventKind::Draft) {
            if let Err(error) = self.drafts.look(&self.place, self.with_text, now) {
                let path = self.place.join("drafts");
                look.problems.push(format!("{}: {error}", path.display()));
            }
            look.waiting.extend(self.drafts.waiting().map(|(name, facts)| draft(name, facts, now)));
        }
        if self.wants(SpoolEventKind::Held) {
            let held = held_requests(&self.place).into_iter().take(HELD_MAX);
            look.waiting.extend(held.map(|(file, held)| held_event(file, &held.since_utc, now)));
        }
        if self.wants(SpoolEventKind::AdmissionStopped) && is_stopped(&self.place) {
            look.waiting.push(event(SpoolEventKind::AdmissionStopped, STOP_KEY.into(), "", now));
        }
        if self.wants(SpoolEventKind::Ended) {
            match result_names(&self.place) {
                Ok(names) => look.results = Some(names),
                Err(failure) => look.problems.push(failure.problem()),
            }
        }
        look
    }

    fn wants(&self, kind: SpoolEventKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Reads the facts of a held request or of a result. A draft has them already.
    pub(super) fn complete(&self, event: &mut SpoolEvent) {
        match event.kind {
            SpoolEventKind::Draft | SpoolEventKind::AdmissionStopped => {}
            SpoolEventKind::Held => event.facts = self.facts_of_held(event).unwrap_or_default(),
            SpoolEventKind::Ended => {
                event.facts = facts_of_result(&self.place.join("results").join(&event.name));
            }
        }
    }

    /// Returns `None` for a caller who may not read `approved/`.
    fn facts_of_held(&self, event: &SpoolEvent) -> Option<EventFacts> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let approved = openat(CWD, self.place.join("approved"), flags, Mode::empty()).ok()?;
        read_facts(&approved, &event.name, self.with_text, event.at)
    }
}

fn event(kind: SpoolEventKind, key: String, name: &str, at: UtcTime) -> SpoolEvent {
    SpoolEvent { kind, key, request_id: None, name: name.into(), facts: EventFacts::default(), at }
}

fn draft(name: &str, facts: &EventFacts, now: UtcTime) -> SpoolEvent {
    let id = name.strip_suffix(".md").unwrap_or(name);
    // A changed draft is another draft: its earlier digest must not be compared with.
    let version = facts.sha256.map(|sha256| sha256.to_string()).unwrap_or_default();
    let key = format!("draft {id} {version}");
    let event = event(SpoolEventKind::Draft, key, name, now);
    SpoolEvent { request_id: Some(id.to_owned()), facts: facts.clone(), ..event }
}

fn held_event(file: String, since_utc: &str, now: UtcTime) -> SpoolEvent {
    let id = file.strip_suffix(".md").filter(|id| id.parse::<RequestId>().is_ok());
    let event = event(SpoolEventKind::Held, format!("held {file} {since_utc}"), &file, now);
    SpoolEvent { request_id: id.map(str::to_owned), ..event }
}

/// Returns the event of a new result, without its facts.
pub(super) fn ended_event(name: &str, now: UtcTime) -> SpoolEvent {
    let id = name.parse::<ResultId>().ok().and_then(|result| result.request_id());
    let event = event(SpoolEventKind::Ended, format!("ended {name}"), name, now);
    SpoolEvent { request_id: id.map(|id| id.as_str().to_owned()), ..event }
}

fn facts_of_result(path: &Path) -> EventFacts {
    let claims = records::claims(path).unwrap_or(Value::Null);
    let stated = |key: &str| claims.get(key).and_then(Value::as_str);
    // Only a known word may reach the receiver.
    let outcome = stated("outcome").filter(|word| Outcome::TEXTS.contains(word));
    EventFacts {
        outcome: Some(outcome.unwrap_or("unreadable").to_owned()),
        sha256: stated("request_sha256").and_then(|digest| digest.parse().ok()),
        ..EventFacts::default()
    }
}

/// Returns whether nothing is admitted. A daemon that stops normally is not an event.
fn is_stopped(place: &Path) -> bool {
    let daemon = DaemonView::of(place);
    let drains =
        || published_status(place).is_ok_and(|status| status.state == DaemonState::Draining);
    match daemon.as_str() {
        "halted" | "died" => true,
        _ => daemon.admission_stopped().is_some() && !drains(),
    }
}
