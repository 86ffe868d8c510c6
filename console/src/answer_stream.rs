//! A connection that ends if its client has not taken the whole answer when the time for it is
//! over. A byte now and then is not enough, as it is for an idle connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::answer_time::AnswerDeadline;

/// A stream that writes nothing after the deadline of its present answer.
pub(crate) struct AnswerStream<S> {
    stream: S,
    deadline: AnswerDeadline,
    timer: Pin<Box<Sleep>>,
}

impl<S> AnswerStream<S> {
    pub(crate) fn new(stream: S, deadline: AnswerDeadline) -> Self {
        Self { stream, deadline, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Returns whether the time is over. If it is not, the task is woken when it is.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let Some(deadline) = self.deadline.end() else { return false };
        if self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        self.timer.as_mut().poll(context).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for AnswerStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for AnswerStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match this.is_late(context) {
            true => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            false => Pin::new(&mut this.stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
    use tokio::time::sleep;

    use super::*;

    const TIME: Duration = Duration::from_millis(300);

    /// Reads a byte again and again, so that the connection is never idle.
    async fn read_slowly(mut client: DuplexStream) -> usize {
        let (mut count, mut byte) = (0, [0]);
        while client.read_exact(&mut byte).await.is_ok() {
            count += 1;
            sleep(Duration::from_millis(10)).await;
        }
        count
    }

    #[test]
    fn a_client_that_reads_steadily_and_too_slowly_is_cut_off() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (server, client) = tokio::io::duplex(64);
            let deadline = AnswerDeadline::default();
            let mut server = AnswerStream::new(server, deadline.clone());
            // Before an answer begins, nothing is late.
            sleep(Duration::from_millis(20)).await;
            server.write_all(b"HTTP/1.1 100 Continue").await.unwrap();
            let reader = tokio::spawn(read_slowly(client));
            let begun = Instant::now();
            deadline.begin_for(TIME);
            let late = server.write_all(&[0; 10_000]).await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
            assert!(begun.elapsed() >= TIME, "{:?}", begun.elapsed());
            // The next answer has its own time.
            deadline.begin_for(TIME);
            server.write_all(b"x").await.unwrap();
            drop(server);
            assert!(reader.await.unwrap() > 1);
        });
    }
}
