//! The events that wait for the receiver, oldest first. Pure: the time is an argument.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::model::{SpoolEvent, SpoolEventKind};
use super::retry;

/// Limit of waiting events. Beyond it, the oldest is dropped.
const EVENTS_MAX: usize = 1000;

#[derive(Default)]
pub(super) struct NotifyQueue {
    events: VecDeque<SpoolEvent>,
    /// The failed attempts since the last delivered event.
    failures: u32,
    /// No attempt is made before this time.
    not_before: Option<Instant>,
}

impl NotifyQueue {
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.events.iter().any(|event| event.key == key)
    }

    /// Adds an event. Returns the oldest one if it has to be dropped.
    pub(super) fn push(&mut self, event: SpoolEvent) -> Option<SpoolEvent> {
        self.events.push_back(event);
        if self.events.len() > EVENTS_MAX { self.events.pop_front() } else { None }
    }

    /// Removes the events of requests that no longer wait. An end stays an event.
    pub(super) fn keep_waiting(&mut self, waiting: &BTreeSet<String>) {
        self.events
            .retain(|event| event.kind == SpoolEventKind::Ended || waiting.contains(&event.key));
    }

    /// Returns the oldest event, if an attempt may be made now.
    pub(super) fn due(&self, now: Instant) -> Option<&SpoolEvent> {
        let event = self.events.front()?;
        self.not_before.is_none_or(|time| time <= now).then_some(event)
    }

    /// Returns the time until an attempt may be made. `None` if no event waits.
    pub(super) fn next_attempt(&self, now: Instant) -> Option<Duration> {
        self.events.front()?;
        Some(self.not_before.map_or(Duration::ZERO, |time| time.saturating_duration_since(now)))
    }

    /// Removes the oldest event after its last attempt.
    pub(super) fn settle(&mut self) -> Option<SpoolEvent> {
        (self.failures, self.not_before) = (0, None);
        self.events.pop_front()
    }

    /// Delays the next attempt after a failed one, and returns the delay.
    pub(super) fn postpone(
        &mut self,
        now: Instant,
        retry_after: Option<Duration>,
        random: u16,
    ) -> Duration {
        self.failures = self.failures.saturating_add(1);
        let delay = retry::delay(self.failures, retry_after, random);
        self.not_before = now.checked_add(delay);
        delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::inspect::notify::model::EventFacts;

    fn event(kind: SpoolEventKind, number: usize) -> SpoolEvent {
        let (key, at) = (format!("{number}"), model::UtcTime::from_unix(0));
        let facts = EventFacts::default();
        SpoolEvent { kind, key, request_id: None, name: String::new(), facts, at }
    }

    #[test]
    fn the_oldest_events_are_dropped_beyond_the_limit() {
        let mut queue = NotifyQueue::default();
        let dropped: Vec<_> = (0..EVENTS_MAX + 3)
            .filter_map(|number| queue.push(event(SpoolEventKind::Ended, number)))
            .map(|event| event.key)
            .collect();
        assert_eq!((queue.len(), dropped), (EVENTS_MAX, vec!["0".into(), "1".into(), "2".into()]));
        assert_eq!(queue.settle().map(|event| event.key), Some("3".to_owned()));
    }

    #[test]
    fn a_failed_attempt_delays_all_events_and_a_delivery_ends_the_delay() {
        let (mut queue, begin) = (NotifyQueue::default(), Instant::now());
        assert_eq!(queue.next_attempt(begin), None);
        queue.push(event(SpoolEventKind::Draft, 1));
        queue.push(event(SpoolEventKind::Ended, 2));
        assert_eq!(queue.next_attempt(begin), Some(Duration::ZERO));
        assert_eq!(queue.postpone(begin, None, u16::MAX), Duration::from_secs(1));
        assert_eq!(queue.postpone(begin, None, u16::MAX), Duration::from_secs(2));
        assert_eq!((queue.due(begin), queue.len()), (None, 2));
        let later = begin + Duration::from_secs(2);
        assert_eq!(queue.due(later).map(|event| event.key.as_str()), Some("1"));
        queue.settle();
        assert_eq!(queue.due(begin).map(|event| event.key.as_str()), Some("2"));
    }

    #[test]
    fn an_event_of_a_request_that_no_longer_waits_is_removed() {
        let mut queue = NotifyQueue::default();
        for (number, kind) in SpoolEventKind::ALL.iter().enumerate() {
            queue.push(event(*kind, number));
        }
        queue.keep_waiting(&BTreeSet::from(["1".to_owned()]));
        let left: Vec<_> = queue.events.iter().map(|event| event.kind).collect();
        assert_eq!(left, [SpoolEventKind::Held, SpoolEventKind::Ended]);
        assert!(queue.contains("1") && !queue.contains("0"));
    }
}
