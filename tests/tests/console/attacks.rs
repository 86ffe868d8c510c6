//! Requests that no page of the console sends: for another host, from another page, with paths and
//! methods that it does not have, and with heads on which two readers could disagree.

use toolexec_tests::{Bench, list, ssh_keygen_works};

use super::exchange::{exchange, get, post, send};
use super::scene::ConsoleScene;

const JSON: &str = "Content-Type: application/json";

/// A body that the console takes if the guards let it pass.
fn rejection(id: &str) -> String {
    format!("{{\"action\":\"reject\",\"ids\":[\"{id}\"]}}")
}

#[test]
fn a_request_for_another_host_is_not_answered() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = scene.draft_that_prints("secret").id;
    let port = scene.console.port;
    let good = get(port, "/");
    assert!(good.status == 200 && good.body.contains(&id), "{good:?}");
    let own = format!("Host: localhost:{port}");
    let cases: Vec<(&str, Vec<String>)> = vec![
        ("GET /", vec!["Host: attacker.example".to_owned()]),
        // A name of the attacker that was bound to this address.
        ("GET /", vec![format!("Host: attacker.example:{port}")]),
        ("GET /", vec![format!("Host: localhost:{port}.attacker.example")]),
        ("GET /", vec![format!("Host: 127.0.0.1:{port}")]),
        ("GET /", vec!["Host: localhost".to_owned()]),
        ("GET /", vec!["Host:".to_owned()]),
        ("GET /", vec!["X-Forwarded-Host: localhost".to_owned()]),
        ("GET /", vec![own.clone(), "Host: attacker.example".to_owned()]),
        ("GET /", vec![own.clone(), own.clone()]),
        ("GET http://attacker.example/", vec![own.clone()]),
        ("GET http://attacker.example/", vec!["Host: attacker.example".to_owned()]),
    ];
    for (line, headers) in cases {
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = send(port, line, &headers, "");
        answer.assert_refused(&format!("{line} {headers:?}"));
        assert!(!answer.body.contains(&id), "{line} {headers:?}: {answer:?}");
        assert!(!answer.body.contains("attacker"), "an echo: {answer:?}");
    }
}

#[test]
fn a_page_elsewhere_cannot_send_anything() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = scene.draft_that_prints("never").id;
    let port = scene.console.port;
    let body = rejection(&id);
    let good = post(port, "/prepare", &body);
    assert_eq!(good.status, 200, "{good:?}");
    let own = format!("Origin: http://localhost:{port}");
    let (own, host) = (own.as_str(), format!("Host: localhost:{port}"));
    let length = format!("Content-Length: {}", body.len());
    let cases: Vec<Vec<&str>> = vec![
        vec!["Origin: https://attacker.example", JSON],
        vec!["Origin: null", JSON],
        vec!["Origin: http://localhost:1", JSON],
        vec![JSON],
        vec![own, "Origin: https://attacker.example", JSON],
        vec![own, "Sec-Fetch-Site: cross-site", JSON],
        vec![own, "Sec-Fetch-Site: same-site", JSON],
        vec![own, "Sec-Fetch-Site: none", JSON],
        // The types that a form can send.
        vec![own, "Content-Type: application/x-www-form-urlencoded"],
        vec![own, "Content-Type: multipart/form-data; boundary=x"],
        vec![own, "Content-Type: text/plain"],
        vec![own, "Content-Type: text/plain; application/json"],
        vec![own],
    ];
    for path in ["/prepare", "/actions"] {
        for headers in &cases {
            let mut headers = headers.clone();
            headers.extend([host.as_str(), &length]);
            let answer = send(port, &format!("POST {path}"), &headers, &body);
            // The guard refuses it before the body is read.
            assert!(matches!(answer.status, 403 | 415), "{path} {headers:?}: {answer:?}");
            assert!(!answer.body.contains("message"), "{headers:?}: {answer:?}");
        }
    }
    // No page elsewhere may ask for permission to send, or read an answer.
    let asks = [host.as_str(), "Origin: https://attacker.example"];
    let answer = send(port, "OPTIONS /prepare", &asks, "");
    answer.assert_refused("OPTIONS");
    for answer in [answer, send(port, "GET /", &asks, "")] {
        assert!(!answer.head.contains("access-control-"), "{answer:?}");
    }
    scene.assert_nothing_signed();
}

#[test]
fn a_page_elsewhere_may_link_here_and_embed_nothing() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let host = format!("Host: localhost:{port}");
    let foreign = [host.as_str(), "Sec-Fetch-Site: cross-site"];
    for request in ["GET /", "HEAD /", "GET /events", "GET /results"] {
        let headers = [foreign[0], foreign[1], "Sec-Fetch-Dest: image"];
        send(port, request, &headers, "").assert_refused(request);
    }
    let link = [foreign[0], foreign[1], "Sec-Fetch-Dest: document"];
    assert_eq!(send(port, "GET /", &link, "").status, 200);
}

/// Asserts that a path leads to no page, and that the answer reveals no file and no markup.
#[track_caller]
fn assert_leads_nowhere(port: u16, path: &str) {
    let answer = get(port, path);
    assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
    let leaks = ["root:", "top secret", "passwd", "secret.md", "alert(1)"];
    assert!(!leaks.iter().any(|leak| answer.body.contains(leak)), "{path}: {answer:?}");
    assert!(!answer.head.contains("\r\nlocation:"), "{path}: {answer:?}");
}

#[test]
fn paths_lead_out_of_no_directory() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    std::fs::write(scene.service.path("secret.md"), "top secret").unwrap();
    for path in [
        "/../secret.md",
        "/../../../../etc/passwd",
        "/assets/../../../etc/passwd",
        "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/requests/../../etc/passwd",
        "/requests/%2e%2e%2fsecret",
        "/requests/..%2f..%2f..%2fetc%2fpasswd/output",
        "/requests/TR-20260101-000000Z-x%00.md",
        "/requests/TR-20260101-000000Z-x%2f..%2f..%2fsecret",
        "/standing/..%2f..%2fsecret",
        "/results/..",
        "/results/%2e%2e",
        "/results/../secret.md",
        "/results/..%2fsecret.md/files/x",
        "/actions/..%2f..%2fsecret.md",
        "/actions/..",
        "/actions/%2e%2e%2fdrafts",
        "//etc/passwd",
        "/\\..\\secret.md",
        "/<script>alert(1)</script>",
        "/requests/<script>alert(1)<%2fscript>",
    ] {
        assert_leads_nowhere(port, path);
    }
    scene.console.assert_answers();
}

#[test]
fn paths_lead_out_of_no_result() {
    const SCRIPT: &str = "import sys; print(sys.argv[1])";
    if !ssh_keygen_works("paths_lead_out_of_no_result") {
        return;
    }
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    std::fs::write(scene.service.path("secret.md"), "top secret").unwrap();
    let standing = scene.admit_standing(SCRIPT);
    let result = scene.run_use(&standing.use_of(SCRIPT, "7"));
    let id = result.id();
    let stdout = get(port, &format!("/results/{id}/files/stdout"));
    assert_eq!((stdout.status, stdout.body.as_str()), (200, "7\n"), "{stdout:?}");
    for path in [
        "..%2f..%2fsecret.md",
        "../../secret.md",
        "artifacts/..%2f..%2f..%2fsecret.md",
        "stdout%2f..%2f..%2f..%2fsecret.md",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    ] {
        assert_leads_nowhere(port, &format!("/results/{id}/files/{path}"));
        assert_leads_nowhere(port, &format!("/results/{id}/pictures/{path}"));
    }
}

#[test]
fn other_methods_do_nothing() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let id = scene.draft_that_prints("stays").id;
    let port = scene.console.port;
    let host = format!("Host: localhost:{port}");
    let own = format!("Origin: http://localhost:{port}");
    let request = format!("/requests/{id}");
    for method in ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "PROPFIND", "get", "LONGMETHOD"] {
        for path in ["/", request.as_str(), "/actions", "/enrol"] {
            let headers = [host.as_str(), &own, "X-Marker: trace-marker", "Content-Length: 0"];
            let answer = send(port, &format!("{method} {path}"), &headers, "");
            answer.assert_refused(&format!("{method} {path}"));
            assert!(!answer.body.contains("trace-marker"), "{method} {path}: {answer:?}");
        }
    }
    let connect =
        exchange(port, b"CONNECT localhost:22 HTTP/1.1\r\nHost: a:22\r\nConnection: close\r\n\r\n");
    connect.unwrap().assert_refused("CONNECT");
    // A page is not a place to send to.
    post(port, &request, "{}").assert_refused("POST to a page");
    let head = send(port, "HEAD /", &[&host], "");
    assert!(head.status == 200 && head.body.is_empty(), "{head:?}");
    assert_eq!(list(&scene.service.path("drafts")).len(), 2);
    scene.assert_nothing_signed();
}

#[test]
fn a_head_that_two_readers_could_split_differently_is_one_request_or_none() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let host = format!("Host: localhost:{port}\r\n");
    let second = format!("GET /second-request HTTP/1.1\r\n{host}\r\n");
    // The guard lets it pass, and only what is wrong with it ends the connection.
    let post =
        format!("POST /prepare HTTP/1.1\r\n{host}Origin: http://localhost:{port}\r\n{JSON}\r\n");
    for text in [
        format!("{post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{second}"),
        format!("{post}Content-Length: 0\r\nContent-Length: 44\r\n\r\n{second}"),
        format!("{post}Content-Length: +4\r\n\r\n{second}"),
        format!("{post}Content-Length: -1\r\n\r\n{second}"),
        format!("{post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{second}"),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{second}"),
        format!("GET / HTTP/1.1\r\n{host}X: a\r\n b: c\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X : a\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X: a\rb\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X: a\0b\r\nConnection: close\r\n\r\n"),
        format!("GET / HTTP/9.9\r\n{host}\r\n"),
        "GET /\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03".to_owned() + &"x".repeat(600),
        "\0".repeat(20_000),
        "\r\n".repeat(20_000),
    ] {
        // A connection that ends without an answer is as good as a refusal.
        if let Some(answer) = exchange(port, text.as_bytes()) {
            answer.assert_refused(&text.escape_debug().to_string());
            assert_eq!(answer.body.matches("HTTP/1.1 ").count(), 0, "a second answer: {answer:?}");
        }
    }
    scene.console.assert_answers();
}
