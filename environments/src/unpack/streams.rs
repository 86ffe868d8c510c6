//! The readers between the file of a layer and its entries: they count and hash what passes.

use std::io::{self, Read};

use model::{Sha256, Sha256Stream};

use super::meter::UnpackMeter;

/// Counts the packed bytes of a layer.
pub(super) struct PackedReader<'a, R> {
    inner: R,
    meter: &'a UnpackMeter,
}

impl<'a, R: Read> PackedReader<'a, R> {
    pub(super) fn new(inner: R, meter: &'a UnpackMeter) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for PackedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.count_packed(bytes(read));
        Ok(read)
    }
}

/// Counts and hashes the unpacked bytes of a layer. Fails in the middle when they are too many.
pub(super) struct UnpackedReader<'a, R> {
    inner: R,
    meter: &'a UnpackMeter,
    sha256: Sha256Stream,
}

impl<'a, R: Read> UnpackedReader<'a, R> {
    pub(super) fn new(inner: R, meter: &'a UnpackMeter) -> Self {
        Self { inner, meter, sha256: Sha256Stream::new() }
    }

    /// The digest of all bytes that were read.
    pub(super) fn finish(self) -> Sha256 {
        self.sha256.finish()
    }
}

impl<R: Read> Read for UnpackedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.meter.count_unpacked(bytes(read)).map_err(io::Error::other)?;
        self.sha256.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
