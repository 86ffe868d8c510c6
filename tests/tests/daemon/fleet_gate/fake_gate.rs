//! A gate whose answers a test chooses. It has no database, and notes every query.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

pub(super) const READY: &str = "{\"ready\":{\"queued\":3,\"claimed\":1,\"unreported\":0,\
                                \"beat_age_sec\":{\"host1.example\":0.5},\"witnesses\":1,\
                                \"disputed\":[],\"database_sec\":0.001}}\n";

/// The reply to one query for a start.
#[derive(Clone)]
pub(super) enum GateReply {
    /// These bytes; the connection stays open.
    Bytes(Vec<u8>),
    /// The permission, after [`FakeGate::release`].
    Held,
    /// Nothing; the connection stays open.
    Silence,
    /// The end of the connection.
    Close,
}

impl GateReply {
    pub(super) fn start() -> Self {
        Self::Bytes(b"\"start\"\n".to_vec())
    }

    pub(super) fn refused(reason: &str) -> Self {
        Self::Bytes(format!("{{\"refused\":{{\"reason\":\"{reason}\"}}}}\n").into_bytes())
    }

    pub(super) fn undecided(reason: &str) -> Self {
        Self::Bytes(format!("{{\"undecided\":{{\"reason\":\"{reason}\"}}}}\n").into_bytes())
    }
}

struct GateScript {
    status: Vec<u8>,
    /// The first replies, in turn, and the one to every later query.
    replies: VecDeque<GateReply>,
    reply: GateReply,
    is_released: bool,
    has_ended: bool,
    starts: Vec<Value>,
    connections: usize,
}

/// Answers until it is dropped.
pub(super) struct FakeGate {
    script: Arc<Mutex<GateScript>>,
    accepting: Option<JoinHandle<()>>,
}

impl FakeGate {
    /// Listens at this path. The gate is ready, and permits every start.
    pub(super) fn listen(socket: &Path) -> Self {
        let listener = UnixListener::bind(socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        let script = Arc::new(Mutex::new(GateScript {
            status: READY.as_bytes().to_vec(),
            replies: VecDeque::new(),
            reply: GateReply::start(),
            is_released: false,
            has_ended: false,
            starts: Vec::new(),
            connections: 0,
        }));
        let shared = Arc::clone(&script);
        let accepting = Some(thread::spawn(move || accept(&listener, &shared)));
        Self { script, accepting }
    }

    /// Sets the bytes that answer a query for the status.
    pub(super) fn set_status(&self, bytes: &[u8]) {
        self.script().status = bytes.to_vec();
    }

    pub(super) fn set_stopped(&self, reason: &str) {
        let gauges = READY.trim_end().trim_start_matches("{\"ready\":").trim_end_matches('}');
        let stopped =
            format!("{{\"stopped\":{{\"reason\":\"{reason}\",\"gauges\":{gauges}}}}}}}\n");
        self.set_status(stopped.as_bytes());
    }

    /// Sets the replies to the next queries for a start, and the one to all others.
    pub(super) fn set_replies(&self, first: Vec<GateReply>, then: GateReply) {
        let mut script = self.script();
        (script.replies, script.reply) = (first.into(), then);
    }

    /// Sends the replies that are held.
    pub(super) fn release(&self) {
        self.script().is_released = true;
    }

    /// Returns every query for a start.
    pub(super) fn starts(&self) -> Vec<Value> {
        self.script().starts.clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.script().connections
    }

    fn script(&self) -> MutexGuard<'_, GateScript> {
        self.script.lock().unwrap()
    }
}

impl Drop for FakeGate {
    fn drop(&mut self) {
        self.script().has_ended = true;
        let joined = self.accepting.take().unwrap().join();
        assert!(joined.is_ok() || thread::panicking(), "the gate ended early");
    }
}

fn accept(listener: &UnixListener, script: &Arc<Mutex<GateScript>>) {
    while !script.lock().unwrap().has_ended {
        match listener.accept() {
            Ok((stream, _)) => {
                script.lock().unwrap().connections += 1;
                let script = Arc::clone(script);
                // It ends with its connection.
                thread::spawn(move || converse(stream, &script));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(3));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn converse(mut stream: UnixStream, script: &Mutex<GateScript>) {
    stream.set_nonblocking(false).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut line = String::new();
        // The daemon may be killed at any time.
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return;
        }
        match reply_to(&line, script) {
            GateReply::Bytes(bytes) => stream.write_all(&bytes).unwrap_or_default(),
            GateReply::Held => {
                while !script.lock().unwrap().is_released {
                    thread::sleep(Duration::from_millis(3));
                }
                stream.write_all(b"\"start\"\n").unwrap_or_default();
            }
            GateReply::Silence => {}
            GateReply::Close => return,
        }
    }
}

fn reply_to(line: &str, script: &Mutex<GateScript>) -> GateReply {
    let mut script = script.lock().unwrap();
    if script.has_ended {
        return GateReply::Close;
    }
    if line == "\"status\"\n" {
        return GateReply::Bytes(script.status.clone());
    }
    // A query in another form is noted too, and no test expects it.
    let query: Value = serde_json::from_str(line).unwrap_or_default();
    script.starts.push(query["start"].clone());
    script.replies.pop_front().unwrap_or_else(|| script.reply.clone())
}
