//! Targets on the host: a TCP port, a UDP port, an abstract socket, and an echo server. A program
//! in a sandbox that connects to one of the first three has escaped. Runs with hosts may reach the
//! echo server through their proxy. The cases receive all addresses.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

pub struct HostTargets {
    tcp: TcpListener,
    _udp: std::net::UdpSocket,
    _abstract: UnixListener,
    name: String,
    udp_port: u16,
    pages: u16,
}

impl HostTargets {
    #[must_use]
    pub fn new() -> Self {
        let name = format!("toolexec-hostile-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp_port: udp.local_addr().unwrap().port(),
            _udp: udp,
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            pages: pages(),
            name,
        }
    }

    /// The port of the echo server on the loopback of the host.
    #[must_use]
    pub fn pages(&self) -> u16 {
        self.pages
    }

    /// Returns the input of a compiled case, which the C function `case_input()` reads.
    #[must_use]
    pub fn case_input(&self) -> String {
        let Self { name, udp_port, pages, .. } = self;
        let tcp = self.tcp.local_addr().unwrap().port();
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let hostname = hostname.trim();
        format!("tcp={tcp}\nudp={udp_port}\nabstract={name}\nhostname={hostname}\npages={pages}\n")
    }
}

/// Starts a server that answers each request with the bytes that it received.
fn pages() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that has disconnected needs no answer.
            std::thread::spawn(move || stream.and_then(echo_request).ok());
        }
    });
    port
}

fn echo_request(mut stream: TcpStream) -> std::io::Result<()> {
    // Long enough for a second part of a request, if a client sends one.
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (mut came, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        came.extend_from_slice(&piece[..read]);
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", came.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&came)
}

impl Default for HostTargets {
    fn default() -> Self {
        Self::new()
    }
}
