//! One connection from the sandbox. Each request is judged separately, until one becomes a tunnel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use egress::frame::EgressRefusalReason;

use super::dial::dial;
use super::evaluate::{RefusedRequest, RequestMethod, evaluate};
use super::forward::forward;
use super::model::ServedRun;
use super::response::{ResponseBody, refusal_line, refusal_response};
use super::tunnel::Tunnel;

const HEAD_BYTES_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 64;

struct ConnectionState {
    run: Arc<ServedRun>,
    /// True once a whole head was received.
    used: AtomicBool,
    tunnel: Mutex<Option<Tunnel>>,
}

/// Waits until the client sends something. A connection that sends nothing makes no request, so
/// nothing is refused.
pub(super) async fn has_request(run: &ServedRun, client: &TcpStream) -> bool {
    matches!(timeout(run.timeouts.step, client.peek(&mut [0])).await, Ok(Ok(1..)))
}

pub(super) async fn serve(run: Arc<ServedRun>, client: TcpStream) {
    let connection = Arc::new(ConnectionState {
        run: Arc::clone(&run),
        used: AtomicBool::new(false),
        tunnel: Mutex::new(None),
    });
    let service = service_fn(|request| answer(Arc::clone(&connection), request));
    let ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(run.timeouts.step)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(FIELDS_MAX)
        .serve_connection(TokioIo::new(client), service)
        .with_upgrades()
        .await;
    if let Err(error) = ended {
        record_refusal(&connection, &error);
    }
    let tunnel = connection.tunnel.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(tunnel) = tunnel {
        tunnel.carry(&run).await;
    }
}

/// Records the refusals that hyper answers itself. A closed or an unused kept-alive connection does
/// not count.
fn record_refusal(connection: &ConnectionState, error: &hyper::Error) {
    let reason = if error.is_parse_too_large() {
        EgressRefusalReason::HeadTooBig
    } else if error.is_parse() {
        EgressRefusalReason::Malformed
    } else if error.is_timeout() && !connection.used.load(Ordering::Relaxed) {
        EgressRefusalReason::Slow
    } else {
        return;
    };
    connection.run.counters.refuse("(no request)", reason);
}

async fn answer(
    connection: Arc<ConnectionState>,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, std::convert::Infallible> {
    connection.used.store(true, Ordering::Relaxed);
    let run = &connection.run;
    Ok(handle(&connection, request).await.unwrap_or_else(|refused| {
        run.counters.refuse(&refused.description, refused.reason);
        refusal_response(&refused)
    }))
}

async fn handle(
    connection: &ConnectionState,
    mut request: Request<Incoming>,
) -> Result<Response<ResponseBody>, RefusedRequest> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (head, body) = request.into_parts();
    let target = evaluate(&connection.run.rules, &head)?;
    let host = dial(&connection.run, &target).await?;
    if target.means == RequestMethod::Plain {
        return forward(&connection.run, &target, host, head, body).await;
    }
    let tunnel = Tunnel::new(upgrade, host, target);
    *connection.tunnel.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
    Ok(Response::new(Either::Left(Full::default())))
}

pub(super) async fn refuse(
    run: Arc<ServedRun>,
    mut client: TcpStream,
    reason: EgressRefusalReason,
) {
    let refused = RefusedRequest { description: "(connection)".to_owned(), reason };
    let text = refusal_line(&refused);
    let head = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{text}",
        text.len()
    );
    let sent = timeout(run.timeouts.step, client.write_all(head.as_bytes())).await;
    if !matches!(sent, Ok(Ok(()))) || client.shutdown().await.is_err() {
        return;
    }
    // Closing with unread bytes would reset the connection and discard the explanation.
    let mut unread = [0; 4096];
    let read = async { while client.read(&mut unread).await.is_ok_and(|it| it > 0) {} };
    // In any case the connection ends here.
    drop(timeout(run.timeouts.step, read).await);
}
