//! Copies one stream of the tool into a file: keeps bytes up to a limit, counts beyond it, and
//! hashes the kept bytes. It must never hold more than one buffer of the stream in memory.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, openat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::collect::write_all;
use crate::report::Stream;

pub(crate) struct StreamCapture {
    pub(crate) pipe: OwnedFd,
    file: OwnedFd,
    hash: Sha256,
    kept: u64,
    produced: u64,
    bytes_max: u64,
    ended: bool,
    buffer: Vec<u8>,
}

impl StreamCapture {
    /// Makes `pipe` non-blocking, regardless of its creator's flags: a tool can open its own stream
    /// for reading and take back its output after the daemon's poll has reported data.
    pub(crate) fn new(
        pipe: OwnedFd,
        result: BorrowedFd<'_>,
        name: &str,
        bytes_max: u64,
    ) -> io::Result<Self> {
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(result, name, flags, Mode::from_raw_mode(0o644))?;
        let (hash, buffer) = (Sha256::new(), Vec::with_capacity(64 * 1024));
        Ok(Self { pipe, file, hash, kept: 0, produced: 0, bytes_max, ended: false, buffer })
    }

    pub(crate) fn open(&self) -> bool {
        !self.ended
    }

    pub(crate) fn over(&self) -> bool {
        self.produced > self.bytes_max
    }

    pub(crate) fn read_some(&mut self) -> io::Result<()> {
        self.buffer.clear();
        let len = match rustix::io::read(&self.pipe, spare_capacity(&mut self.buffer)) {
            Ok(0) => {
                self.ended = true;
                return Ok(());
            }
            Ok(len) => len,
            Err(Errno::INTR | Errno::AGAIN) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        let read = u64::try_from(len).unwrap_or(u64::MAX);
        let space = (self.bytes_max - self.kept).min(read);
        let kept = &self.buffer[..usize::try_from(space).unwrap_or(len)];
        self.hash.update(kept);
        write_all(self.file.as_fd(), kept)?;
        self.kept += space;
        self.produced += read;
        Ok(())
    }

    pub(crate) fn close(self) -> io::Result<Stream> {
        Ok(Stream {
            kept_bytes: self.kept,
            produced_bytes: self.produced,
            sha256: self.hash.finalize().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    #[test]
    fn reading_does_not_block_on_output_taken_back() {
        let place = std::env::temp_dir().join(format!("toolexec-tap-{}", std::process::id()));
        std::fs::create_dir(&place).unwrap();
        let (read, write) = rustix::pipe::pipe().unwrap();
        let result = File::open(&place).unwrap();
        let mut tap = StreamCapture::new(read, result.as_fd(), "stdout", 100).unwrap();
        let (done, ended) = channel();
        let reader = std::thread::spawn(move || {
            tap.read_some().unwrap();
            done.send(tap.open()).unwrap();
        });
        let answer = ended.recv_timeout(Duration::from_secs(60));
        drop(write);
        std::fs::remove_dir_all(&place).unwrap();
        assert_ne!(answer, Err(RecvTimeoutError::Timeout), "a read blocks until the tool writes");
        reader.join().unwrap();
        assert_eq!(answer, Ok(true));
    }
}
