//! A session with a launcher: its sockets, first message and replies. No wait here is unbounded.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::messages::FromLauncher;
use crate::wire;

/// The first message of a session, and the socket for its evidence.
pub(super) struct SessionOpening<'a> {
    pub(super) frame: Vec<u8>,
    pub(super) evidence: BorrowedFd<'a>,
}

impl SessionOpening<'_> {
    pub(super) fn send(&self, control: &OwnedFd) -> io::Result<()> {
        wire::send_at_once(control, &self.frame, &[self.evidence])
    }
}

/// Makes a blocking send on this socket fail at the deadline.
pub(super) fn limit_sending(control: &OwnedFd, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    // 0 would mean no limit.
    set_socket_timeout(control, Timeout::Send, Some(left.max(Duration::from_millis(1))))?;
    Ok(())
}

pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

pub(super) type LauncherMessage = (FromLauncher, Vec<OwnedFd>);

pub(super) fn receive(control: &OwnedFd) -> io::Result<Option<LauncherMessage>> {
    match wire::receive(control)? {
        Some((bytes, fds)) => Ok(Some((FromLauncher::decode(&bytes)?, fds))),
        None => Ok(None),
    }
}
