//! Tunnels: only TLS that names the requested host passes.

use std::io::{Read, Write};

use egress::frame::EgressRefusalReason;

use crate::servers::{TestIdentity, UnvisitedServer, closed_port, five, http, sink, tls_echo};
use crate::support::{ProxyRun, assert_refused, reasons, rest, rule};

const ONE: &str = "127.0.0.1 one.example\n127.0.0.1 two.example\n";

#[test]
fn tls_to_an_allowed_host_passes_and_every_byte_is_counted() {
    let identity = TestIdentity::new("one.example");
    let server = tls_echo(&identity);
    let run = ProxyRun::among(ONE, vec![rule("ONE.example.", &[server.port])]);
    let (mut out, mut back) = (0, 0);
    for _ in 0..3 {
        let stream = run.granted(&format!("one.example:{}", server.port));
        let (written, read) = five(&identity, stream).unwrap();
        assert_eq!(server.next(), (written, read));
        (out, back) = (out + written, back + read);
    }
    let report = run.close();
    let host = &report.hosts[0];
    assert_eq!((host.name.as_str(), host.connections), ("one.example", 3));
    assert_eq!((host.bytes_out, host.bytes_in), (out, back));
    assert_eq!(reasons(&report), []);
}

#[test]
fn a_client_hello_may_come_in_pieces() {
    let identity = TestIdentity::new("one.example");
    let server = tls_echo(&identity);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let stream = run.granted(&format!("one.example:{}", server.port));
    stream.set_nodelay(true).unwrap();
    let mut tls = identity.client(SlowStream(stream), true);
    tls.write_all(b"12345").unwrap();
    let mut back = [0; 5];
    tls.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"12345");
}

struct SlowStream(std::net::TcpStream);

impl Read for SlowStream {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buf)
    }
}

impl Write for SlowStream {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        std::thread::sleep(std::time::Duration::from_millis(1));
        self.0.write(&buf[..buf.len().min(11)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn a_rule_that_names_an_address_needs_no_name_in_tls() {
    let identity = TestIdentity::new("127.0.0.1");
    let server = tls_echo(&identity);
    let run = ProxyRun::with(&[], crate::support::order(vec![rule("127.0.0.1", &[server.port])]));
    five(&identity, run.granted(&format!("127.0.0.1:{}", server.port))).unwrap();
    let other = TestIdentity::new("one.example");
    let refused = five(&other, run.granted(&format!("127.0.0.1:{}", server.port)));
    assert!(refused.is_err());
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Sni, 1)]);
}

#[track_caller]
fn refused(authority: &str, words: &str, reason: EgressRefusalReason) {
    let server = UnvisitedServer::new();
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let authority = authority.replace("PORT", &server.port.to_string());
    let answer = run.ask(&format!("CONNECT {authority} HTTP/1.1\r\nConnection: close\r\n\r\n"));
    assert_refused(&answer, words, &run.close(), reason);
    assert!(server.is_unvisited());
}

#[test]
fn tunnels_elsewhere_are_refused() {
    refused("two.example:PORT", "host", EgressRefusalReason::Host);
    refused("one.example:443", "port", EgressRefusalReason::Port);
    refused("127.0.0.1:PORT", "host", EgressRefusalReason::Host);
    refused("[::1]:PORT", "host", EgressRefusalReason::Host);
    refused("[::ffff:127.0.0.1]:PORT", "host", EgressRefusalReason::Host);
    refused("one.example", "form", EgressRefusalReason::Malformed);
}

#[test]
fn a_tunnels_host_field_must_name_the_same_host() {
    let server = sink();
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let with = |field: &str| {
        format!(
            "CONNECT one.example:{} HTTP/1.1\r\nConnection: close\r\nHost: {field}\r\n\r\n",
            server.port
        )
    };
    assert!(run.ask(&with("two.example")).starts_with("HTTP/1.1 403"));
    assert!(run.ask(&with("one.example:1")).starts_with("HTTP/1.1 403"));
    let mut stream = run.connect();
    stream.write_all(with("one.example").as_bytes()).unwrap();
    assert!(crate::support::head(&mut stream).starts_with("HTTP/1.1 200"));
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::HostField, 2)]);
}

/// None of these bytes may reach the host.
#[track_caller]
fn not_passed_on(first: &[u8], answer: &[u8]) {
    let server = sink();
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let mut stream = run.granted(&format!("one.example:{}", server.port));
    stream.write_all(first).unwrap();
    let mut back = Vec::new();
    // A reset after the answer is an end, too.
    drop(stream.read_to_end(&mut back));
    assert_eq!(back, answer);
    assert_eq!(server.next(), 0);
    let report = run.close();
    assert_eq!(reasons(&report), [(EgressRefusalReason::Sni, 1)]);
    let host = &report.hosts[0];
    assert_eq!((host.connections, host.bytes_out, host.bytes_in), (1, 0, 0));
}

pub(crate) fn hello(name: &str, say_name: bool) -> Vec<u8> {
    let mut tls = TestIdentity::new(name).client(std::io::empty(), say_name);
    let mut bytes = Vec::new();
    tls.conn.write_tls(&mut bytes).unwrap();
    bytes
}

pub(crate) const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

#[test]
fn tls_for_another_host_is_refused_with_an_alert() {
    not_passed_on(&hello("two.example", true), &ALERT);
    not_passed_on(&hello("sub.one.example", true), &ALERT);
}

#[test]
fn tls_for_no_host_is_refused_with_an_alert() {
    not_passed_on(&hello("one.example", false), &ALERT);
}

#[test]
fn tls_that_hides_its_name_is_refused() {
    // The outer name is the right one; the last extension announces an encrypted inner one.
    let mut bytes = hello("one.example", true);
    bytes.extend([0xfe, 0x0d, 0, 1, 0]);
    let body = 9 + 2 + 32 + 1 + 32;
    let ciphers = usize::from(u16::from_be_bytes([bytes[body], bytes[body + 1]]));
    let extensions = body + 2 + ciphers + 2;
    for at in [3, 7, extensions] {
        let more = u16::from_be_bytes([bytes[at], bytes[at + 1]]) + 5;
        bytes[at..at + 2].copy_from_slice(&more.to_be_bytes());
    }
    not_passed_on(&bytes, &ALERT);
}

#[test]
fn what_is_no_tls_is_refused() {
    not_passed_on(b"GET / HTTP/1.1\r\nHost: one.example\r\n\r\n", b"");
    not_passed_on(b"SSH-2.0-x\r\n", b"");
    not_passed_on(&[0; 64], b"");
}

#[test]
fn a_connect_relayed_through_a_tunnel_is_refused() {
    not_passed_on(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", b"");
}

#[test]
fn bytes_sent_with_the_connect_are_the_tunnels_first() {
    let server = sink();
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let port = server.port;
    let both = format!(
        "CONNECT one.example:{port} HTTP/1.1\r\n\r\nGET http://one.example:{port}/ HTTP/1.1\r\n\r\n"
    );
    let answer = run.ask(&both);
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert_eq!(server.next(), 0);
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Sni, 1)]);
}

#[test]
fn a_host_that_does_not_answer_is_distinguished_from_a_refused_one() {
    let free = http("").port;
    let (_held, closed) = closed_port();
    let run = ProxyRun::among(
        ONE,
        vec![rule("one.example", &[closed, free]), rule("gone.example", &[free])],
    );
    let (head, mut stream) = run.tunnel(&format!("one.example:{closed}"));
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    drop(stream.shutdown(std::net::Shutdown::Write));
    assert!(rest(&mut stream).contains("the host does not answer"));
    assert!(run.tunnel(&format!("gone.example:{free}")).0.starts_with("HTTP/1.1 502"));
    assert_eq!(
        reasons(&run.close()),
        [(EgressRefusalReason::Unreachable, 1), (EgressRefusalReason::Unresolved, 1)]
    );
}
