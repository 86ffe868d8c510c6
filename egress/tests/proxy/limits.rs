//! The limits of one run: bytes, connections, time, and the proxy's timeouts.

use std::io::Write;
use std::net::Shutdown;
use std::thread::sleep;
use std::time::{Duration, Instant};

use egress::frame::{EgressRefusalReason, ServeOrder};

use crate::servers::{
    HELLO, TestIdentity, TestServer, UnvisitedServer, five, http, sink, tls_echo,
};
use crate::support::{
    HostsFile, ProxyRun, arguments, assert_gone, eventually, get, order, reasons, rest, rule,
};

const ONE: &str = "127.0.0.1 one.example\n";

fn limited(order: ServeOrder, timeout_ms: &str, idle_ms: &str) -> ProxyRun {
    let hosts = HostsFile::new(ONE);
    let mut words = hosts.arguments();
    words.splice(..2, arguments(&["--timeout-ms", timeout_ms, "--idle-ms", idle_ms]));
    ProxyRun::with(&words, order)
}

fn one(port: u16) -> ServeOrder {
    order(vec![rule("one.example", &[port])])
}

#[test]
fn the_runs_bytes_are_never_exceeded() {
    let body = "x".repeat(100_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let server = http(answer.leak());
    let run = limited(ServeOrder { bytes_max: 50_000, ..one(server.port) }, "2000", "5000");
    let uri = format!("http://one.example:{}/", server.port);
    let answer = run.ask(&get(&uri));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.len() < 51_000, "{}", answer.len());
    let second = run.ask(&get(&uri));
    assert!(second.starts_with("HTTP/1.1 403") && second.contains("used up"), "{second}");
    let report = run.close();
    let host = &report.hosts[0];
    assert_eq!((host.bytes_in + host.bytes_out, host.connections), (50_000, 1));
    assert_eq!(
        reasons(&report),
        [(EgressRefusalReason::Bytes, 1), (EgressRefusalReason::Bytes, 1)],
        "{report:?}"
    );
}

#[test]
fn exactly_the_runs_bytes_are_enough() {
    // The second has no length: it ends with the connection, which is not a byte.
    for answer in [HELLO, "HTTP/1.1 200 OK\r\n\r\nhello\n"] {
        let server = http(answer);
        let uri = format!("http://one.example:{}/", server.port);
        let run = limited(one(server.port), "2000", "5000");
        run.ask(&get(&uri));
        let used = &run.close().hosts[0];
        let bytes_max = used.bytes_in + used.bytes_out;
        let run = limited(ServeOrder { bytes_max, ..one(server.port) }, "2000", "5000");
        assert!(run.ask(&get(&uri)).contains("hello\n"));
        assert_eq!(reasons(&run.close()), []);
        let run =
            limited(ServeOrder { bytes_max: bytes_max - 1, ..one(server.port) }, "2000", "5000");
        assert!(!run.ask(&get(&uri)).contains("hello\n"));
        let report = run.close();
        assert_eq!(report.hosts[0].bytes_in + report.hosts[0].bytes_out, bytes_max - 1);
        assert!(
            report.refusals.iter().all(|it| it.reason == EgressRefusalReason::Bytes),
            "{report:?}"
        );
        assert!(!report.refusals.is_empty());
    }
}

#[test]
fn a_tunnel_ends_when_the_runs_bytes_do() {
    let identity = TestIdentity::new("one.example");
    let server = tls_echo(&identity);
    let run = limited(ServeOrder { bytes_max: 400, ..one(server.port) }, "2000", "5000");
    assert!(five(&identity, run.granted(&format!("one.example:{}", server.port))).is_err());
    let report = run.close();
    assert_eq!(report.hosts[0].bytes_in + report.hosts[0].bytes_out, 400);
    assert_eq!(reasons(&report), [(EgressRefusalReason::Bytes, 1)]);
}

#[test]
fn connections_beyond_the_limit_are_refused_with_the_reason() {
    let server = http(HELLO);
    let run = limited(ServeOrder { connections_max: 2, ..one(server.port) }, "5000", "5000");
    let uri = format!("http://one.example:{}/", server.port);
    let held = [run.connect(), run.connect()];
    let mut third = run.connect();
    // Connections are served in the order in which they are accepted.
    write!(third, "{}", get(&uri)).unwrap();
    let refused = rest(&mut third);
    assert!(
        refused.starts_with("HTTP/1.1 403") && refused.contains("too many at once"),
        "{refused}"
    );
    drop(held);
    eventually("a connection becomes free", || run.ask(&get(&uri)).starts_with("HTTP/1.1 200"));
    let refusals = run.close().refusals;
    assert!(
        !refusals.is_empty()
            && refusals.iter().all(|it| it.reason == EgressRefusalReason::Connections)
    );
}

#[test]
fn a_run_is_over_when_its_time_is() {
    let server = sink();
    // The time is long enough for the tunnel to begin, and ends before the wait for a ClientHello.
    let run = limited(ServeOrder { time_ms_max: 3_000, ..one(server.port) }, "10000", "5000");
    let mut tunnel = run.granted(&format!("one.example:{}", server.port));
    assert_eq!(rest(&mut tunnel), "");
    assert_eq!(server.next(), 0);
    assert_gone(run.proxy);
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Time, 1)]);
}

#[test]
fn time_that_ends_with_nothing_asked_for_is_no_refusal() {
    let server = http(HELLO);
    let run = limited(ServeOrder { time_ms_max: 3000, ..one(server.port) }, "5000", "5000");
    run.ask(&get(&format!("http://one.example:{}/", server.port)));
    let mut silent = run.connect();
    assert_eq!(rest(&mut silent), "");
    assert_gone(run.proxy);
    assert_eq!(reasons(&run.close()), []);
}

#[test]
fn bytes_that_end_before_an_answer_are_one_refusal() {
    let server = http(HELLO);
    let uri = format!("http://one.example:{}/", server.port);
    // The limit is within the request's head, or within the answer's.
    for bytes_max in [20, 80] {
        let run = limited(ServeOrder { bytes_max, ..one(server.port) }, "2000", "5000");
        let answer = run.ask(&get(&uri));
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("used up"), "{answer}");
        assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Bytes, 1)], "{bytes_max}");
    }
}

#[test]
fn a_head_that_never_ends_is_not_waited_for() {
    // The first bytes arrive in time even if this process pauses. All three are open at once.
    let run = limited(one(80), "2500", "60000");
    let mut cut = run.connect();
    cut.write_all(b"GET http://one.example/ HTTP/1.1\r\nX-A: b\r\n").unwrap();
    // This connection makes no request.
    let mut silent = run.connect();
    let mut slow = run.connect();
    let begun = Instant::now();
    // Occasional bytes do not restart the timeout.
    while slow.write_all(b"G").is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "the head is still waited for");
        sleep(Duration::from_millis(50));
    }
    rest(&mut cut);
    rest(&mut silent);
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Slow, 2)]);
}

#[test]
fn a_client_hello_that_never_ends_is_not_waited_for() {
    let server = sink();
    let run = limited(one(server.port), "2500", "20000");
    let authority = format!("one.example:{}", server.port);
    let mut silent = run.granted(&authority);
    let mut slow = run.granted(&authority);
    slow.write_all(&[22, 3, 1, 2, 0, 1, 0, 1, 252]).unwrap();
    rest(&mut silent);
    rest(&mut slow);
    assert_eq!(server.next() + server.next(), 0);
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Slow, 2)]);
}

#[test]
fn a_host_that_never_answers_is_not_waited_for() {
    let server = sink();
    let run = limited(one(server.port), "5000", "300");
    let answer = run.ask(&get(&format!("http://one.example:{}/", server.port)));
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("arrive in time"), "{answer}");
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Slow, 1)]);
}

fn opened(run: &ProxyRun, port: u16) -> std::net::TcpStream {
    // Made first: the proxy waits for a ClientHello from the beginning of the tunnel.
    let mut tls = TestIdentity::new("one.example").client(std::io::empty(), true);
    let mut bytes = Vec::new();
    tls.conn.write_tls(&mut bytes).unwrap();
    let mut stream = run.granted(&format!("one.example:{port}"));
    stream.write_all(&bytes).unwrap();
    stream
}

#[test]
fn a_silent_tunnel_is_closed() {
    let server = sink();
    let run = limited(one(server.port), "2500", "3000");
    let begun = Instant::now();
    let mut stream = opened(&run, server.port);
    rest(&mut stream);
    assert!(begun.elapsed() >= Duration::from_millis(3000), "{:?}", begun.elapsed());
    assert!(server.next() > 0);
}

#[test]
fn a_half_closed_tunnel_is_closed_sooner() {
    let server = TestServer::new(|mut stream| {
        let read = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        // This direction stays open and idle for longer than the test runs.
        sleep(Duration::from_secs(60));
        read
    });
    // The idle limit is longer than `rest` waits.
    let run = limited(one(server.port), "2500", "60000");
    let mut stream = opened(&run, server.port);
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut stream), "");
}

#[test]
fn a_head_that_is_too_big_is_refused() {
    let server = UnvisitedServer::new();
    let run = limited(one(server.port), "2000", "5000");
    let port = server.port;
    let big =
        format!("GET http://one.example:{port}/ HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(20_000));
    assert!(run.ask(&big).starts_with("HTTP/1.1 431"));
    let many = format!("GET http://one.example:{port}/ HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
    assert!(run.ask(&many).starts_with("HTTP/1.1 431"));
    let long = format!("GET http://one.example:{port}/{} HTTP/1.1\r\n\r\n", "a".repeat(20_000));
    assert!(run.ask(&long).starts_with("HTTP/1.1 4"));
    let report = run.close();
    assert_eq!(reasons(&report), [(EgressRefusalReason::HeadTooBig, 3)]);
    assert!(server.is_unvisited());
}

#[test]
fn an_answers_head_that_is_too_big_is_refused() {
    let answer =
        |size| format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: {}\r\n\r\n", "a".repeat(size));
    let (good, big) = (http(answer(50_000).leak()), http(answer(300_000).leak()));
    let run = limited(order(vec![rule("one.example", &[good.port, big.port])]), "2000", "5000");
    let ask = |port| run.ask(&get(&format!("http://one.example:{port}/")));
    assert!(ask(good.port).starts_with("HTTP/1.1 200"));
    let refused = ask(big.port);
    let output: String = refused.chars().take(200).collect();
    assert!(output.starts_with("HTTP/1.1 403") && output.contains("head: too large"), "{output}");
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::HeadTooBig, 1)]);
}

#[test]
fn refusals_are_bounded_and_the_rest_is_counted() {
    let run = limited(one(80), "2000", "5000");
    for number in 0..70 {
        run.ask(&get(&format!("http://h{number}.example/")));
    }
    run.ask(&get("http://h0.example/"));
    let report = run.close();
    assert_eq!(report.refusals.len(), 64);
    assert_eq!(report.refusals[0].times, 2);
    assert_eq!(report.refusals_left_out, 6);
}
