//! Streamable HTTP at one loopback address, for MCP hosts that start no program. Every process of
//! the host can connect to it, so the path contains a secret. Pages in a browser are refused by
//! their `Host` and `Origin` (DNS rebinding).

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use model::Sha256;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::listen_filter::{LISTEN, LISTEN_BYTES_MAX, TASK_LISTEN, renamed};
use crate::failure::Failure;
use crate::output;
use crate::random::random_bytes;

/// Limit of connections at once. Others wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 64;
/// The longest time between the beginning and the end of a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The header with the method of a request.
const METHOD: &str = "mcp-method";
/// The pause after a failed accept, for example without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// The longest time without a message of a session. It must be longer than the longest wait for a
/// result: the end of the session would lose the answer.
const SESSION_IDLE_MAX: Duration = Duration::from_secs(30 * 60);

type McpHttpService<S> = StreamableHttpService<S, LocalSessionManager>;

/// A listening socket, and the path that it serves.
pub(super) struct McpListener {
    listener: TcpListener,
    address: SocketAddr,
    path: String,
}

impl McpListener {
    /// Opens the socket. Must be called before the server gives up TCP.
    pub(super) fn bind(asked: SocketAddr) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::Message(format!("--http {asked}: {error}; help: choose a free port"))
        };
        let listener = TcpListener::bind(asked).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let secret = u128::from_be_bytes(random_bytes()?);
        Ok(Self { listener, address, path: format!("/{secret:032x}/mcp") })
    }
}

/// Serves each connection until the process is ended.
pub(super) async fn serve<S: ServerHandler + Clone>(
    listener: McpListener,
    server: S,
    message_bytes_max: usize,
) -> Result<ExitCode, Failure> {
    let McpListener { listener, address, path } = listener;
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("--http {address}: {error}; help: start it again"))
    };
    let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| failed(&error))?;
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_MAX);
    let config = config(address, message_bytes_max);
    let service = McpHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config);
    output::line(format_args!("http://{address}{path}"))?;
    let path_sha256 = Sha256::of(path.as_bytes());
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.map_err(|error| failed(&error))?;
        match listener.accept().await {
            Ok((stream, _)) => {
                let service = service.clone();
                tokio::spawn(async move {
                    serve_connection(stream, service, path_sha256).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!("--http {address}: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Only pages of this very server may name an origin; a program names none.
fn config(address: SocketAddr, message_bytes_max: usize) -> StreamableHttpServerConfig {
    let hosts = [address.to_string(), format!("localhost:{}", address.port())];
    let origins = hosts.each_ref().map(|host| format!("http://{host}"));
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(message_bytes_max)
}

async fn serve_connection<S: ServerHandler>(
    stream: TcpStream,
    service: McpHttpService<S>,
    path_sha256: Sha256,
) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        async move {
            // Digests: the time of the comparison must not depend on the guess.
            let is_served = Sha256::of(request.uri().path().as_bytes()) == path_sha256;
            Ok::<_, Infallible>(match is_served {
                true => handle(&service, request).await,
                false => empty(StatusCode::NOT_FOUND),
            })
        }
    });
    let ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
    if let Err(error) = ended {
        // The client has closed the connection, or sent no HTTP.
        tracing::debug!("http: {error}");
    }
}

/// Lets the library answer. A subscription to tasks gets its other name before.
async fn handle<S: ServerHandler>(
    service: &McpHttpService<S>,
    request: Request<Incoming>,
) -> Response<BoxBody<Bytes, Infallible>> {
    if request.headers().get(METHOD).is_none_or(|method| method != LISTEN) {
        return service.handle(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LISTEN_BYTES_MAX).collect().await else {
        return empty(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let mut body = body.to_bytes();
    if let Some(renamed) = renamed(&body) {
        parts.headers.insert(METHOD, HeaderValue::from_static(TASK_LISTEN));
        body = renamed.into();
    }
    service.handle(Request::from_parts(parts, Full::new(body))).await
}

fn empty(status: StatusCode) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = status;
    response
}
