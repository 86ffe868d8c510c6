//! A plain request has no time limit while bytes move, and ends when they have not for too long.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::servers::TestServer;
use crate::support::{HostsFile, ProxyRun, arguments, get, order, reasons, rest, rule};

/// Longer than any pause of a process on a busy host.
const IDLE: Duration = Duration::from_millis(3000);

fn with(port: u16) -> ProxyRun {
    let hosts = HostsFile::new("127.0.0.1 one.example\n");
    let mut words = hosts.arguments();
    words.splice(..2, arguments(&["--timeout-ms", "60000", "--idle-ms", "3000"]));
    ProxyRun::with(&words, order(vec![rule("one.example", &[port])]))
}

/// Reads a request's head, sends `head`, and then calls `then`.
fn server(head: &'static str, then: fn(&mut TcpStream)) -> TestServer<()> {
    TestServer::new(move |mut stream| {
        let mut piece = [0; 4096];
        assert!(stream.read(&mut piece).unwrap() > 0);
        stream.write_all(head.as_bytes()).unwrap();
        then(&mut stream);
    })
}

fn silent(stream: &mut TcpStream) {
    drop(std::io::copy(stream, &mut std::io::sink()));
}

#[test]
fn an_answer_that_stops_in_its_middle_is_cut_and_is_no_whole_answer() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    const SIZED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello";
    const OPEN: &str = "HTTP/1.1 200 OK\r\n\r\nhello";
    let assert_cut = |head| {
        let server = server(head, silent);
        let run = with(server.port);
        let begun = Instant::now();
        let answer = run.ask(&get(&format!("http://one.example:{}/", server.port)));
        assert!(answer.contains("hello") && !answer.ends_with("0\r\n\r\n"), "{answer}");
        assert!(begun.elapsed() >= IDLE, "{:?}", begun.elapsed());
        // The connection to the host is closed, too.
        server.next();
    };
    // All at once, because each waits for the idle limit.
    std::thread::scope(|scope| {
        for head in [SIZED, CHUNKED, OPEN] {
            scope.spawn(move || assert_cut(head));
        }
    });
}

#[test]
fn an_answer_that_goes_on_is_not_cut() {
    let server = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", |stream| {
        // Together longer than the idle limit.
        for _ in 0..5 {
            sleep(IDLE / 4);
            stream.write_all(b"x").unwrap();
        }
    });
    let run = with(server.port);
    let answer = run.ask(&get(&format!("http://one.example:{}/", server.port)));
    assert!(answer.ends_with("xxxxx"), "{answer}");
}

#[test]
fn an_upload_that_goes_on_is_not_cut() {
    let server = TestServer::new(|mut stream| {
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        while !all.ends_with(b"\r\n\r\nxxxxx") {
            match stream.read(&mut piece).unwrap() {
                0 => return,
                read => all.extend_from_slice(&piece[..read]),
            }
        }
        stream.write_all(crate::servers::HELLO.as_bytes()).unwrap();
    });
    let run = with(server.port);
    let mut stream = run.connect();
    let uri = format!("http://one.example:{}/", server.port);
    write!(stream, "PUT {uri} HTTP/1.1\r\nConnection: close\r\nContent-Length: 5\r\n\r\n").unwrap();
    for _ in 0..5 {
        sleep(IDLE / 4);
        // A refusal is checked below.
        drop(stream.write_all(b"x"));
    }
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(reasons(&run.close()), []);
}
