//! The client against gates that answer, lie, hang and disappear.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::{bind, listen};

use super::*;
use crate::gate::{FleetGauges, StartQuery};

/// A directory with a socket, removed on drop.
struct GateScene {
    directory: PathBuf,
    connections: Arc<AtomicU32>,
}

impl GateScene {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-gate-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        Self { directory, connections: Arc::default() }
    }

    fn socket(&self) -> PathBuf {
        self.directory.join("gate")
    }

    /// Serves this number of connections, one after another. The thread ends then.
    fn serve(
        &self,
        count: u32,
        serve: impl Fn(u32, BufReader<UnixStream>) + Send + 'static,
    ) -> JoinHandle<()> {
        let listener = UnixListener::bind(self.socket()).unwrap();
        let connections = Arc::clone(&self.connections);
        thread::spawn(move || {
            for number in 0..count {
                let (stream, _) = listener.accept().unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                serve(number, BufReader::new(stream));
            }
        })
    }

    /// Serves one connection that gets these bytes as the answer to its first query.
    fn answer(&self, bytes: &[u8]) -> JoinHandle<()> {
        let bytes = bytes.to_vec();
        self.serve(1, move |_, mut stream| {
            assert!(!query_of(&mut stream).is_empty());
            // The client may close the connection before it has read everything.
            stream.get_mut().write_all(&bytes).unwrap_or_default();
            // Until the client has closed it.
            assert!(query_of(&mut stream).is_empty());
        })
    }
}

impl Drop for GateScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.directory).unwrap();
    }
}

/// Returns the next line, or an empty one at the end of the connection.
fn query_of(stream: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    // A connection that is closed with unread bytes is reset.
    stream.read_line(&mut line).unwrap_or_default();
    line
}

fn start() -> GateQuery {
    GateQuery::Start(StartQuery {
        request: "TR-20260209-160501Z-one".to_owned(),
        document_sha256: "0".repeat(64),
        standing: None,
    })
}

fn ask(client: &mut GateClient, query: &GateQuery, ms: u64) -> Result<GateAnswer, GateError> {
    let time_max = Duration::from_millis(ms);
    client.ask(query, GateLimit { time_max, is_wanted: &mut || true })
}

#[test]
fn queries_and_answers_take_turns_on_one_connection() {
    let scene = GateScene::new("turns");
    let gate = scene.serve(1, |_, mut stream| {
        assert_eq!(query_of(&mut stream), "\"status\"\n");
        let ready = serde_json::to_string(&GateAnswer::Ready(FleetGauges::default())).unwrap();
        stream.get_mut().write_all(format!("{ready}\n").as_bytes()).unwrap();
        let query = query_of(&mut stream);
        assert_eq!(
            query,
            format!(
                "{{\"start\":{{\"request\":\"TR-20260209-160501Z-one\",\"document_sha256\":\"{}\",\
                 \"standing\":null}}}}\n",
                "0".repeat(64)
            )
        );
        stream.get_mut().write_all(b"\"start\"\n").unwrap();
        assert!(query_of(&mut stream).is_empty());
    });
    let mut client = GateClient::new(&scene.socket());
    let ready = ask(&mut client, &GateQuery::Status, 5000).unwrap();
    assert_eq!(ready, GateAnswer::Ready(FleetGauges::default()));
    assert_eq!(ask(&mut client, &start(), 5000).unwrap(), GateAnswer::Start);
    drop(client);
    gate.join().unwrap();
    assert_eq!(scene.connections.load(Ordering::SeqCst), 1);
}

/// Every answer that is not of the protocol is an error, and none is a permission.
#[test]
fn answers_that_are_not_of_the_protocol_are_errors() {
    let too_long = [vec![b' '; GATE_LINE_BYTES_MAX + 1], b"\"start\"\n".to_vec()].concat();
    let known = "{\"queued\":0,\"claimed\":0,\"unreported\":0,\"beat_age_sec\":{},\"witnesses\":0,\
                 \"disputed\":[],\"database_sec\":0.0}";
    let more = known.replace("\"queued\":0", "\"queued\":0,\"more\":0");
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("empty", b"\n".to_vec(), "EOF while parsing"),
        ("text", b"start\n".to_vec(), "invalid answer"),
        ("not-utf8", b"\"sta\xff\"\n".to_vec(), "invalid answer"),
        ("unknown", b"\"begin\"\n".to_vec(), "unknown variant"),
        ("value", b"{\"start\":true}\n".to_vec(), "invalid answer"),
        ("key", b"{\"refused\":{\"reason\":\"r\",\"more\":1}}\n".to_vec(), "unknown field"),
        ("gauge", format!("{{\"ready\":{more}}}\n").into_bytes(), "unknown field"),
        ("twice", b"{\"refused\":{\"reason\":\"a\",\"reason\":\"b\"}}\n".to_vec(), "duplicate"),
        ("two-lines", b"\"start\"\n\"start\"\n".to_vec(), "more than one line"),
        ("two-values", b"\"start\" \"start\"\n".to_vec(), "trailing characters"),
        ("other-query", format!("{{\"ready\":{known}}}\n").into_bytes(), "to another query"),
        ("long", too_long, "more than 65536 bytes"),
    ];
    for (name, bytes, expected) in cases {
        let scene = GateScene::new(name);
        let gate = scene.answer(&bytes);
        let mut client = GateClient::new(&scene.socket());
        let error = ask(&mut client, &start(), 5000).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(error.contains("; help: "), "{name}: {error}");
        drop(client);
        gate.join().unwrap();
    }
}

#[test]
fn an_answer_to_a_start_is_not_one_to_a_status() {
    let scene = GateScene::new("kinds");
    let gate = scene.answer(b"\"start\"\n");
    let mut client = GateClient::new(&scene.socket());
    let error = ask(&mut client, &GateQuery::Status, 5000).unwrap_err().to_string();
    assert!(error.contains("to another query"), "{error}");
    drop(client);
    gate.join().unwrap();
}

#[test]
fn the_longest_line_is_read() {
    let scene = GateScene::new("longest");
    let frame = "{\"refused\":{\"reason\":\"\"}}\n".len();
    let reason = "r".repeat(GATE_LINE_BYTES_MAX - frame);
    let line = format!("{{\"refused\":{{\"reason\":\"{reason}\"}}}}\n");
    assert_eq!(line.len(), GATE_LINE_BYTES_MAX);
    let gate = scene.answer(line.as_bytes());
    let mut client = GateClient::new(&scene.socket());
    assert_eq!(ask(&mut client, &start(), 5000).unwrap(), GateAnswer::Refused { reason });
    drop(client);
    gate.join().unwrap();
}

#[test]
fn a_silent_gate_is_left_after_the_time() {
    let scene = GateScene::new("silent");
    let gate = scene.answer(b"\"sta");
    let mut client = GateClient::new(&scene.socket());
    let begun = Instant::now();
    let error = ask(&mut client, &start(), 400).unwrap_err();
    assert!(matches!(error, GateError::Silent(..)), "{error}");
    assert!(error.to_string().contains("no answer within 1 s"), "{error}");
    let elapsed = begun.elapsed();
    assert!(elapsed >= Duration::from_millis(400), "{elapsed:?}");
    // The connection was closed: the gate's thread ends although the client lives.
    gate.join().unwrap();
    drop(client);
}

#[test]
fn a_cancelled_wait_ends_at_once() {
    let scene = GateScene::new("cancelled");
    let gate = scene.answer(b"");
    let mut client = GateClient::new(&scene.socket());
    let (begun, mut calls) = (Instant::now(), 0);
    let mut is_wanted = || {
        calls += 1;
        calls < 3
    };
    let limit = GateLimit { time_max: Duration::from_secs(600), is_wanted: &mut is_wanted };
    let error = client.ask(&start(), limit).unwrap_err();
    assert!(matches!(error, GateError::Cancelled), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    gate.join().unwrap();
}

/// A late answer to the first query is not taken for the answer to the second one.
#[test]
fn a_late_answer_is_lost_with_its_connection() {
    let scene = GateScene::new("late");
    let gate = scene.serve(2, |number, mut stream| {
        assert!(!query_of(&mut stream).is_empty());
        match number {
            0 => {
                thread::sleep(Duration::from_millis(600));
                stream.get_mut().write_all(b"\"start\"\n").unwrap_or_default();
            }
            _ => stream.get_mut().write_all(b"{\"refused\":{\"reason\":\"no\"}}\n").unwrap(),
        }
    });
    let mut client = GateClient::new(&scene.socket());
    assert!(matches!(ask(&mut client, &start(), 200), Err(GateError::Silent(..))));
    let refused = GateAnswer::Refused { reason: "no".to_owned() };
    assert_eq!(ask(&mut client, &start(), 20_000).unwrap(), refused);
    gate.join().unwrap();
}

#[test]
fn a_kept_connection_that_was_closed_is_replaced() {
    let scene = GateScene::new("closed");
    let gate = scene.serve(2, |_, mut stream| {
        assert!(!query_of(&mut stream).is_empty());
        stream.get_mut().write_all(b"\"start\"\n").unwrap();
    });
    let mut client = GateClient::new(&scene.socket());
    for _ in 0..2 {
        assert_eq!(ask(&mut client, &start(), 20_000).unwrap(), GateAnswer::Start);
    }
    gate.join().unwrap();
    let error = ask(&mut client, &start(), 5000).unwrap_err();
    assert!(matches!(error, GateError::Unreachable(..)), "{error}");
}

#[test]
fn a_gate_that_is_not_there_is_named() {
    let scene = GateScene::new("absent");
    let mut client = GateClient::new(&scene.socket());
    let error = ask(&mut client, &start(), 5000).unwrap_err().to_string();
    assert!(error.starts_with(&scene.socket().display().to_string()), "{error}");
    assert!(error.contains("cannot reach the gate of the fleet"), "{error}");
}

#[test]
fn a_gate_whose_queue_is_full_does_not_block() {
    let scene = GateScene::new("queue");
    let flags = SocketFlags::CLOEXEC;
    let listener = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(scene.socket()).unwrap()).unwrap();
    listen(&listener, 0).unwrap();
    let (begun, mut kept) = (Instant::now(), Vec::new());
    let full = (0..16).find_map(|_| open(&scene.socket()).map(|stream| kept.push(stream)).err());
    assert_eq!(full.unwrap().kind(), ErrorKind::WouldBlock);
    let mut client = GateClient::new(&scene.socket());
    let error = ask(&mut client, &start(), 60_000).unwrap_err();
    assert!(matches!(error, GateError::Unreachable(..)), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
