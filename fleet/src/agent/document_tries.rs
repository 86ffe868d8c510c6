//! The documents that could not be placed or reported, with the times of their next tries. Pure:
//! times are arguments.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::retry::RetryPause;

/// The failed tries of one document.
struct DocumentTry {
    since: Instant,
    next_at: Instant,
    pause: RetryPause,
    why: String,
}

/// The failed tries, by the id of their document.
pub(super) struct DocumentTries {
    /// The word of the log for a try that worked.
    done: &'static str,
    failed: BTreeMap<String, DocumentTry>,
}

impl DocumentTries {
    /// Makes an empty list. `done` is the word of the log for a try that worked, as `placed`.
    pub(super) fn new(done: &'static str) -> Self {
        Self { done, failed: BTreeMap::new() }
    }

    /// Returns whether the pause after the last failure is over.
    pub(super) fn may_try(&self, id: &str, now: Instant) -> bool {
        self.failed.get(id).is_none_or(|failed| failed.next_at <= now)
    }

    /// Notes a failure, and logs it unless it is the same as before. Returns the time since the
    /// first one.
    pub(super) fn failed(&mut self, id: &str, why: &str, now: Instant) -> Duration {
        let fresh = || DocumentTry {
            since: now,
            next_at: now,
            pause: RetryPause::new(),
            why: String::new(),
        };
        let failed = self.failed.entry(id.to_owned()).or_insert_with(fresh);
        if failed.why != why {
            tracing::warn!("{}: not {}: {why}", model::escape_line(id), self.done);
            failed.why = why.to_owned();
        }
        if failed.next_at <= now {
            failed.next_at = now + failed.pause.next();
        }
        now.saturating_duration_since(failed.since)
    }

    /// Forgets a document that was placed or reported, or is not this host's any more.
    pub(super) fn forget(&mut self, id: &str) {
        self.failed.remove(id);
    }

    /// Forgets every document except those for which `is_kept` returns true.
    pub(super) fn keep(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.failed.retain(|id, _| is_kept(id));
    }

    /// Returns the ids of the documents whose pause is not over.
    pub(super) fn waiting(&self, now: Instant) -> Vec<String> {
        let waiting = self.failed.iter().filter(|(_, failed)| failed.next_at > now);
        waiting.map(|(id, _)| id.clone()).collect()
    }

    /// Returns the time until the next try.
    pub(super) fn next_in(&self, now: Instant) -> Option<Duration> {
        let next_at = self.failed.values().map(|failed| failed.next_at).min();
        next_at.map(|at| at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_document_is_tried_after_growing_pauses() {
        let now = Instant::now();
        let mut tries = DocumentTries::new("placed");
        assert!(tries.may_try("a", now));
        assert_eq!(tries.failed("a", "full", now), Duration::ZERO);
        assert!(!tries.may_try("a", now));
        assert!(tries.may_try("b", now));
        assert_eq!(tries.waiting(now), ["a"]);
        let next = now + tries.next_in(now).unwrap();
        assert!(tries.may_try("a", next) && tries.waiting(next).is_empty());
        assert_eq!(tries.failed("a", "full", next), next - now);
        assert!(tries.next_in(next).unwrap() > next - now, "the pause grows");
        tries.forget("a");
        assert!(tries.may_try("a", now));
        assert_eq!(tries.next_in(now), None);
    }

    #[test]
    fn documents_of_others_are_not_kept() {
        let now = Instant::now();
        let mut tries = DocumentTries::new("placed");
        for id in ["a", "b"] {
            tries.failed(id, "full", now);
        }
        tries.keep(|id| id == "b");
        assert!(tries.may_try("a", now) && !tries.may_try("b", now));
    }
}
