//! What of the host a cell might reach: a TCP port, an abstract socket and a socket file, all of the
//! suite's own. The cases are told where they are; whoever connects has escaped.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Listeners that nobody in a cell can reach.
pub struct Host {
    tcp: TcpListener,
    _udp: std::net::UdpSocket,
    _abstract: UnixListener,
    name: String,
    udp_port: u16,
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
            name,
        }
    }

    /// The input of a compiled case: what `told()` reads.
    #[must_use]
    pub fn told(&self) -> String {
        let Self { name, udp_port, .. } = self;
        let tcp = self.tcp.local_addr().unwrap().port();
        let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        format!("tcp={tcp}\nudp={udp_port}\nabstract={name}\nhostname={}\n", hostname.trim())
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}
