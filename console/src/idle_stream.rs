//! A connection that ends if its client neither sends nor receives for some time, unless the client
//! waits for an answer that is still being made.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::answer_time::AnswerDeadline;

/// A stream with a limit of the time without progress in either direction.
pub(crate) struct IdleStream<S> {
    stream: S,
    idle: Duration,
    answer: AnswerDeadline,
    deadline: Pin<Box<Sleep>>,
}

impl<S> IdleStream<S> {
    pub(crate) fn new(stream: S, idle: Duration, answer: AnswerDeadline) -> Self {
        Self { stream, idle, answer, deadline: Box::pin(sleep(idle)) }
    }

    /// Passes progress on and begins the time again, or fails once the time is over.
    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.deadline.as_mut().reset(Instant::now() + self.idle);
            return polled;
        }
        if self.answer.is_awaited() {
            // The answer wakes the task.
            return Poll::Pending;
        }
        // The time in which the answer was made does not count.
        if let Some(end) = self.answer.begun().map(|begun| begun + self.idle)
            && self.deadline.deadline() < end
        {
            self.deadline.as_mut().reset(end);
        }
        self.deadline.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IdleStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        this.limit(context, polled)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IdleStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.limit(context, polled)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A flush of a socket is always ready and is not progress.
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_shutdown(context);
        this.limit(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const IDLE: Duration = Duration::from_millis(50);

    fn block_on(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test);
    }

    #[test]
    fn a_client_that_waits_for_its_answer_is_not_cut_off() {
        block_on(async {
            let (server, client) = tokio::io::duplex(64);
            let answer = AnswerDeadline::default();
            let mut server = IdleStream::new(server, IDLE, answer.clone());
            answer.begin_request();
            let waited = tokio::time::timeout(4 * IDLE, server.read_u8()).await;
            assert!(waited.is_err(), "{waited:?}");
            // From then on, its time counts.
            let known = Instant::now();
            answer.begin_for(20 * IDLE);
            let late = server.read_u8().await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            assert!(known.elapsed() >= IDLE, "{:?}", known.elapsed());
            drop(client);
        });
    }

    #[test]
    fn a_client_that_does_nothing_is_cut_off() {
        block_on(async {
            let (server, mut client) = tokio::io::duplex(64);
            let mut server = IdleStream::new(server, IDLE, AnswerDeadline::default());
            client.write_all(b"x").await.unwrap();
            let mut byte = [0];
            server.read_exact(&mut byte).await.unwrap();
            let late = server.read_exact(&mut byte).await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            // More than the buffer between the two.
            let (server, client) = tokio::io::duplex(64);
            let mut server = IdleStream::new(server, IDLE, AnswerDeadline::default());
            let late = server.write_all(&[0; 100]).await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            drop(client);
        });
    }
}
