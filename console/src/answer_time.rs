//! The time in which a client must take its answer. A client that reads slowly, but steadily, would
//! otherwise keep its connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use tokio::time::Instant;

/// The longest time for a page.
const PAGE_TIME: Duration = Duration::from_secs(30);
/// The slowest rate at which a file is sent, in bytes a second.
const FILE_RATE: u64 = 64 * 1024;

/// The longest time for an answer, as an extension of it. A page has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AnswerTime(Duration);

impl AnswerTime {
    /// Returns the time for a file of this size.
    pub(crate) fn of_file(bytes: u64) -> Self {
        Self(PAGE_TIME.saturating_add(Duration::from_secs(bytes / FILE_RATE)))
    }

    /// Returns the time for a stream of events that ends by itself.
    pub(crate) fn of_stream(lifetime: Duration) -> Self {
        Self(PAGE_TIME.saturating_add(lifetime))
    }
}

/// The present answer of a connection.
#[derive(Clone, Copy, Default)]
enum AnswerState {
    #[default]
    None,
    /// A request has begun, and its answer is not known yet.
    Making,
    Begun {
        at: Instant,
        /// None if the clock cannot represent it.
        end: Option<Instant>,
    },
}

/// The times of the present answer of a connection. Its service and its stream share it.
#[derive(Clone, Default)]
pub(crate) struct AnswerDeadline(Arc<Mutex<AnswerState>>);

impl AnswerDeadline {
    /// Notes that a request has begun, and its answer is not known yet.
    pub(crate) fn begin_request(&self) {
        self.set(AnswerState::Making);
    }

    /// Begins the time of an answer.
    pub(crate) fn begin(&self, answer: &Response) {
        let time = answer.extensions().get::<AnswerTime>();
        let AnswerTime(time) = time.copied().unwrap_or(AnswerTime(PAGE_TIME));
        self.begin_for(time);
    }

    /// Begins the time of an answer that must be taken within `time`.
    pub(crate) fn begin_for(&self, time: Duration) {
        let at = Instant::now();
        self.set(AnswerState::Begun { at, end: at.checked_add(time) });
    }

    /// Returns whether the client waits for an answer that is not known yet.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.get(), AnswerState::Making)
    }

    /// Returns the time at which the answer was known.
    pub(crate) fn begun(&self) -> Option<Instant> {
        match self.get() {
            AnswerState::Begun { at, .. } => Some(at),
            AnswerState::None | AnswerState::Making => None,
        }
    }

    /// Returns the deadline. There is none before the answer is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        match self.get() {
            AnswerState::Begun { end, .. } => end,
            AnswerState::None | AnswerState::Making => None,
        }
    }

    fn get(&self) -> AnswerState {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: AnswerState) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

#[cfg(test)]
mod tests {
    use axum::Extension;
    use axum::body::Body;
    use axum::response::IntoResponse as _;

    use super::*;

    /// Returns the time that an answer has, in seconds.
    fn seconds(answer: &Response) -> u64 {
        let deadline = AnswerDeadline::default();
        let begun = Instant::now();
        deadline.begin(answer);
        let end = deadline.end().unwrap();
        deadline.begin_request();
        assert_eq!(deadline.end(), None);
        (end - begun).as_secs()
    }

    #[test]
    fn a_page_has_half_a_minute_and_a_file_the_time_of_a_slow_network() {
        assert_eq!(seconds(&Response::new(Body::empty())), 30);
        let with = |time: AnswerTime| (Extension(time), "x").into_response();
        assert_eq!(seconds(&with(AnswerTime::of_file(1000))), 30);
        assert_eq!(seconds(&with(AnswerTime::of_file(6400 * 1024))), 130);
        assert_eq!(seconds(&with(AnswerTime::of_stream(Duration::from_secs(60)))), 90);
    }
}
