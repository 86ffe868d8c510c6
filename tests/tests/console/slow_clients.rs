//! Clients that are too large, too slow or too many: they cost a bounded amount, and another client
//! is still served.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use toolexec_tests::slowdown::time_factor;
use toolexec_tests::{Bench, timing};

use super::exchange::{connect, exchange, post, read_answer};
use super::scene::ConsoleScene;

const CLIENTS: usize = 300;
/// The console's limit of connections.
const CONNECTIONS_MAX: usize = 200;
/// With the descriptors that it has besides.
const DESCRIPTORS_MAX: usize = CONNECTIONS_MAX + 60;
const KIB_MAX: u64 = 100 * 1024;

#[test]
fn what_is_too_large_is_refused_before_it_is_kept() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    post(port, "/prepare", &format!("\"{}\"", "x".repeat(70_000))).assert_refused("70 kB");
    let head = format!(
        "POST /actions HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
         Content-Type: application/json\r\nConnection: close\r\n"
    );
    let part = "x".repeat(1024 * 1024);
    let chunk = format!("{:x}\r\n{part}\r\n", part.len());
    for (end, part) in [("Content-Length: 10485760", &part), ("Transfer-Encoding: chunked", &chunk)]
    {
        let mut stream = connect(port);
        stream.write_all(format!("{head}{end}\r\n\r\n").as_bytes()).unwrap();
        // It need not read the rest.
        let sent = (0..10).take_while(|_| stream.write_all(part.as_bytes()).is_ok()).count();
        if let Some(answer) = read_answer(&mut stream) {
            answer.assert_refused(&format!("{sent} MB, {end}"));
        }
    }
    let long =
        format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nX: {}\r\n\r\n", "x".repeat(40_000));
    let many =
        format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n{}\r\n", "X: y\r\n".repeat(500));
    let path = format!("GET /{} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n", "x".repeat(40_000));
    for head in [long, many, path] {
        if let Some(answer) = exchange(port, head.as_bytes()) {
            answer.assert_refused("a long head");
        }
    }
    let kib = timing::rss_kib(scene.console.pid());
    assert!(kib < KIB_MAX, "{kib} KiB");
    scene.console.assert_answers();
    scene.assert_nothing_signed();
}

/// Asserts that the console ends a connection, without an answer or with a refusal.
#[track_caller]
fn assert_cut_off(stream: &mut TcpStream) {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&part[..length]),
            Err(error) => {
                // A connection that is closed while the client still sends is reset.
                assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
                break;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{text}");
}

#[test]
fn a_slow_client_is_cut_off_and_delays_no_other() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let mut silent = connect(port);
    let mut slow_head = connect(port);
    let mut slow_body = connect(port);
    let head = format!(
        "POST /prepare HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
         Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    );
    slow_body.write_all(head.as_bytes()).unwrap();
    let begun = Instant::now();
    // One byte each second is never idle, and never a whole head.
    let mut is_open = true;
    while is_open {
        assert!(begun.elapsed() < Duration::from_secs(25) * time_factor(), "never cut off");
        scene.console.assert_answers();
        std::thread::sleep(Duration::from_secs(1));
        let slow = [&mut slow_head, &mut slow_body];
        is_open = slow.map(|stream| stream.write_all(b" ").is_ok()).contains(&true);
    }
    for stream in [&mut silent, &mut slow_body] {
        assert_cut_off(stream);
    }
    assert!(begun.elapsed() < Duration::from_secs(60) * time_factor(), "{:?}", begun.elapsed());
}

#[test]
fn many_clients_cost_a_bounded_number_of_connections() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| connect(port)).collect();
    let pid = scene.console.pid();
    let open = || fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    scene.service.wait_for("the connections", |_| open() > CONNECTIONS_MAX);
    // The rest would be accepted now.
    std::thread::sleep(Duration::from_secs(1));
    let open = open();
    assert!(open <= DESCRIPTORS_MAX, "{open} descriptors");
    // Silent clients are cut off one after another, so that this one is served.
    let begun = Instant::now();
    scene.console.assert_answers();
    assert!(begun.elapsed() < Duration::from_secs(30) * time_factor(), "{:?}", begun.elapsed());
    drop(clients);
    scene.console.assert_answers();
}
