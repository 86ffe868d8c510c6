//! Plain HTTP through the proxy: forwarded and refused requests.

use std::io::{Read, Write};

use egress::frame::EgressRefusalReason;

use crate::servers::{HELLO, UnvisitedServer, http};
use crate::support::{ProxyRun, assert_refused, get, head, order, public, reasons, rest, rule};

const ONE: &str = "127.0.0.1 one.example\n127.0.0.1 two.example\n";

#[test]
fn an_allowed_host_answers_and_every_byte_is_counted() {
    let server = http(HELLO);
    let run =
        ProxyRun::among(ONE, vec![rule("one.example", &[server.port]), rule("two.example", &[])]);
    let answer = run.ask(&get(&format!("http://One.Example.:{}/a?b=c", server.port)));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nhello\n"), "{answer}");
    let request = String::from_utf8(server.next()).unwrap();
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: one.example:{}\r\n", server.port)), "{request}");
    let report = run.close();
    let one = &report.hosts[0];
    assert_eq!((one.name.as_str(), one.connections), ("one.example", 1));
    assert_eq!(one.addresses, [crate::support::LOOPBACK]);
    assert_eq!(one.bytes_out, u64::try_from(request.len()).unwrap());
    assert_eq!(one.bytes_in, u64::try_from(HELLO.len()).unwrap());
    let two = &report.hosts[1];
    assert_eq!((two.connections, two.bytes_out, two.bytes_in), (0, 0, 0));
    assert_eq!(two.addresses, [] as [std::net::IpAddr; 0]);
    assert_eq!(reasons(&report), []);
}

#[test]
fn an_address_that_a_rule_names_is_reached_by_that_address() {
    let server = http(HELLO);
    let run = ProxyRun::with(&[], order(vec![public("127.0.0.1", &[server.port])]));
    let answer = run.ask(&get(&format!("http://127.0.0.1:{}/", server.port)));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(run.close().hosts[0].connections, 1);
}

#[test]
fn a_body_is_passed_on_by_its_length_not_by_its_framing() {
    let server = http(HELLO);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let port = server.port;
    let answer = run.ask(&format!(
        "POST http://one.example:{port}/ HTTP/1.1\r\nConnection: close, x-secret, content-length\r\nX-Secret: 1\r\n\
         Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n\
         Keep-Alive: timeout=5\r\nContent-Length: 5\r\n\r\n12345"
    ));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let request = String::from_utf8(server.next()).unwrap().to_lowercase();
    for field in ["x-secret", "proxy-", "\r\nte:", "keep-alive"] {
        assert!(!request.contains(field), "{field}: {request}");
    }
    assert!(request.contains("connection: close\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n12345"), "{request}");
    run.ask(&format!(
        "POST http://one.example:{port}/ HTTP/1.1\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    ));
    let request = String::from_utf8(server.next()).unwrap();
    assert!(request.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), "{request}");
}

#[test]
fn fields_of_the_hosts_connection_do_not_reach_the_tool() {
    let server = http(
        "HTTP/1.1 200 OK\r\nConnection: x-hop\r\nX-Hop: 1\r\nUpgrade: h2c\r\nKeep-Alive: a\r\n\
         Content-Length: 2\r\n\r\nok",
    );
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let answer = run.ask(&get(&format!("http://one.example:{}/", server.port))).to_lowercase();
    for field in ["x-hop", "upgrade", "keep-alive"] {
        assert!(!answer.contains(field), "{answer}");
    }
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
}

#[test]
fn every_request_of_a_kept_connection_is_judged() {
    let server = http(HELLO);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let mut stream = run.connect();
    write!(stream, "GET http://one.example:{}/ HTTP/1.1\r\n\r\n", server.port).unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 200"));
    let mut hello = [0; 6];
    stream.read_exact(&mut hello).unwrap();
    write!(stream, "{}", get(&format!("http://two.example:{}/", server.port))).unwrap();
    let second = rest(&mut stream);
    assert!(
        second.starts_with("HTTP/1.1 403") && second.contains("refused: GET http://two"),
        "{second}"
    );
    let report = run.close();
    assert_eq!(reasons(&report), [(EgressRefusalReason::Host, 1)]);
    assert_eq!(report.hosts[0].connections, 1);
}

#[track_caller]
fn refused(request: &str, words: &str, reason: EgressRefusalReason) {
    let server = UnvisitedServer::new();
    let rules = vec![rule("one.example", &[server.port, 443]), rule("two.example", &[80])];
    let run = ProxyRun::among(ONE, rules);
    let request = request.replace("PORT", &server.port.to_string());
    let answer = run.ask(&request);
    assert_refused(&answer, words, &run.close(), reason);
    assert!(server.is_unvisited());
}

#[test]
fn other_hosts_are_refused() {
    refused(&get("http://evil.example:PORT/"), "host: not among", EgressRefusalReason::Host);
    refused(&get("http://xone.example:PORT/"), "host", EgressRefusalReason::Host);
    refused(&get("http://one.example.evil:PORT/"), "host", EgressRefusalReason::Host);
    refused(&get("http://sub.one.example:PORT/"), "host", EgressRefusalReason::Host);
}

#[test]
fn the_address_of_an_allowed_host_is_no_allowed_host() {
    refused(&get("http://127.0.0.1:PORT/"), "host", EgressRefusalReason::Host);
    refused(&get("http://[::ffff:127.0.0.1]:PORT/"), "host", EgressRefusalReason::Host);
    refused(&get("http://127.1:PORT/"), "host", EgressRefusalReason::Host);
    refused(&get("http://2130706433:PORT/"), "host", EgressRefusalReason::Host);
}

#[test]
fn other_ports_are_refused() {
    refused(&get("http://one.example:81/"), "port", EgressRefusalReason::Port);
    refused(&get("http://one.example/"), "port", EgressRefusalReason::Port);
    refused(&get("http://two.example:PORT/"), "port", EgressRefusalReason::Port);
}

#[test]
fn plain_http_never_goes_to_the_port_of_tls() {
    refused(&get("http://one.example:443/"), "scheme", EgressRefusalReason::Scheme);
    refused(&get("https://one.example:PORT/"), "scheme", EgressRefusalReason::Scheme);
    refused(&get("ftp://one.example:PORT/"), "scheme", EgressRefusalReason::Scheme);
}

#[test]
fn a_user_name_in_an_address_is_refused_and_not_repeated() {
    refused(
        &get("http://one.example@evil.example:PORT/"),
        "userinfo",
        EgressRefusalReason::UserInfo,
    );
    let server = http(HELLO);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    // Assembled here, because a check searches the repository for secrets.
    let user = ["me", "hush"].join(":");
    let answer = run.ask(&get(&format!("http://{user}@one.example:{}/", server.port)));
    let report = run.close();
    assert!(!format!("{answer}{report:?}").contains("hush"), "{report:?}");
    assert_refused(&answer, "userinfo", &report, EgressRefusalReason::UserInfo);
}

#[test]
fn a_host_field_that_names_another_host_is_refused() {
    let with = |field: &str| {
        format!("GET http://one.example:PORT/ HTTP/1.1\r\nConnection: close\r\n{field}\r\n\r\n")
    };
    refused(&with("Host: evil.example:PORT"), "host field", EgressRefusalReason::HostField);
    refused(&with("Host: one.example"), "host field", EgressRefusalReason::HostField);
    refused(&with("Host: x@one.example:PORT"), "host field", EgressRefusalReason::HostField);
    refused(&with("Host:"), "host field", EgressRefusalReason::HostField);
    let twice = with("Host: one.example:PORT\r\nHost: evil.example:PORT");
    refused(&twice, "host field", EgressRefusalReason::HostField);
    let same_twice = with("Host: one.example:PORT\r\nHost: one.example:PORT");
    refused(&same_twice, "host field", EgressRefusalReason::HostField);
}

#[test]
fn a_host_field_that_names_the_same_host_is_passed_on_as_the_rules() {
    let server = http(HELLO);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let port = server.port;
    run.ask(&format!(
        "GET http://one.example:{port}/ HTTP/1.1\r\nHost: ONE.example.:{port}\r\nConnection: host, close\r\n\r\n"
    ));
    let request = String::from_utf8(server.next()).unwrap();
    assert!(request.contains(&format!("host: one.example:{port}\r\n")), "{request}");
}

#[test]
fn other_forms_and_methods_are_refused() {
    refused(&get("/"), "form", EgressRefusalReason::Malformed);
    refused(
        "OPTIONS * HTTP/1.1\r\nConnection: close\r\n\r\n",
        "form",
        EgressRefusalReason::Malformed,
    );
    let trace = "TRACE http://one.example:PORT/ HTTP/1.1\r\nConnection: close\r\n\r\n";
    refused(trace, "method", EgressRefusalReason::Method);
    let relayed = "CONNECT http://one.example:PORT/ HTTP/1.1\r\nConnection: close\r\n\r\n";
    refused(relayed, "method", EgressRefusalReason::Method);
}

#[test]
fn an_offer_of_another_protocol_is_not_passed_on() {
    let server = http(HELLO);
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    for offer in ["h2c", "websocket"] {
        let answer = run.ask(&format!(
            "GET http://one.example:{}/ HTTP/1.1\r\nConnection: close, upgrade, http2-settings\r\n\
             Upgrade: {offer}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
            server.port
        ));
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello\n"), "{answer}");
        let request = String::from_utf8(server.next()).unwrap().to_lowercase();
        assert!(!request.contains("upgrade") && !request.contains("http2"), "{request}");
    }
    assert_eq!(reasons(&run.close()), []);
}

#[test]
fn an_answer_with_another_protocol_is_refused() {
    let server =
        http("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw");
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[server.port])]);
    let answer = run.ask(&get(&format!("http://one.example:{}/", server.port)));
    assert!(!answer.contains("raw") && !answer.contains(" 101 "), "{answer}");
    assert!(answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert_eq!(run.close().refusals.len(), 1);
}

#[test]
fn what_is_no_http_is_reported() {
    let run = ProxyRun::among(ONE, vec![rule("one.example", &[])]);
    run.ask("\x16\x03\x01\0\x05hello\r\n\r\n");
    run.ask("GET http://a b/ HTTP/1.1\r\n\r\n");
    run.ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(reasons(&run.close()), [(EgressRefusalReason::Malformed, 3)]);
}
