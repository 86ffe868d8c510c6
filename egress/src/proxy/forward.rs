//! A plain HTTP request, passed on over a connection of its own.
//!
//! What goes out is written anew from what was understood: the host's name, the fields that are not this
//! connection's, the body by its decoded length. No byte of the client's framing reaches the host.

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

use egress::frame::Reason;

use super::answer::{Body, Forwarded, Link, said};
use super::headers;
use super::judge::{Refused, Target};
use super::metered::Metered;
use super::model::Run;
use super::options::Patience;
use super::pulse::Pulse;

/// Largest head of an answer, and most that is read ahead of the tool, bytes.
const ANSWER_HEAD_BYTES_MAX: usize = 64 * 1024;

pub(super) async fn forward(
    run: &Arc<Run>,
    target: &Target,
    host: Metered,
    head: Parts,
    body: Incoming,
) -> Result<Response<Body>, Refused> {
    let refused = |reason| Refused { asked: target.asked.clone(), reason };
    let request = rewritten(run, target, head, body).ok_or_else(|| refused(Reason::Malformed))?;
    let pulse = host.pulse();
    let shaken = http1::Builder::new()
        .max_buf_size(ANSWER_HEAD_BYTES_MAX)
        .handshake(TokioIo::new(host))
        .await;
    let (mut sender, link) = shaken.map_err(|_| refused(Reason::Unreachable))?;
    // What ends the connection early is seen by whoever waits for the answer or reads its body.
    let answered = Arc::new(Notify::new());
    let moving = moving(link, Arc::clone(&pulse), run.patience, Arc::clone(&answered));
    let link = Link(tokio::spawn(moving));
    let response = tokio::select! {
        response = sender.send_request(request) => response,
        () = pulse.stopped(run.patience) => return Err(refused(Reason::Slow)),
    };
    answered.notify_one();
    let mut response = match response {
        Ok(response) => response,
        Err(error) => {
            return match broken(&error) {
                // `metered` has told the ledger; the tool is told here.
                Reason::Bytes => Ok(said(&refused(Reason::Bytes))),
                reason => Err(refused(reason)),
            };
        }
    };
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(refused(Reason::Upgrade));
    }
    headers::strip(response.headers_mut());
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| Either::Right(Forwarded::new(body, link))))
}

/// Moves the bytes of one connection to a host; once there is an answer, only for as long as they move. To
/// who reads an answer that is cut in its middle that is an error, never an end.
async fn moving(
    link: impl Future<Output = hyper::Result<()>>,
    pulse: Arc<Pulse>,
    patience: Patience,
    answered: Arc<Notify>,
) {
    let silent = async {
        answered.notified().await;
        pulse.stopped(patience).await;
    };
    tokio::select! {
        ended = link => drop(ended),
        () = silent => {}
    }
}

/// Why a connection broke before an answer: what `metered` refuses comes back as an error of reading.
fn broken(error: &hyper::Error) -> Reason {
    if error.is_parse_too_large() {
        return Reason::HeadTooBig;
    }
    let mut cause = error.source();
    while let Some(it) = cause {
        let of_metered = it.downcast_ref::<io::Error>();
        if of_metered.is_some_and(|it| it.kind() == io::ErrorKind::QuotaExceeded) {
            return Reason::Bytes;
        }
        cause = it.source();
    }
    Reason::Unreachable
}

/// `None` if hyper finds no form for it.
fn rewritten(
    run: &Run,
    target: &Target,
    mut head: Parts,
    body: Incoming,
) -> Option<Request<Incoming>> {
    let authority = head.uri.authority()?;
    let name = match run.rules.host(target.rule) {
        super::rules::Host::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
        host => host.to_string(),
    };
    let named = if authority.port().is_some() { format!("{name}:{}", target.port) } else { name };
    let path = head.uri.path_and_query().map_or("/", |it| it.as_str());
    // "http://host?query" has a path that only begins with its query.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    head.uri = Uri::try_from(path).ok()?;
    head.version = Version::HTTP_11;
    headers::strip(&mut head.headers);
    head.headers.insert(HOST, HeaderValue::try_from(named).ok()?);
    head.headers.insert(CONNECTION, HeaderValue::from_static("close"));
    head.extensions.clear();
    Some(Request::from_parts(head, body))
}
