//! Accepts connections and serves HTTP/1.1 on each. Limits keep one client from blocking all others
//! for long. A client must send each head and body, and take each answer, in a limited time; a
//! connection takes requests for a limited time.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::answer_stream::AnswerStream;
use crate::answer_time::AnswerDeadline;
use crate::idle_stream::IdleStream;
use crate::listener::{AcceptedSocket, ConsoleListener};

/// Limit of connections at once. Others wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 200;
/// The longest time for a TLS handshake, and for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time in which a client neither sends nor receives.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// After this time, a connection takes no further request: others may wait for its place.
const REQUESTS_TIME: Duration = Duration::from_secs(60);
const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEADERS_MAX: usize = 64;
/// The pause after a failed accept, for example without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Serves each connection until the process is ended.
pub(crate) async fn serve(
    listener: ConsoleListener,
    tls: Option<TlsAcceptor>,
    router: Router,
) -> Result<(), String> {
    let listener = listener.into_accepting().map_err(|error| format!("socket: {error}"))?;
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.map_err(|error| format!("socket: {error}"))?;
        match listener.accept().await {
            Ok(socket) => {
                let (tls, router) = (tls.clone(), router.clone());
                tokio::spawn(async move {
                    serve_socket(socket, tls, router).await;
                    drop(place);
                });
            }
            Err(error) => {
                eprintln!("toolexec-console: accept: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_socket(socket: AcceptedSocket, tls: Option<TlsAcceptor>, router: Router) {
    match socket {
        AcceptedSocket::Tcp(stream) => serve_stream(stream, tls, router).await,
        AcceptedSocket::Unix(stream) => serve_stream(stream, tls, router).await,
    }
}

async fn serve_stream<S>(stream: S, tls: Option<TlsAcceptor>, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let deadline = AnswerDeadline::default();
    let stream = IdleStream::new(stream, IDLE_TIMEOUT, deadline.clone());
    let stream = AnswerStream::new(stream, deadline.clone());
    let Some(tls) = tls else { return serve_http(stream, deadline, router).await };
    // A client without TLS, or one that is too slow, gets no answer.
    if let Ok(Ok(stream)) = timeout(HEAD_TIMEOUT, tls.accept(stream)).await {
        serve_http(stream, deadline, router).await;
    }
}

async fn serve_http<S>(stream: S, deadline: AnswerDeadline, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pages = TowerToHyperService::new(router);
    let service = service_fn(move |request: Request<Incoming>| {
        deadline.begin_request();
        let (answered, deadline) = (pages.call(request), deadline.clone());
        async move {
            let answer = answered.await?;
            deadline.begin(&answer);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = match timeout(REQUESTS_TIME, connection.as_mut()).await {
        Ok(ended) => ended,
        Err(_) => {
            // The present request still gets its answer.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    // The client has closed the connection, was too slow, or sent no HTTP: not this program's
    // fault.
    drop(ended);
}
