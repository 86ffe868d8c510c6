//! The body of an answer that is made while it is sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

/// The longest wait for a client that does not read.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Parts that wait for the client.
const PARTS_MAX: usize = 4;

/// The sending end.
pub(crate) struct BodySender(Sender<Bytes>);

/// The client has closed the connection, or does not read.
pub(crate) struct BodyClosed;

impl BodySender {
    /// Sends a part, and waits while too many parts wait.
    pub(crate) async fn send(&self, part: Bytes) -> Result<(), BodyClosed> {
        match timeout(SEND_TIMEOUT, self.0.send(part)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(BodyClosed),
        }
    }

    /// Returns whether the client has left.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// The receiving end, each part as it comes.
struct ChannelBody(Receiver<Bytes>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|received| received.map(|part| Ok(Frame::data(part))))
    }
}

/// Returns a body, and the end that fills it. It ends when the sender is dropped.
pub(crate) fn channel_body() -> (BodySender, Body) {
    let (to, from) = channel(PARTS_MAX);
    (BodySender(to), Body::new(ChannelBody(from)))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    #[test]
    fn a_body_has_its_parts_in_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (sender, body) = channel_body();
            assert!(sender.send("one".into()).await.is_ok() && !sender.is_closed());
            assert!(sender.send("two".into()).await.is_ok());
            drop(sender);
            assert_eq!(to_bytes(body, 100).await.unwrap(), "onetwo");
            let (sender, body) = channel_body();
            drop(body);
            assert!(sender.is_closed() && sender.send("x".into()).await.is_err());
        });
    }
}
