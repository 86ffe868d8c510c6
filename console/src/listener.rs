//! The socket on which the console listens. It must be reachable from this host only, unless the
//! console ends TLS itself.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::net::AddressFamily;
use rustix::net::sockopt::{socket_acceptconn, socket_domain};
use tokio::net::{TcpStream, UnixStream};

use crate::options::Options;

const PORT: u16 = 8440;
/// For the group of a reverse proxy.
const SOCKET_MODE: u32 = 0o660;

/// A listening socket before the runtime has started.
pub(crate) enum ConsoleListener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A listening socket of the runtime.
pub(crate) enum AcceptingSocket {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener),
}

/// An accepted connection.
pub(crate) enum AcceptedSocket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl ConsoleListener {
    /// Opens the socket of the options, or takes the one on standard input.
    pub(crate) fn open(options: &Options) -> Result<Self, String> {
        let has_tls = options.tls_cert.is_some();
        if let Some(path) = &options.socket {
            return bind_unix(path).map(Self::Unix);
        }
        let listener = match (options.listen, inherited()?) {
            (None, Some(inherited)) => inherited,
            (asked, _) => {
                let default = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT);
                Self::Tcp(bind_tcp(asked.unwrap_or(default), has_tls)?)
            }
        };
        listener.check_address(has_tls)?;
        Ok(listener)
    }

    /// Returns the port of a TCP socket.
    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok().map(|address| address.port()),
            Self::Unix(_) => None,
        }
    }

    fn check_address(&self, has_tls: bool) -> Result<(), String> {
        let Self::Tcp(listener) = self else { return Ok(()) };
        let address = listener.local_addr().map_err(|error| format!("socket: {error}"))?;
        check_reach(address, has_tls)
    }

    /// Gives the socket to the runtime.
    pub(crate) fn into_accepting(self) -> io::Result<AcceptingSocket> {
        match self {
            Self::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                tokio::net::TcpListener::from_std(listener).map(AcceptingSocket::Tcp)
            }
            Self::Unix(listener) => {
                listener.set_nonblocking(true)?;
                tokio::net::UnixListener::from_std(listener).map(AcceptingSocket::Unix)
            }
        }
    }
}

impl AcceptingSocket {
    pub(crate) async fn accept(&self) -> io::Result<AcceptedSocket> {
        match self {
            Self::Tcp(listener) => Ok(AcceptedSocket::Tcp(listener.accept().await?.0)),
            Self::Unix(listener) => Ok(AcceptedSocket::Unix(listener.accept().await?.0)),
        }
    }
}

fn check_reach(address: SocketAddr, has_tls: bool) -> Result<(), String> {
    match has_tls || address.ip().to_canonical().is_loopback() {
        true => Ok(()),
        false => Err(format!(
            "--listen {address}: other hosts can reach it without TLS; help: listen on 127.0.0.1 \
             behind a reverse proxy, or name --tls-cert and --tls-key"
        )),
    }
}

fn bind_tcp(address: SocketAddr, has_tls: bool) -> Result<TcpListener, String> {
    check_reach(address, has_tls)?;
    TcpListener::bind(address).map_err(|error| {
        let help = match error.kind() {
            io::ErrorKind::AddrNotAvailable => "name an address of this host",
            io::ErrorKind::PermissionDenied => "choose a port from 1024 on",
            _ => "choose a free port",
        };
        format!("--listen {address}: {error}; help: {help}")
    })
}

fn bind_unix(path: &Path) -> Result<UnixListener, String> {
    let failed = |error: io::Error| {
        let shown = path.display();
        format!("--socket {shown}: {error}; help: remove an old socket, or check the directory")
    };
    let listener = UnixListener::bind(path).map_err(failed)?;
    let mode = std::fs::Permissions::from_mode(SOCKET_MODE);
    std::fs::set_permissions(path, mode).map_err(failed)?;
    Ok(listener)
}

/// Returns the listening socket on standard input, if there is one.
fn inherited() -> Result<Option<ConsoleListener>, String> {
    let stdin = io::stdin();
    if socket_acceptconn(stdin.as_fd()) != Ok(true) {
        return Ok(None);
    }
    let socket = stdin.as_fd().try_clone_to_owned();
    let socket: OwnedFd = socket.map_err(|error| format!("standard input: {error}"))?;
    match socket_domain(&socket) {
        Ok(AddressFamily::UNIX) => Ok(Some(ConsoleListener::Unix(socket.into()))),
        Ok(AddressFamily::INET | AddressFamily::INET6) => {
            Ok(Some(ConsoleListener::Tcp(socket.into())))
        }
        _ => Err("standard input: a socket of another kind; help: use ListenStream= in the unit"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_others_reach_needs_tls() {
        for address in ["127.0.0.1:8440", "[::1]:8440", "[::ffff:127.0.0.1]:8440"] {
            assert_eq!(check_reach(address.parse().unwrap(), false), Ok(()), "{address}");
        }
        for address in ["0.0.0.0:8440", "192.0.2.7:443", "[::]:443"] {
            assert!(check_reach(address.parse().unwrap(), false).is_err(), "{address}");
            assert_eq!(check_reach(address.parse().unwrap(), true), Ok(()), "{address}");
        }
    }
}
