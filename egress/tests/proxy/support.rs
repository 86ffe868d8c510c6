//! A run with its hosts, and a tool that sends requests to its proxy.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use egress::client::{Egress, EgressError, EgressSession};
use egress::frame::{EgressHostRule, EgressRefusalReason, Report, ServeOrder};

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Longer than any operation here takes, unless it hangs.
const HANG: Duration = Duration::from_secs(20);

pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_toolexec-egress"))
}

/// It may resolve to loopback.
pub(crate) fn rule(name: &str, ports: &[u16]) -> EgressHostRule {
    EgressHostRule { name: name.to_owned(), ports: ports.to_vec(), private: vec![LOOPBACK] }
}

/// It may resolve to public addresses only.
pub(crate) fn public(name: &str, ports: &[u16]) -> EgressHostRule {
    EgressHostRule { private: Vec::new(), ..rule(name, ports) }
}

/// Its limits are generous.
pub(crate) fn order(hosts: Vec<EgressHostRule>) -> ServeOrder {
    ServeOrder { hosts, bytes_max: 1 << 30, connections_max: 32, time_ms_max: 600_000 }
}

pub(crate) fn arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// A file of fixed answers, which is removed with its owner.
pub(crate) struct HostsFile(PathBuf);

impl HostsFile {
    pub(crate) fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-egress-{}-{number}.hosts", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn arguments(&self) -> Vec<OsString> {
        arguments(&["--timeout-ms", "10000", "--hosts-file", self.0.to_str().unwrap()])
    }
}

impl Drop for HostsFile {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

pub(crate) struct ProxyRun {
    pub(crate) proxy: SocketAddr,
    pub(crate) session: EgressSession,
}

impl ProxyRun {
    pub(crate) fn try_with(arguments: &[OsString], order: ServeOrder) -> Result<Self, EgressError> {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let proxy = listener.local_addr().unwrap();
        let session = Egress::spawn(program(), arguments).serve(order, &listener)?;
        Ok(Self { proxy, session })
    }

    #[track_caller]
    pub(crate) fn with(arguments: &[OsString], order: ServeOrder) -> Self {
        Self::try_with(arguments, order).unwrap()
    }

    /// Names resolve as in these lines.
    #[track_caller]
    pub(crate) fn among(hosts: &str, rules: Vec<EgressHostRule>) -> Self {
        Self::with(&HostsFile::new(hosts).arguments(), order(rules))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.proxy)
    }

    pub(crate) fn ask(&self, bytes: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes.as_bytes()).unwrap();
        rest(&mut stream)
    }

    /// Returns the answer's head and the connection, which is a tunnel if the head begins with 200.
    pub(crate) fn tunnel(&self, authority: &str) -> (String, TcpStream) {
        let mut stream = self.connect();
        write!(stream, "CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
        (head(&mut stream), stream)
    }

    #[track_caller]
    pub(crate) fn granted(&self, authority: &str) -> TcpStream {
        let (head, stream) = self.tunnel(authority);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        stream
    }

    #[track_caller]
    pub(crate) fn close(self) -> Report {
        self.session.close().unwrap()
    }
}

pub(crate) fn connect(proxy: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(proxy).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.set_write_timeout(Some(HANG)).unwrap();
    stream
}

/// Reads everything until the end, which may be a reset.
#[track_caller]
pub(crate) fn rest(stream: &mut TcpStream) -> String {
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => all.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("the proxy keeps the connection: {error}; {all:?}"),
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Reads the head of an answer, and no further.
pub(crate) fn head(stream: &mut TcpStream) -> String {
    let (mut all, mut byte) = (Vec::new(), [0]);
    while !all.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        all.push(byte[0]);
    }
    String::from_utf8(all).unwrap()
}

pub(crate) fn get(uri: &str) -> String {
    format!("GET {uri} HTTP/1.1\r\nConnection: close\r\n\r\n")
}

/// In order, each with its count.
pub(crate) fn reasons(report: &Report) -> Vec<(EgressRefusalReason, u64)> {
    report.refusals.iter().map(|it| (it.reason, it.times)).collect()
}

/// The answer must be 403 with one line that contains these words, and the report has the reason
/// once.
#[track_caller]
pub(crate) fn assert_refused(
    answer: &str,
    words: &str,
    report: &Report,
    reason: EgressRefusalReason,
) {
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.matches('\n').count(), 1, "{body}");
    assert!(body.contains(words), "{body}");
    assert_eq!(reasons(report), [(reason, 1)], "{report:?}");
    assert_eq!(report.hosts.iter().map(|it| it.connections).sum::<u64>(), 0, "{report:?}");
}

#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits a moment: a process that another test starts has a copy of every descriptor between fork
/// and exec.
#[track_caller]
pub(crate) fn assert_gone(proxy: SocketAddr) {
    eventually("the proxy stops accepting", || TcpStream::connect(proxy).is_err());
}
