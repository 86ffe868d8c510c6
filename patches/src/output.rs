//! The output of a patch, with its limit. Nothing beyond the limit is ever written.

use std::io::Write;

use crate::error::PatchError;

pub(crate) struct BoundedOutput<W> {
    out: W,
    written: u64,
    bytes_max: u64,
}

impl<W: Write> BoundedOutput<W> {
    pub(crate) fn new(out: W, bytes_max: u64) -> Self {
        Self { out, written: 0, bytes_max }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), PatchError> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let written = self.written.saturating_add(length);
        if written > self.bytes_max {
            return Err(PatchError::TooLarge);
        }
        self.out.write_all(bytes)?;
        self.written = written;
        Ok(())
    }

    pub(crate) fn line(&mut self, text: &str) -> Result<(), PatchError> {
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Flushes the output, and returns the number of its bytes.
    pub(crate) fn finish(mut self) -> Result<u64, PatchError> {
        self.out.flush()?;
        Ok(self.written)
    }
}
