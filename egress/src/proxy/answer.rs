//! Answers to the client: one line for a refusal, or the body of a host's answer. A body must keep
//! its connection to the host while it is read, and no longer.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::task::JoinHandle;

use egress::frame::Reason;

use super::judge::Refused;
use super::ledger::printable;

pub(super) type Body = Either<Full<Bytes>, Forwarded>;

/// Returns the answer for a refusal: one line that names the reason.
pub(super) fn said(refused: &Refused) -> Response<Body> {
    let status = match refused.reason {
        Reason::Unresolved | Reason::Unreachable => StatusCode::BAD_GATEWAY,
        _ => StatusCode::FORBIDDEN,
    };
    let mut response = Response::new(Either::Left(Full::from(line(refused))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

pub(super) fn line(refused: &Refused) -> String {
    format!("toolexec-egress: refused: {}: {}\n", printable(&refused.asked), refused.reason)
}

/// The task that copies the bytes of one connection to a host. Dropping this aborts the task.
#[derive(Debug)]
pub(super) struct Link(pub(super) JoinHandle<()>);

impl Drop for Link {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a host's answer, which keeps its connection open while the client reads it.
#[derive(Debug)]
pub(super) struct Forwarded {
    body: Incoming,
    _link: Link,
}

impl Forwarded {
    pub(super) fn new(body: Incoming, link: Link) -> Self {
        Self { body, _link: link }
    }
}

impl hyper::body::Body for Forwarded {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
