//! The events that were announced, so that no event is announced twice. Its size is bounded.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::model::{SpoolEvent, SpoolEventKind};

/// The version of the state file.
const VERSION: u32 = 1;
/// The beginning of a state file of any version.
pub(super) const STATE_FILE_BEGINNING: &str = "{\"toolexec_notify\":";
/// More than the events that one look finds waiting, so that none of these is forgotten.
const KEYS_MAX: usize = 4096;
/// The newest results that are remembered one by one. Results may appear out of order.
const RESULTS_MAX: usize = 1024;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnnouncedEvents {
    toolexec_notify: u32,
    /// The keys of waiting events, in the order of their announcement.
    keys: VecDeque<String>,
    /// Each result up to this name is old. `None` before results were first listed.
    old_results: Option<String>,
    /// The announced results behind that name.
    results: BTreeSet<String>,
}

impl Default for AnnouncedEvents {
    fn default() -> Self {
        Self {
            toolexec_notify: VERSION,
            keys: VecDeque::new(),
            old_results: None,
            results: BTreeSet::new(),
        }
    }
}

impl AnnouncedEvents {
    /// Reads a state file. Returns `None` if it is not one of this version.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(|it: &Self| it.toolexec_notify == VERSION)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Texts and numbers can always be written.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    pub(super) fn has(&self, event: &SpoolEvent) -> bool {
        match event.kind {
            SpoolEventKind::Ended => self.has_result(&event.name),
            _ => self.keys.contains(&event.key),
        }
    }

    pub(super) fn has_result(&self, name: &str) -> bool {
        let is_old = self.old_results.as_deref().is_some_and(|old| name <= old);
        is_old || self.results.contains(name)
    }

    /// Takes all present results as announced, if none were ever listed.
    pub(super) fn adopt_results(&mut self, names: &[String]) -> bool {
        if self.old_results.is_some() {
            return false;
        }
        self.old_results = Some(String::new());
        for name in names {
            self.add_result(name);
        }
        true
    }

    /// Adds an event. The keys of events that still wait are never forgotten.
    pub(super) fn add(&mut self, event: &SpoolEvent, waiting: &BTreeSet<String>) {
        if event.kind == SpoolEventKind::Ended {
            return self.add_result(&event.name);
        }
        self.keys.push_back(event.key.clone());
        if self.keys.len() > KEYS_MAX {
            let oldest = self.keys.iter().position(|key| !waiting.contains(key)).unwrap_or(0);
            self.keys.remove(oldest);
        }
    }

    fn add_result(&mut self, name: &str) {
        self.results.insert(name.to_owned());
        if self.results.len() > RESULTS_MAX {
            self.old_results = self.results.pop_first().max(self.old_results.take());
        }
    }

    /// Forgets a key: the next event of this key is announced. Returns whether it was known.
    pub(super) fn forget(&mut self, key: &str) -> bool {
        let before = self.keys.len();
        self.keys.retain(|known| known != key);
        before != self.keys.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::inspect::notify::model::EventFacts;

    fn event(kind: SpoolEventKind, key: &str) -> SpoolEvent {
        let at = model::UtcTime::from_unix(0);
        let (key, name, facts) = (key.to_owned(), key.to_owned(), EventFacts::default());
        SpoolEvent { kind, key, request_id: None, name, facts, at }
    }

    fn result(number: usize) -> String {
        format!("TS-20260209-160501Z-TR-20260209-160501Z-{number:06}")
    }

    #[test]
    fn keys_are_bounded_and_those_of_waiting_events_stay() {
        let mut announced = AnnouncedEvents::default();
        let waiting = BTreeSet::from(["draft 0".to_owned()]);
        for number in 0..KEYS_MAX * 2 {
            announced.add(&event(SpoolEventKind::Draft, &format!("draft {number}")), &waiting);
        }
        assert_eq!(announced.keys.len(), KEYS_MAX);
        assert!(announced.has(&event(SpoolEventKind::Draft, "draft 0")));
        assert!(!announced.has(&event(SpoolEventKind::Draft, "draft 1")));
        assert!(announced.forget("draft 0") && !announced.forget("draft 0"));
    }

    #[test]
    fn results_are_bounded_and_none_is_new_twice() {
        let mut announced = AnnouncedEvents::default();
        let old: Vec<String> = (0..RESULTS_MAX + 5).map(result).collect();
        assert!(announced.adopt_results(&old) && !announced.adopt_results(&old));
        assert_eq!(announced.results.len(), RESULTS_MAX);
        assert!(old.iter().all(|name| announced.has_result(name)));
        let late = format!("{}-late", result(RESULTS_MAX));
        let next = event(SpoolEventKind::Ended, &result(RESULTS_MAX + 5));
        assert!(!announced.has_result(&late) && !announced.has(&next));
        announced.add(&next, &BTreeSet::new());
        assert!(announced.has(&next) && !announced.has_result(&late));
        assert_eq!(announced.results.len(), RESULTS_MAX);
    }

    #[test]
    fn a_state_file_is_read_as_it_was_written() {
        let mut announced = AnnouncedEvents::default();
        announced.add(&event(SpoolEventKind::Held, "held a\u{202e}"), &BTreeSet::new());
        announced.adopt_results(&[result(1)]);
        let bytes = announced.to_bytes();
        assert!(bytes.starts_with(STATE_FILE_BEGINNING.as_bytes()));
        assert_eq!(AnnouncedEvents::parse(&bytes), Some(announced));
        assert_eq!(AnnouncedEvents::parse(b"{\"toolexec_notify\":2}"), None);
    }
}
