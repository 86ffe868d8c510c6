//! Requests as bytes on a socket, and the answers. No HTTP library would send most of them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Longer than every timeout of the console.
const ANSWER_WAIT: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub(super) struct RawAnswer {
    pub(super) status: u16,
    /// The status line and the headers, in lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl RawAnswer {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the request was refused as wrong.
    #[track_caller]
    pub(super) fn assert_refused(&self, request: &str) {
        assert!((400..500).contains(&self.status), "{request}: {self:?}");
    }
}

pub(super) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(ANSWER_WAIT)).unwrap();
    stream.set_write_timeout(Some(ANSWER_WAIT)).unwrap();
    stream
}

/// Reads to the end of a connection. Returns `None` if it ends without an answer.
pub(super) fn read_answer(stream: &mut TcpStream) -> Option<RawAnswer> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    // A connection that is closed while the client still sends is reset.
    while let Ok(length @ 1..) = stream.read(&mut part) {
        bytes.extend_from_slice(&part[..length]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(RawAnswer { status, head: head.to_lowercase(), body: body.to_owned() })
}

/// Sends bytes, and reads to the end of the connection. Returns `None` without an answer.
pub(super) fn exchange(port: u16, request: &[u8]) -> Option<RawAnswer> {
    let mut stream = connect(port);
    // The console may close the connection before it has everything.
    stream.write_all(request).unwrap_or_default();
    read_answer(&mut stream)
}

/// Sends a request with these header lines, and `Connection: close`.
#[track_caller]
pub(super) fn send(port: u16, line: &str, headers: &[&str], body: &str) -> RawAnswer {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let text = format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}");
    exchange(port, text.as_bytes()).unwrap_or_else(|| panic!("no answer to {text}"))
}

/// Requests a page as the browser does.
#[track_caller]
pub(super) fn get(port: u16, path: &str) -> RawAnswer {
    send(port, &format!("GET {path}"), &[&format!("Host: localhost:{port}")], "")
}

/// Sends JSON as the page's script does.
#[track_caller]
pub(super) fn post(port: u16, path: &str, body: &str) -> RawAnswer {
    let host = format!("localhost:{port}");
    let headers = [
        format!("Host: {host}"),
        format!("Origin: http://{host}"),
        "Sec-Fetch-Site: same-origin".to_owned(),
        "Content-Type: application/json".to_owned(),
        format!("Content-Length: {}", body.len()),
    ];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    send(port, &format!("POST {path}"), &headers, body)
}
