//! A receiver of notifications: it records each POST, and answers as the test wants.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The part of each address that no message may have.
pub(super) const SECRET: &str = "t0p-secret-topic";

/// The answer to one POST.
#[derive(Clone)]
pub(super) enum ReceiverAnswer {
    Status(u16),
    /// A status with one more header.
    With(u16, String),
    /// No answer, until the client gives up.
    Silence,
    /// Status 200, and a body without an end.
    EndlessBody,
}

#[derive(Clone, Debug)]
pub(super) struct ReceivedPost {
    /// The request line and the headers, in lower case.
    pub(super) head: String,
    pub(super) body: String,
    pub(super) at: Instant,
}

impl ReceivedPost {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[derive(Default)]
struct ReceiverState {
    posts: Vec<ReceivedPost>,
    answers: VecDeque<ReceiverAnswer>,
}

pub(super) struct TestReceiver {
    port: u16,
    state: Arc<Mutex<ReceiverState>>,
}

pub(super) fn url_of(port: u16) -> String {
    format!("http://127.0.0.1:{port}/{SECRET}")
}

impl TestReceiver {
    pub(super) fn start() -> Self {
        Self::at(0)
    }

    pub(super) fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(ReceiverState::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), &state));
            }
        });
        Self { port, state }
    }

    pub(super) fn url(&self) -> String {
        url_of(self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Sets the answers to the next POSTs. All others are answered with 200.
    pub(super) fn answer(&self, answers: impl IntoIterator<Item = ReceiverAnswer>) {
        self.state.lock().unwrap().answers.extend(answers);
    }

    pub(super) fn posts(&self) -> Vec<ReceivedPost> {
        self.state.lock().unwrap().posts.clone()
    }

    /// Waits for this number of POSTs in all, and returns them.
    #[track_caller]
    pub(super) fn wait_for(&self, count: usize) -> Vec<ReceivedPost> {
        let begun = Instant::now();
        while self.posts().len() < count {
            let posts = self.posts();
            assert!(begun.elapsed() < Duration::from_secs(30), "not {count} posts: {posts:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.posts()
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<ReceiverState>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        // A client may close the connection at any time, for example after a failed TLS handshake.
        if stream.read_exact(&mut byte).is_err() {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let answer = {
        let mut state = state.lock().unwrap();
        state.posts.push(ReceivedPost { head, body, at: Instant::now() });
        state.answers.pop_front().unwrap_or(ReceiverAnswer::Status(200))
    };
    let (status, more) = match answer {
        ReceiverAnswer::Status(status) => (status, "Content-Length: 0\r\n".to_owned()),
        ReceiverAnswer::With(status, header) => {
            (status, format!("Content-Length: 0\r\n{header}\r\n"))
        }
        ReceiverAnswer::EndlessBody => (200, "Content-Length: 99999999999\r\n".to_owned()),
        ReceiverAnswer::Silence => {
            // Returns when the client closes the connection.
            let _closed = stream.read(&mut byte);
            return;
        }
    };
    let head = format!("HTTP/1.1 {status} -\r\n{more}Connection: close\r\n\r\n");
    let mut sent = stream.write_all(head.as_bytes());
    while more.contains("99999999999") && sent.is_ok() {
        sent = stream.write_all(&[b'x'; 65536]);
    }
}
