//! Forwards a plain HTTP request over a separate connection. The outgoing request is built from the
//! parsed one: the host's name, the fields that are not hop-by-hop, and the body by its decoded
//! length. No byte of the client's framing reaches the host.

use std::error::Error;
use std::io;
use std::sync::Arc;

use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::sync::Notify;

use egress::frame::EgressRefusalReason;

use super::counted::CountedStream;
use super::evaluate::{DialTarget, RefusedRequest};
use super::headers;
use super::idle_timer::IdleTimer;
use super::model::ServedRun;
use super::options::Timeouts;
use super::response::{ConnectionTask, ForwardedBody, ResponseBody, refusal_response};

/// The largest head of an answer, and the most bytes read ahead of the tool.
const ANSWER_HEAD_BYTES_MAX: usize = 64 * 1024;

pub(super) async fn forward(
    run: &Arc<ServedRun>,
    target: &DialTarget,
    host: CountedStream,
    head: Parts,
    body: Incoming,
) -> Result<Response<ResponseBody>, RefusedRequest> {
    let refused = |reason| RefusedRequest { description: target.description.clone(), reason };
    let request = rewritten(run, target, head, body)
        .ok_or_else(|| refused(EgressRefusalReason::Malformed))?;
    let idle_timer = host.idle_timer();
    let shaken = http1::Builder::new()
        .max_buf_size(ANSWER_HEAD_BYTES_MAX)
        .handshake(TokioIo::new(host))
        .await;
    let (mut sender, link) = shaken.map_err(|_| refused(EgressRefusalReason::Unreachable))?;
    // The reader of the answer or its body notices an early end of the connection.
    let answered = Arc::new(Notify::new());
    let moving =
        copy_until_idle(link, Arc::clone(&idle_timer), run.timeouts, Arc::clone(&answered));
    let link = ConnectionTask(tokio::spawn(moving));
    let response = tokio::select! {
        response = sender.send_request(request) => response,
        () = idle_timer.expired(run.timeouts) => return Err(refused(EgressRefusalReason::Slow)),
    };
    answered.notify_one();
    let mut response = match response {
        Ok(response) => response,
        Err(error) => {
            return match failure_reason(&error) {
                // `CountedStream` has recorded the refusal; the tool gets the answer here.
                EgressRefusalReason::Bytes => {
                    Ok(refusal_response(&refused(EgressRefusalReason::Bytes)))
                }
                reason => Err(refused(reason)),
            };
        }
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(refused(EgressRefusalReason::Upgrade));
    }
    headers::strip(response.headers_mut());
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| Either::Right(ForwardedBody::new(body, link))))
}

/// Ends when no bytes have moved for too long after the answer's head. The reader of a truncated
/// answer gets an error, never a normal end.
async fn copy_until_idle(
    link: impl Future<Output = hyper::Result<()>>,
    idle_timer: Arc<IdleTimer>,
    timeouts: Timeouts,
    answered: Arc<Notify>,
) {
    let silent = async {
        answered.notified().await;
        idle_timer.expired(timeouts).await;
    };
    tokio::select! {
        ended = link => drop(ended),
        () = silent => {}
    }
}

/// A refusal by `CountedStream` is a read error here.
fn failure_reason(error: &hyper::Error) -> EgressRefusalReason {
    if error.is_parse_too_large() {
        return EgressRefusalReason::HeadTooBig;
    }
    let mut cause = error.source();
    while let Some(it) = cause {
        let io_error = it.downcast_ref::<io::Error>();
        if io_error.is_some_and(|it| it.kind() == io::ErrorKind::QuotaExceeded) {
            return EgressRefusalReason::Bytes;
        }
        cause = it.source();
    }
    EgressRefusalReason::Unreachable
}

/// Returns `None` if hyper cannot represent the outgoing request.
fn rewritten(
    run: &ServedRun,
    target: &DialTarget,
    mut head: Parts,
    body: Incoming,
) -> Option<Request<Incoming>> {
    let authority = head.uri.authority()?;
    let name = match run.rules.host(target.rule) {
        super::rules::AllowedHost::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
        host => host.to_string(),
    };
    let named = if authority.port().is_some() { format!("{name}:{}", target.port) } else { name };
    let path = head.uri.path_and_query().map_or("/", |it| it.as_str());
    // In "http://host?query" the path begins with the query.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    head.uri = Uri::try_from(path).ok()?;
    head.version = Version::HTTP_11;
    headers::strip(&mut head.headers);
    head.headers.insert(HOST, HeaderValue::try_from(named).ok()?);
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    head.extensions.clear();
    Some(Request::from_parts(head, body))
}
