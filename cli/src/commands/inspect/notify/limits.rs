//! The limits of posts, so that a flood of drafts does not flood the receiver. Pure: the time is an
//! argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::model::{SpoolEvent, SpoolEventKind};

/// Limit of events that are posted within a minute.
const POSTS_PER_MINUTE_MAX: usize = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// The least time between two posts about one draft or held request.
const OBJECT_REST: Duration = Duration::from_secs(10);

/// The posts of the last minute.
#[derive(Default)]
pub(super) struct PostLimits {
    /// The times of the latest posts, oldest first.
    posts: VecDeque<Instant>,
    /// The drafts and held requests of the latest posts, oldest first.
    objects: VecDeque<(Instant, SpoolEventKind, String)>,
    /// The time of the last post that only has the number of waiting events.
    summed_up: Option<Instant>,
}

impl PostLimits {
    /// Returns the time until another event may be posted.
    pub(super) fn rest(&self, now: Instant) -> Duration {
        match self.posts.front() {
            Some(oldest) if self.posts.len() >= POSTS_PER_MINUTE_MAX => {
                MINUTE.saturating_sub(now.saturating_duration_since(*oldest))
            }
            _ => Duration::ZERO,
        }
    }

    /// Counts an attempt to post an event.
    pub(super) fn add_post(&mut self, now: Instant) {
        self.posts.push_back(now);
        if self.posts.len() > POSTS_PER_MINUTE_MAX {
            self.posts.pop_front();
        }
    }

    /// Returns whether the draft or held request of an event was posted a moment ago.
    pub(super) fn is_resting(&self, event: &SpoolEvent, now: Instant) -> bool {
        self.objects.iter().any(|(at, kind, name)| {
            *kind == event.kind && *name == event.name && is_within(*at, now, OBJECT_REST)
        })
    }

    /// Remembers the draft or held request of a posted event.
    pub(super) fn add_object(&mut self, event: &SpoolEvent, now: Instant) {
        self.objects.retain(|(at, _, _)| is_within(*at, now, OBJECT_REST));
        if matches!(event.kind, SpoolEventKind::Draft | SpoolEventKind::Held) {
            self.objects.push_back((now, event.kind, event.name.clone()));
        }
    }

    /// Returns whether the number of waiting events may be posted: once a minute.
    pub(super) fn may_sum_up(&self, now: Instant) -> bool {
        self.summed_up.is_none_or(|at| !is_within(at, now, MINUTE))
    }

    pub(super) fn add_sum(&mut self, now: Instant) {
        self.summed_up = Some(now);
    }
}

fn is_within(at: Instant, now: Instant, period: Duration) -> bool {
    now.saturating_duration_since(at) < period
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::inspect::notify::model::EventFacts;

    const SECOND: Duration = Duration::from_secs(1);

    fn event(kind: SpoolEventKind, name: &str, version: usize) -> SpoolEvent {
        let (key, at) = (format!("{name} {version}"), model::UtcTime::from_unix(0));
        let facts = EventFacts::default();
        SpoolEvent { kind, key, request_id: None, name: name.to_owned(), facts, at }
    }

    #[test]
    fn a_minute_has_sixty_posts_and_one_sum() {
        let (mut limits, begin) = (PostLimits::default(), Instant::now());
        for number in 0..60 {
            assert_eq!(limits.rest(begin + SECOND), Duration::ZERO, "{number}");
            limits.add_post(begin + SECOND);
        }
        assert_eq!(limits.rest(begin + 2 * SECOND), 59 * SECOND);
        assert!(limits.may_sum_up(begin + 2 * SECOND));
        limits.add_sum(begin + 2 * SECOND);
        assert!(!limits.may_sum_up(begin + 61 * SECOND));
        assert_eq!(limits.rest(begin + 61 * SECOND), Duration::ZERO);
        // The oldest post leaves the minute, and the next one is counted.
        limits.add_post(begin + 61 * SECOND);
        assert_eq!(limits.posts.len(), 60);
        assert!(limits.may_sum_up(begin + 62 * SECOND));
    }

    #[test]
    fn a_draft_rests_after_a_post_and_other_objects_do_not() {
        let (mut limits, begin) = (PostLimits::default(), Instant::now());
        limits.add_object(&event(SpoolEventKind::Draft, "a", 1), begin);
        limits.add_object(&event(SpoolEventKind::AdmissionStopped, "", 1), begin);
        let rests = |limits: &PostLimits, kind, name: &str, after: u32| {
            limits.is_resting(&event(kind, name, 2), begin + after * SECOND)
        };
        assert!(rests(&limits, SpoolEventKind::Draft, "a", 9));
        assert!(!rests(&limits, SpoolEventKind::Draft, "a", 10));
        assert!(!rests(&limits, SpoolEventKind::Draft, "b", 0));
        assert!(!rests(&limits, SpoolEventKind::Held, "a", 0));
        assert!(!rests(&limits, SpoolEventKind::AdmissionStopped, "", 0));
        limits.add_object(&event(SpoolEventKind::Held, "b", 1), begin + 10 * SECOND);
        assert_eq!(limits.objects.len(), 1);
    }
}
