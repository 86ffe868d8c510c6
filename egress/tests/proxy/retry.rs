//! Hosts that ask for a second ClientHello: it must name the same host as the first.

use std::io::{Read, Write};

use egress::frame::EgressRefusalReason;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{default_provider, kx_group};

use crate::servers::{TestIdentity, TestServer, five, tls_with};
use crate::support::{HostsFile, ProxyRun, arguments, order, reasons, rule};
use crate::tunnels::{ALERT, hello};

const ONE: &str = "127.0.0.1 one.example\n";
const MARK: [u8; 6] = [20, 3, 3, 0, 1, 1];

#[test]
fn an_honest_client_is_asked_twice_and_passes() {
    let identity = TestIdentity::new("one.example");
    // No client offers this group first.
    let provider = CryptoProvider { kx_groups: vec![kx_group::SECP384R1], ..default_provider() };
    let server = tls_with(identity.server(provider), None);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let stream = run.granted(&format!("one.example:{}", server.port));
    let (written, read) = five(&identity, stream).unwrap();
    assert_eq!(server.next(), (written, read));
    assert_eq!(reasons(&run.close()), []);
}

/// Returns a HelloRetryRequest; only its `random` distinguishes it from a ServerHello.
fn retry_request() -> Vec<u8> {
    const RANDOM: &str = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";
    let random = (0..32).map(|at| u8::from_str_radix(&RANDOM[2 * at..2 * at + 2], 16).unwrap());
    let mut message = vec![3, 3];
    message.extend(random);
    message.extend([0, 0x13, 1, 0, 0, 12, 0, 43, 0, 2, 3, 4, 0, 51, 0, 2, 0, 24]);
    let length = u8::try_from(message.len()).unwrap();
    let mut record = vec![22, 3, 3, 0, length + 4, 2, 0, 0, length];
    record.append(&mut message);
    record
}

/// Answers the first ClientHello with these bytes, and reports all bytes received.
fn answering(word: Vec<u8>) -> TestServer<Vec<u8>> {
    TestServer::new(move |mut stream| {
        let mut head = [0; 5];
        stream.read_exact(&mut head).unwrap();
        let mut all = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
        stream.read_exact(&mut all).unwrap();
        all.splice(..0, head);
        stream.write_all(&word).unwrap();
        // A reset is an end, too.
        drop(stream.read_to_end(&mut all));
        all
    })
}

/// Sends both parts at once or in turn. Returns the count of bytes at the host, the answer, and the
/// refusals.
fn exchange(
    word: Vec<u8>,
    parts: [&[u8]; 2],
    at_once: bool,
) -> (usize, Vec<u8>, Vec<(EgressRefusalReason, u64)>) {
    let server = answering(word.clone());
    let hosts = HostsFile::new(ONE);
    let mut words = hosts.arguments();
    // Short, because a host that does not speak TLS is waited for this long after a half-close.
    words.splice(..2, arguments(&["--timeout-ms", "4000"]));
    let run = ProxyRun::with(&words, order(vec![rule("one.example", &[server.port])]));
    let mut stream = run.granted(&format!("one.example:{}", server.port));
    let mut back = vec![0; word.len()];
    if at_once {
        stream.write_all(&parts.concat()).unwrap();
        stream.read_exact(&mut back).unwrap();
    } else {
        stream.write_all(parts[0]).unwrap();
        stream.read_exact(&mut back).unwrap();
        stream.write_all(parts[1]).unwrap();
    }
    assert_eq!(back, word);
    drop(stream.shutdown(std::net::Shutdown::Write));
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest));
    let received = server.next().len();
    let report = run.close();
    assert_eq!(report.hosts[0].bytes_out, u64::try_from(received).unwrap());
    (received, rest, reasons(&report))
}

#[test]
fn a_second_hello_for_another_host_is_refused_with_an_alert() {
    let first = hello("one.example", true);
    let other = hello("two.example", true);
    let marked = [&MARK[..], &other].concat();
    for second in [other, marked, hello("one.example", false)] {
        for at_once in [false, true] {
            let (received, rest, reasons) = exchange(retry_request(), [&first, &second], at_once);
            assert_eq!((received, &rest[..]), (first.len(), &ALERT[..]));
            assert_eq!(reasons, [(EgressRefusalReason::Sni, 1)]);
        }
    }
}

#[test]
fn a_second_hello_for_the_same_host_and_what_follows_is_passed_on() {
    let first = hello("one.example", true);
    let second = [&MARK[..], &first, &[23, 3, 3, 0, 2, 7, 7]].concat();
    for at_once in [false, true] {
        let (received, rest, reasons) = exchange(retry_request(), [&first, &second], at_once);
        assert_eq!((received, rest.len()), (first.len() + second.len(), 0));
        assert_eq!(reasons, []);
    }
}

#[test]
fn to_a_host_that_does_not_speak_tls_nothing_more_is_sent() {
    let first = hello("one.example", true);
    let second = hello("two.example", true);
    let (received, _, _) =
        exchange(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), [&first, &second], true);
    assert_eq!(received, first.len());
}
