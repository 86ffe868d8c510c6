//! `toolexec mcp --http`: only at a loopback address, only below its secret path, and not for pages
//! in a browser.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolexec_tests::Bench;

use super::agent::empty_spool;

/// A server at a free port. It is killed at the end of the test.
pub(super) struct McpHttpServer {
    child: Child,
    pub(super) url: String,
}

impl McpHttpServer {
    pub(super) fn start(program: &Path, spool: &Path) -> Self {
        Self::start_at(program, spool, "127.0.0.1")
    }

    fn start_at(program: &Path, spool: &Path, host: &str) -> Self {
        let mut command = Command::new(program);
        command.args(["mcp", "--http", &format!("{host}:0"), "--spool"]).arg(spool);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with(&format!("http://{host}:")), "{url:?}");
        Self { child, url: url.trim_end().to_owned() }
    }

    /// Returns the address and the path.
    pub(super) fn address_and_path(&self) -> (&str, &str) {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    /// Opens a session with these headers, and returns the status of the response.
    fn status(&self, path: &str, host: &str, more: &str) -> u16 {
        let mut stream = TcpStream::connect(self.address_and_path().0).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"}}})
        .to_string();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap_or_else(|| panic!("{line:?}")).parse().unwrap()
    }
}

impl Drop for McpHttpServer {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn http_serves_its_secret_path_and_local_names_alone() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let program = bench.scratch().path().join("bin/toolexec");
    let server = McpHttpServer::start(&program, &spool);
    let (address, path) = server.address_and_path();
    let port = address.split(':').nth(1).unwrap();
    let local = format!("localhost:{port}");
    assert_eq!(path.len(), "/mcp".len() + 1 + 32, "{path}");
    assert_eq!(server.status(path, address, ""), 200);
    assert_eq!(server.status(path, &local, &format!("Origin: http://{local}\r\n")), 200);
    for wrong in ["/mcp".to_owned(), format!("/{}/mcp", "0".repeat(32)), format!("{path}/")] {
        assert_eq!(server.status(&wrong, address, ""), 404, "{wrong}");
    }
    let evil = format!("evil.example:{port}");
    assert_eq!(server.status(path, &evil, ""), 403);
    let foreign = format!("http://{evil}");
    for origin in [foreign.as_str(), "http://localhost:1", "https://localhost", "null"] {
        assert_eq!(server.status(path, address, &format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
    // Each server has another path.
    let other = McpHttpServer::start(&program, &spool);
    assert_ne!(other.address_and_path().1, path);
}

#[test]
fn http_serves_the_loopback_address_that_it_names() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    let program = bench.scratch().path().join("bin/toolexec");
    let server = McpHttpServer::start_at(&program, &spool, "127.0.0.2");
    let (address, path) = server.address_and_path();
    assert_eq!(server.status(path, address, &format!("Origin: http://{address}\r\n")), 200);
    assert_eq!(server.status(path, &address.replace("127.0.0.2", "127.0.0.1"), ""), 403);
}

#[test]
fn http_is_refused_at_other_addresses() {
    let bench = Bench::new();
    let spool = empty_spool(&bench);
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "localhost:80", "80"] {
        let refused =
            bench.toolexec(["mcp", "--spool", spool.to_str().unwrap(), "--http", address]);
        refused.assert_code(3);
        refused.assert_stderr(&["not a loopback address"]);
    }
}
