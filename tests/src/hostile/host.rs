//! What of the host a cell might reach: a TCP port, an abstract socket and a socket file, all of the
//! suite's own, where whoever connects has escaped; and pages, which runs with hosts may ask for through
//! their proxy and which say what reached them. The cases are told where they all are.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

/// Listeners that nobody in a cell can reach.
pub struct Host {
    tcp: TcpListener,
    _udp: std::net::UdpSocket,
    _abstract: UnixListener,
    name: String,
    udp_port: u16,
    pages: u16,
}

impl Host {
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

    /// The port of the pages, on the host's loopback.
    #[must_use]
    pub fn pages(&self) -> u16 {
        self.pages
    }

    /// The input of a compiled case: what `told()` reads.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { name, udp_port, pages, .. } = self;
        let tcp = self.tcp.local_addr().unwrap().port();
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let hostname = hostname.trim();
        format!("tcp={tcp}\nudp={udp_port}\nabstract={name}\nhostname={hostname}\npages={pages}\n")
    }
}

/// A server that answers everything with the bytes that it was sent.
fn pages() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that is gone wants no answer.
            std::thread::spawn(move || stream.and_then(say_what_came).ok());
        }
    });
    port
}

fn say_what_came(mut stream: TcpStream) -> std::io::Result<()> {
    // Long enough for a second part, if somebody sends one.
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (mut came, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        came.extend_from_slice(&piece[..read]);
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", came.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&came)
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}
