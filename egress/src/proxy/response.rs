//! Answers to the client: one line for a refusal, or the body of a host's answer. A body must keep
//! its connection to the host while it is read, and no longer.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::task::JoinHandle;

use egress::frame::EgressRefusalReason;

use super::counters::printable;
use super::evaluate::RefusedRequest;

pub(super) type ResponseBody = Either<Full<Bytes>, ForwardedBody>;

pub(super) fn refusal_response(refused: &RefusedRequest) -> Response<ResponseBody> {
    let status = match refused.reason {
        EgressRefusalReason::Unresolved | EgressRefusalReason::Unreachable => {
            StatusCode::BAD_GATEWAY
        }
        _ => StatusCode::FORBIDDEN,
    };
    let mut response = Response::new(Either::Left(Full::from(refusal_line(refused))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

pub(super) fn refusal_line(refused: &RefusedRequest) -> String {
    format!("toolexec-egress: refused: {}: {}\n", printable(&refused.description), refused.reason)
}

/// Dropping this aborts the task that copies the bytes of one connection to a host.
#[derive(Debug)]
pub(super) struct ConnectionTask(pub(super) JoinHandle<()>);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[derive(Debug)]
pub(super) struct ForwardedBody {
    body: Incoming,
    _task: ConnectionTask,
}

impl ForwardedBody {
    pub(super) fn new(body: Incoming, link: ConnectionTask) -> Self {
        Self { body, _task: link }
    }
}

impl hyper::body::Body for ForwardedBody {
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
