//! The control socket, on which sessions arrive: a listening socket (from a socket unit), or one
//! connection through which our parent sends the ends of others. Several processes wait here, and
//! each session reaches one. Only the kernel's peer credentials identify a client.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{SocketFlags, accept_with, sockopt};

use super::options::Options;
use crate::wire;

pub(super) enum ControlSocket {
    Listening(OwnedFd),
    Connected(OwnedFd),
}

impl ControlSocket {
    /// Takes over standard input, which is the control socket.
    pub(super) fn from_stdin(options: &Options) -> io::Result<Self> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        let null = std::fs::File::open("/dev/null")?;
        nix::unistd::dup2_stdin(&null)?;
        let is_listening = sockopt::socket_acceptconn(&socket).map_err(|error| {
            let help = "let systemd or toolexec start toolexec-launch";
            io::Error::other(format!("standard input: not a socket ({error}); help: {help}"))
        })?;
        if is_listening {
            return Ok(Self::Listening(socket));
        }
        options.check_client(socket.as_fd())?;
        Ok(Self::Connected(socket))
    }

    /// Waits for the next session. Returns `None` after the last one.
    pub(super) fn next(&self, options: &Options) -> io::Result<Option<OwnedFd>> {
        loop {
            let session = match self {
                Self::Listening(socket) => match accept_with(socket, SocketFlags::CLOEXEC) {
                    Ok(accepted) => accepted,
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => continue,
                    Err(errno) => return Err(errno.into()),
                },
                Self::Connected(socket) => match wire::receive(socket)? {
                    None => return Ok(None),
                    Some((_, mut fds)) => match (fds.pop(), fds.is_empty()) {
                        (Some(session), true) => session,
                        _ => return Err(io::Error::other("control socket: not one descriptor")),
                    },
                },
            };
            match options.check_client(session.as_fd()) {
                Ok(()) => return Ok(Some(session)),
                Err(refused) => eprintln!("toolexec-launch: {refused}"),
            }
        }
    }
}

impl AsFd for ControlSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Listening(socket) | Self::Connected(socket) => socket.as_fd(),
        }
    }
}
