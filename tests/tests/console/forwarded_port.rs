//! A port of loopback that leads to a Unix socket, as `ssh -L PORT:localhost:SOCKET` makes one.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

/// Opens the port. It is closed at the end of the tests' process.
pub(super) fn forward(port: u16, socket: &Path) {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let socket = socket.to_owned();
    thread::spawn(move || {
        for client in listener.incoming() {
            // A browser may leave at any time.
            if let (Ok(client), Ok(server)) = (client, UnixStream::connect(&socket)) {
                join(client, server);
            }
        }
    });
}

/// Passes bytes on in both directions until the ends.
fn join(client: TcpStream, server: UnixStream) {
    let (mut requests, mut answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (mut client, mut server) = (client, server);
    thread::spawn(move || {
        io::copy(&mut requests, &mut server).unwrap_or_default();
        server.shutdown(Shutdown::Write).unwrap_or_default();
    });
    thread::spawn(move || {
        io::copy(&mut answers, &mut client).unwrap_or_default();
        client.shutdown(Shutdown::Both).unwrap_or_default();
    });
}
