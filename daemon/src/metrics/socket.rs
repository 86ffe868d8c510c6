//! Serves the metrics on a Unix socket over HTTP (`curl --unix-socket`). One thread serves one
//! connection at a time, within bounds on the request's size and the time; a slower client is
//! disconnected. The socket has a path and is not reachable over a network.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::model::MetricsSocketError;
use super::registry::Metrics;

/// Bytes of the HTTP request's head.
const REQUEST_BYTES_MAX: usize = 8 * 1024;
/// The time limit for the request and the response together.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(2);
/// The pause after an error of `accept`, which may persist.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// A socket that answers until it is dropped, which removes its path.
pub struct MetricsSocket(PathBuf);

impl MetricsSocket {
    /// Answers on its own thread. The permissions of the directory decide who may connect.
    ///
    /// # Errors
    /// The path is in use, or the socket or the thread cannot be created.
    pub fn listen(path: &Path, metrics: Arc<Metrics>) -> Result<Self, MetricsSocketError> {
        let failed = |error| MetricsSocketError::Io(path.to_owned(), error);
        if let Ok(found) = fs::symlink_metadata(path) {
            // A socket without a listener was left by a daemon that was killed.
            if !found.file_type().is_socket() || UnixStream::connect(path).is_ok() {
                return Err(MetricsSocketError::InUse(path.to_owned()));
            }
            fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let socket = Self(path.to_owned());
        fs::set_permissions(path, Permissions::from_mode(0o666)).map_err(failed)?;
        let answering = move || serve(&listener, &metrics);
        thread::Builder::new().name("metrics".into()).spawn(answering).map_err(failed)?;
        Ok(socket)
    }
}

impl Drop for MetricsSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.0) {
            tracing::debug!("{}: remove: {error}", self.0.display());
        }
    }
}

fn serve(listener: &UnixListener, metrics: &Metrics) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Err(error) = respond(stream, metrics) {
                    tracing::debug!("metrics: {error}");
                }
            }
            Err(error) => {
                tracing::debug!("metrics: accept: {error}");
                thread::sleep(ACCEPT_RETRY_DELAY);
            }
        }
    }
}

fn respond(mut stream: UnixStream, metrics: &Metrics) -> io::Result<()> {
    let until = Instant::now() + CONNECTION_TIME_MAX;
    let question = read_request(&mut stream, until)?;
    let text = match question.split(|byte| *byte == b' ').next() {
        Some(b"GET") => {
            let text = metrics.render();
            format!("HTTP/1.1 200 OK\r\n{}\r\n{text}", headers(text.len()))
        }
        Some(b"HEAD") => {
            format!("HTTP/1.1 200 OK\r\n{}\r\n", headers(metrics.render().len()))
        }
        _ => "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\n\
              Connection: close\r\n\r\n"
            .to_owned(),
    };
    let mut left = text.as_bytes();
    while !left.is_empty() {
        stream.set_write_timeout(Some(time_left(until)?))?;
        let written = stream.write(left)?;
        left = left.get(written..).unwrap_or_default();
    }
    Ok(())
}

fn headers(bytes: usize) -> String {
    format!(
        "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n\
         Content-Length: {bytes}\r\nConnection: close\r\n"
    )
}

/// A body is not read.
fn read_request(stream: &mut UnixStream, until: Instant) -> io::Result<Vec<u8>> {
    let (mut question, mut part) = (Vec::new(), [0; 1024]);
    while !question.windows(4).any(|end| end == b"\r\n\r\n") {
        if question.len() >= REQUEST_BYTES_MAX {
            return Err(io::Error::other("the request is too long"));
        }
        stream.set_read_timeout(Some(time_left(until)?))?;
        match stream.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => question.extend_from_slice(part.get(..read).unwrap_or_default()),
        }
    }
    Ok(question)
}

fn time_left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
