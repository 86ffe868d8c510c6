//! Sends and receives one frame, with at most one descriptor, over a seqpacket socket, for these
//! two programs only. The size of a frame is checked before it is parsed. Waiting is up to the
//! caller: the client blocks, and the proxy calls again when the socket is ready.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame::FRAME_BYTES_MAX;

/// A received frame that was not parsed yet.
pub struct ReceivedFrame {
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl ReceivedFrame {
    /// Parses the frame.
    ///
    /// # Errors
    /// The frame is not a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> io::Result<T> {
        serde_json::from_slice(&self.bytes).map_err(io::Error::from)
    }

    /// Returns the descriptor of a frame that has exactly one.
    #[must_use]
    pub fn into_only_fd(self) -> Option<OwnedFd> {
        let mut fds = self.fds.into_iter();
        let first = fds.next()?;
        fds.next().is_none().then_some(first)
    }

    /// Returns whether the frame carries a descriptor.
    #[must_use]
    pub fn has_fds(&self) -> bool {
        !self.fds.is_empty()
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Sends one frame. A closed peer is an error, never a signal.
///
/// # Errors
/// The frame is larger than [`FRAME_BYTES_MAX`], or cannot be sent now. Nothing was sent then.
pub fn send<T: Serialize>(
    socket: impl AsFd,
    frame: &T,
    fd: Option<BorrowedFd<'_>>,
    flags: SendFlags,
) -> io::Result<()> {
    let bytes = serde_json::to_vec(frame)?;
    if bytes.len() > FRAME_BYTES_MAX {
        return Err(invalid(&format!("frame: larger than {FRAME_BYTES_MAX} bytes")));
    }
    let fds: &[BorrowedFd<'_>] = match &fd {
        Some(fd) => std::slice::from_ref(fd),
        None => &[],
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(invalid("frame: no space for its descriptor"));
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, flags | SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives one frame with close-on-exec descriptors; `None` when the peer has closed the socket.
///
/// # Errors
/// `InvalidData` for an invalid frame (too big, too many descriptors). After any other error
/// nothing was received.
pub fn receive(socket: impl AsFd, flags: RecvFlags) -> io::Result<Option<ReceivedFrame>> {
    let mut bytes = vec![0; FRAME_BYTES_MAX + 1];
    // Space for two, so that an extra descriptor is noticed and not just dropped.
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match recvmsg(&socket, &mut parts, &mut control, flags | RecvFlags::CMSG_CLOEXEC) {
            // The kernel reports once, before the frames, that the peer closed with unread ones.
            Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => {}
            other => break other?,
        }
    };
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.bytes > FRAME_BYTES_MAX || received.flags.contains(ReturnFlags::TRUNC) {
        return Err(invalid(&format!("frame: larger than {FRAME_BYTES_MAX} bytes")));
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(invalid("frame: too many descriptors"));
    }
    bytes.truncate(received.bytes);
    Ok(Some(ReceivedFrame { bytes, fds }))
}
