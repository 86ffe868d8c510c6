//! Requests whose end can be parsed in two ways: no host may see a request that was not judged.

use std::io::{Read, Write};
use std::time::Duration;

use egress::frame::EgressRefusalReason;

use crate::servers::{HELLO, TestServer};
use crate::support::{HostsFile, ProxyRun, arguments, order, reasons, rest, rule};

const ONE: &str = "127.0.0.1 one.example\n";

/// Answers when no more bytes arrive, and reports every byte until the end.
fn patient() -> TestServer<Vec<u8>> {
    TestServer::new(|mut stream| {
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        // The client may have closed the connection.
        drop(stream.write_all(HELLO.as_bytes()));
        drop(stream.read_to_end(&mut all));
        all
    })
}

#[test]
fn no_framing_hides_a_second_request() {
    // Parsed one way, the rest is part of a body; parsed the other way, it is a separate request.
    let framings = [
        "Content-Length: 4\r\nContent-Length: 60\r\n\r\nbody",
        "Content-Length: 4, 60\r\n\r\nbody",
        "Content-Length: +4\r\n\r\nbody",
        "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0;\nGET /hidden HTTP/1.1\r\n\r\n\r\n\r\n",
        "X: a\n\n",
    ];
    let hosts = HostsFile::new(ONE);
    let mut words = hosts.arguments();
    words.splice(..2, arguments(&["--timeout-ms", "2500", "--idle-ms", "2000"]));
    let assert_one_request = |framing: &str| {
        let server = patient();
        let run = ProxyRun::with(&words, order(vec![rule("one.example", &[server.port])]));
        let mut stream = run.connect();
        let head = format!("POST http://one.example:{}/ HTTP/1.1\r\n{framing}", server.port);
        // One write, so that the timing does not separate the two.
        let hidden = "GET /hidden HTTP/1.1\r\nHost: evil.example\r\n\r\n";
        stream.write_all(format!("{head}{hidden}").as_bytes()).unwrap();
        rest(&mut stream);
        let report = run.close();
        let connections = report.hosts[0].connections;
        assert!(connections <= 1, "{framing:?}: {report:?}");
        if connections == 1 {
            let seen = String::from_utf8(server.next()).unwrap();
            assert!(!seen.contains("hidden") && !seen.contains("evil"), "{framing:?}: {seen}");
            assert!(seen.matches("content-length").count() < 2, "{framing:?}: {seen}");
        } else {
            assert_eq!(reasons(&report), [(EgressRefusalReason::Malformed, 1)], "{framing:?}");
        }
    };
    // All at once, because many of them wait for the timeout.
    std::thread::scope(|scope| {
        for framing in framings {
            let assert_one_request = &assert_one_request;
            scope.spawn(move || assert_one_request(framing));
        }
    });
}
