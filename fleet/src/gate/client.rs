//! The client of the gate, used by `toolexecd`. Each call has a deadline and reads bounded lines. A
//! connection with any fault is closed, so that a late answer is never taken for the next one.

mod error;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use super::{GATE_LINE_BYTES_MAX, GateAnswer, GateQuery};

pub use error::GateError;

/// The interval of the checks for a cancellation, and the longest block of one system call.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The socket buffer takes every query, so a write that blocks longer has met a gate that hangs.
const WRITE_TIME_MAX: Duration = Duration::from_secs(1);

/// One gate, with at most one open connection.
#[derive(Debug)]
pub struct GateClient {
    socket: PathBuf,
    stream: Option<UnixStream>,
}

/// The limits of one query.
pub struct GateLimit<'a> {
    /// The longest time until the answer.
    pub time_max: Duration,
    /// Returns false to end the wait. It is called several times a second.
    pub is_wanted: &'a mut dyn FnMut() -> bool,
}

impl GateClient {
    /// Returns a client of the gate that listens at this path. Opens nothing.
    #[must_use]
    pub fn new(socket: &Path) -> Self {
        Self { socket: socket.to_owned(), stream: None }
    }

    /// Asks the gate, over the connection of the last query if that is still open. An answer to the
    /// other kind of query is an error.
    ///
    /// # Errors
    /// [`GateError`]. The gate may have received the query, and acts once if it is asked again.
    pub fn ask(
        &mut self,
        query: &GateQuery,
        mut limit: GateLimit<'_>,
    ) -> Result<GateAnswer, GateError> {
        let until = Instant::now() + limit.time_max;
        if let Some(stream) = self.stream.take() {
            match self.exchange(stream, query, until, &mut limit) {
                // The gate may have been restarted since.
                Err(GateError::Lost(..)) => {}
                answered => return answered,
            }
        }
        let stream = open(&self.socket).map_err(|error| self.unreachable(error))?;
        self.exchange(stream, query, until, &mut limit)
    }

    /// Keeps the connection only after an answer.
    fn exchange(
        &mut self,
        mut stream: UnixStream,
        query: &GateQuery,
        until: Instant,
        limit: &mut GateLimit<'_>,
    ) -> Result<GateAnswer, GateError> {
        let invalid = |what: String| GateError::Invalid(self.socket.clone(), what);
        let mut line = serde_json::to_vec(query).map_err(|error| invalid(error.to_string()))?;
        line.push(b'\n');
        stream.write_all(&line).map_err(|error| self.lost("sending a query", error))?;
        let line = self.read_line(&mut stream, until, limit)?;
        let answer: GateAnswer =
            serde_json::from_slice(&line).map_err(|error| invalid(error.to_string()))?;
        if !is_answer_to(query, &answer) {
            return Err(invalid("an answer to another query".to_owned()));
        }
        self.stream = Some(stream);
        Ok(answer)
    }

    /// Returns a line without its line feed.
    fn read_line(
        &self,
        stream: &mut UnixStream,
        until: Instant,
        limit: &mut GateLimit<'_>,
    ) -> Result<Vec<u8>, GateError> {
        let act = "waiting for an answer";
        let (mut line, mut part) = (Vec::new(), [0; 4096]);
        loop {
            if !(limit.is_wanted)() {
                return Err(GateError::Cancelled);
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(GateError::Silent(self.socket.clone(), limit.time_max));
            }
            // A timeout of zero is refused.
            let wait = rest.min(CHECK_INTERVAL).max(Duration::from_millis(1));
            stream.set_read_timeout(Some(wait)).map_err(|error| self.lost(act, error))?;
            let read = match stream.read(&mut part) {
                Ok(0) => return Err(self.lost(act, ErrorKind::UnexpectedEof.into())),
                Ok(read) => read,
                Err(error) if is_momentary(&error) => continue,
                Err(error) => return Err(self.lost(act, error)),
            };
            let new = part.get(..read).unwrap_or_default();
            line.extend_from_slice(new);
            if self.ends_line(new, line.len())? {
                line.pop();
                return Ok(line);
            }
        }
    }

    /// Returns whether the new bytes of a line have its line feed. Nothing may follow it: each
    /// answer has its query.
    fn ends_line(&self, new: &[u8], line_bytes: usize) -> Result<bool, GateError> {
        if line_bytes > GATE_LINE_BYTES_MAX {
            return Err(GateError::TooLong(self.socket.clone()));
        }
        match new.iter().position(|byte| *byte == b'\n') {
            Some(end) if end + 1 < new.len() => {
                let what = "more than one line".to_owned();
                Err(GateError::Invalid(self.socket.clone(), what))
            }
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    fn unreachable(&self, error: io::Error) -> GateError {
        GateError::Unreachable(self.socket.clone(), error)
    }

    fn lost(&self, act: &'static str, error: io::Error) -> GateError {
        GateError::Lost(self.socket.clone(), act, error)
    }
}

/// Connects without blocking: the queue of a gate that accepts no connection fills up.
fn open(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(WRITE_TIME_MAX))?;
    Ok(stream)
}

fn is_momentary(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn is_answer_to(query: &GateQuery, answer: &GateAnswer) -> bool {
    let is_of_status = matches!(answer, GateAnswer::Ready(_) | GateAnswer::Stopped { .. });
    match query {
        GateQuery::Status => is_of_status,
        GateQuery::Start(_) => !is_of_status,
    }
}
