//! Clients that take their answers slowly, and pages that are slow to make: they keep a connection
//! for a limited time, and delay no signature.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::json;
use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, RequestText};

use super::exchange::{connect, get, post};
use super::scene::ConsoleScene;

/// A page must be taken within this time.
const PAGE_TIME: Duration = Duration::from_secs(30);
/// A connection takes no request after this time.
const REQUESTS_TIME: Duration = Duration::from_secs(60);
/// More than a Unix socket of the kernel keeps for its reader, as markup.
const QUOTES: usize = 250 * 1024;
/// More than the console makes at once.
const SLOW_PAGES: usize = 100;
/// The largest input that a page hashes beside a script.
const INPUT_BYTES: u64 = (256 << 20) - 1024;

/// Reads to the end. Returns the number of bytes.
fn count_rest(stream: &mut impl Read) -> usize {
    let (mut count, mut part) = (0, vec![0; 64 * 1024]);
    // A connection that is cut off may be reset.
    while let Ok(length @ 1..) = stream.read(&mut part) {
        count += length;
    }
    count
}

#[test]
fn a_client_that_takes_a_page_slowly_is_cut_off() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = "TR-20260101-000000Z-large";
    let draft = scene.service.path(&format!("drafts/{id}.md"));
    fs::write(draft, "\"".repeat(QUOTES)).unwrap();
    let socket = bench.home().join("console.sock");
    let _console = scene.console_at_socket(&socket, "http://localhost:8440");
    let host = "Host: localhost:8440\r\nConnection: close";
    let request = format!("GET /requests/{id} HTTP/1.1\r\n{host}\r\n\r\n");
    let mut quick = UnixStream::connect(&socket).unwrap();
    quick.write_all(request.as_bytes()).unwrap();
    let whole = count_rest(&mut quick);
    assert!(whole > QUOTES * 5, "{whole} bytes");

    let mut slow = UnixStream::connect(&socket).unwrap();
    slow.write_all(request.as_bytes()).unwrap();
    let (begun, mut taken, mut part) = (Instant::now(), 0, [0; 4096]);
    // 20 KiB a second: the connection is never idle, and the page is not taken in time.
    while begun.elapsed() < PAGE_TIME + Duration::from_secs(3) {
        taken += slow.read(&mut part).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(200));
    }
    // It did take a part of the page.
    assert!(taken > QUOTES / 4, "{taken} bytes");
    let rest = count_rest(&mut slow);
    assert!(taken + rest < whole, "all of {whole} bytes, {taken} of them slowly");
}

#[test]
fn a_connection_takes_requests_for_a_limited_time() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let mut stream = connect(port);
    let head = format!("HEAD / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    let begun = Instant::now();
    let mut answers = 0;
    // Each request is answered at once, and the next one comes in time.
    while is_answered(&mut stream, &head) {
        assert!(begun.elapsed() < REQUESTS_TIME * 2 * time_factor(), "{answers} answers");
        answers += 1;
        std::thread::sleep(Duration::from_secs(3));
    }
    assert!(begun.elapsed() >= REQUESTS_TIME, "{answers} answers in {:?}", begun.elapsed());
    scene.console.assert_answers();
}

/// Sends a request without a body, and reads its head. Returns false if the connection is closed.
fn is_answered(stream: &mut TcpStream, request: &str) -> bool {
    if stream.write_all(request.as_bytes()).is_err() {
        return false;
    }
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    while !answer.ends_with(b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(length @ 1..) => answer.extend_from_slice(&part[..length]),
            _ => return false,
        }
    }
    true
}

/// Returns whether nothing has arrived yet.
fn is_unanswered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn slow_pages_delay_no_signature() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    // The page hashes the file, also if it has other bytes than the request says.
    let slow = scene.draft(RequestText::python("print(1)").input("data.bin", "data")).id;
    let input = scene.service.path(&format!("drafts/{slow}.inputs/data.bin"));
    File::options().write(true).open(input).unwrap().set_len(INPUT_BYTES).unwrap();
    let id = scene.draft_that_prints("signed").id;
    let page = get(port, &format!("/requests/{slow}")).body;
    assert!(page.contains(&format!("{INPUT_BYTES} bytes with another digest")), "{page}");
    let request = format!("GET /requests/{slow} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    let pages: Vec<TcpStream> = (0..SLOW_PAGES)
        .map(|_| {
            let mut stream = connect(port);
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let chosen = json!({ "action": "reject", "ids": [id] }).to_string();
    let prepared = post(port, "/prepare", &chosen);
    let unanswered = pages.iter().filter(|page| is_unanswered(page)).count();
    assert_eq!(prepared.status, 200, "{prepared:?}");
    assert!(unanswered > SLOW_PAGES / 2, "{unanswered} of {SLOW_PAGES} pages were not made yet");
    // It is delivered and asked about meanwhile as well.
    let header = prepared.json()["header"].as_str().unwrap().to_owned();
    let signature = scene.signature_of_a_stranger("reject.tool-exec@threegate", "other text");
    let body = json!({ "prepared": header, "signature": signature }).to_string();
    let delivered = post(port, "/actions", &body);
    assert_eq!(delivered.status, 200, "{delivered:?}");
}
