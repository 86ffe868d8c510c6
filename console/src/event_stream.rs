//! Streams of server-sent events: text only, bounded in number and in time. A browser that does not
//! read ends its own stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::answer_time::AnswerTime;
use crate::channel_body::{BodyClosed, BodySender, channel_body};
use crate::page_error::PageError;
use crate::state::ConsoleState;

/// A stream ends after this time; the browser opens a new one.
const LIFETIME: Duration = Duration::from_secs(3600);
/// A comment is sent so often, so that neither side takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The sending end of a stream.
pub(crate) struct EventSender {
    body: BodySender,
    begun: Instant,
    /// Seconds between the beginning and the last message.
    last_sec: AtomicU64,
    /// Held while the stream is open.
    _place: OwnedSemaphorePermit,
}

impl EventSender {
    fn new(body: BodySender, place: OwnedSemaphorePermit) -> Self {
        Self { body, begun: Instant::now(), last_sec: AtomicU64::new(0), _place: place }
    }

    /// Returns false after the time of a stream, or once the browser has closed it.
    pub(crate) fn is_open(&self) -> bool {
        self.begun.elapsed() < LIFETIME && !self.body.is_closed()
    }

    /// Sends an event. `data` is JSON, which has no line end.
    pub(crate) async fn send(&self, event: &str, data: &str) -> Result<(), BodyClosed> {
        self.send_text(format!("event: {event}\ndata: {data}\n\n")).await
    }

    /// Sends a comment if nothing was sent for some time.
    pub(crate) async fn keep_alive(&self) -> Result<(), BodyClosed> {
        let now_sec = self.begun.elapsed().as_secs();
        let quiet_sec = now_sec.saturating_sub(self.last_sec.load(Ordering::Relaxed));
        match quiet_sec >= KEEP_ALIVE.as_secs() {
            true => self.send_text(":\n\n".to_owned()).await,
            false => Ok(()),
        }
    }

    async fn send_text(&self, text: String) -> Result<(), BodyClosed> {
        self.last_sec.store(self.begun.elapsed().as_secs(), Ordering::Relaxed);
        self.body.send(text.into()).await
    }
}

/// Opens a stream, unless too many are open.
pub(crate) fn open_stream(console: &ConsoleState) -> Result<(EventSender, Response), PageError> {
    let place = Arc::clone(&console.streams).try_acquire_owned().map_err(|_| PageError::busy())?;
    let (sender, body) = channel_body();
    let time = Extension(AnswerTime::of_stream(LIFETIME));
    let response = (time, [(CONTENT_TYPE, "text/event-stream")], body).into_response();
    Ok((EventSender::new(sender, place), response))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn events_are_sent_as_the_format_has_them() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
            let (sender, body) = channel_body();
            let sender = EventSender::new(sender, place);
            assert!(sender.send("output", "\"a\\nb\"").await.is_ok());
            assert!(sender.keep_alive().await.is_ok() && sender.is_open());
            drop(sender);
            let bytes = to_bytes(body, 1000).await.unwrap();
            assert_eq!(bytes, "event: output\ndata: \"a\\nb\"\n\n");
        });
    }
}
