//! A minimal encoding of numbers, texts and descriptors over a seqpacket socket. Frames have a
//! fixed maximum size. Every length is checked before use, and a value that does not fit or does
//! not end with the frame is an error. The format must never be exposed to other programs.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, sendmsg,
};

/// The largest frame in bytes. The default socket buffer takes a frame of up to about 212,900.
pub(crate) const FRAME_BYTES_MAX: usize = 192 * 1024;
pub(crate) const FRAME_FDS_MAX: usize = 96;

/// The reason why bytes are not a valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    Short,
    Trailing,
    NotUtf8,
    /// A number or a length outside its permitted range.
    Range,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "frame: truncated",
            Self::Trailing => "frame: trailing bytes",
            Self::NotUtf8 => "frame: text is not UTF-8",
            Self::Range => "frame: number out of range",
        })
    }
}

impl std::error::Error for WireError {}

impl From<WireError> for io::Error {
    fn from(error: WireError) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

#[derive(Default)]
pub(crate) struct FrameWriter(Vec<u8>);

impl FrameWriter {
    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(crate) fn flag(&mut self, value: bool) -> &mut Self {
        self.u8(u8::from(value))
    }

    pub(crate) fn maybe_u64(&mut self, value: Option<u64>) -> &mut Self {
        self.flag(value.is_some()).u64(value.unwrap_or(0))
    }

    /// Saturates a length that does not fit: the size limit of the frame rejects it later.
    pub(crate) fn count(&mut self, value: usize) -> &mut Self {
        self.u32(u32::try_from(value).unwrap_or(u32::MAX))
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.count(value.len());
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.bytes(value.as_bytes())
    }

    pub(crate) fn digest(&mut self, value: &[u8; 32]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads one frame from its beginning to exactly its end.
pub(crate) struct FrameReader<'a>(&'a [u8]);

impl<'a> FrameReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(WireError::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        self.take(N)?.try_into().map_err(|_| WireError::Short)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, WireError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, WireError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::Range),
        }
    }

    pub(crate) fn maybe_u64(&mut self) -> Result<Option<u64>, WireError> {
        let known = self.flag()?;
        let value = self.u64()?;
        Ok(known.then_some(value))
    }

    /// Reads the number of items that follow, at most `most`.
    pub(crate) fn count(&mut self, most: usize) -> Result<usize, WireError> {
        let count = usize::try_from(self.u32()?).map_err(|_| WireError::Range)?;
        if count > most { Err(WireError::Range) } else { Ok(count) }
    }

    pub(crate) fn bytes(&mut self, most: usize) -> Result<&'a [u8], WireError> {
        let len = self.count(most)?;
        self.take(len)
    }

    pub(crate) fn text(&mut self, most: usize) -> Result<String, WireError> {
        let bytes = self.bytes(most)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| WireError::NotUtf8)
    }

    pub(crate) fn digest(&mut self) -> Result<[u8; 32], WireError> {
        self.array()
    }

    pub(crate) fn end(self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Trailing) }
    }
}

/// Sends one frame with its descriptors; blocks while the socket is full.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_with(socket, bytes, fds, SendFlags::empty())
}

/// Sends one frame without blocking: fails if the peer has filled the socket and does not read.
pub(crate) fn send_at_once(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    send_with(socket, bytes, fds, SendFlags::DONTWAIT)
}

fn send_with(
    socket: impl AsFd,
    bytes: &[u8],
    fds: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> io::Result<()> {
    if bytes.len() > FRAME_BYTES_MAX || fds.len() > FRAME_FDS_MAX {
        return Err(WireError::Range.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_FDS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(WireError::Range.into());
    }
    // A closed peer must give an error, not SIGPIPE.
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL | flags)?;
    Ok(())
}

/// Waits until a frame can be received or the peer has closed. Returns false after `time_max`.
pub(crate) fn wait_to_receive(socket: impl AsFd, time_max: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + time_max;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut waited = [PollFd::new(&socket, PollFlags::IN)];
        match poll(&mut waited, Timespec::try_from(left).ok().as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other? > 0),
        }
    }
}

/// Receives one frame and its descriptors (close-on-exec). Returns `None` when the peer has closed.
pub(crate) fn receive(socket: impl AsFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; next_len(&socket)?.min(FRAME_BYTES_MAX + 1)];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FRAME_FDS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match recvmsg(&socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            // If the peer left frames of ours unread, ECONNRESET comes once, before its frames.
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
    if received.bytes > FRAME_BYTES_MAX {
        return Err(WireError::Range.into());
    }
    bytes.truncate(received.bytes);
    Ok(Some((bytes, fds)))
}

/// Waits for the next frame and returns its length: a buffer of the largest size is expensive.
fn next_len(socket: impl AsFd) -> io::Result<usize> {
    loop {
        match recv(&socket, &mut [0_u8; 0][..], RecvFlags::PEEK | RecvFlags::TRUNC) {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => {}
            other => return Ok(other?.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_values_are_read_back() {
        let mut writer = FrameWriter::default();
        writer.u8(7).u32(1 << 31).u64(u64::MAX).flag(true).maybe_u64(None).text("é").bytes(b"");
        let bytes = writer.into_bytes();
        let mut reader = FrameReader::new(&bytes);
        assert_eq!(reader.u8(), Ok(7));
        assert_eq!(reader.u32(), Ok(1 << 31));
        assert_eq!(reader.u64(), Ok(u64::MAX));
        assert_eq!(reader.flag(), Ok(true));
        assert_eq!(reader.maybe_u64(), Ok(None));
        assert_eq!(reader.text(2), Ok("é".to_owned()));
        assert_eq!(reader.bytes(0), Ok(&b""[..]));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn short_long_and_foreign_frames_are_refused() {
        assert_eq!(FrameReader::new(&[1, 2]).u32(), Err(WireError::Short));
        assert_eq!(FrameReader::new(&[1]).end(), Err(WireError::Trailing));
        assert_eq!(FrameReader::new(&[2]).flag(), Err(WireError::Range));
        assert_eq!(FrameReader::new(&[255, 255, 255, 255]).bytes(8), Err(WireError::Range));
        assert_eq!(FrameReader::new(&[4, 0, 0, 0, 1]).bytes(8), Err(WireError::Short));
        assert_eq!(FrameReader::new(&[1, 0, 0, 0, 0xff]).text(8), Err(WireError::NotUtf8));
    }
}
