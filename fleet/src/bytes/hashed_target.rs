//! Hashes the bytes of a store while they are written. They count only after the end.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;

use model::{Sha256, Sha256Stream};

use super::error::ByteStoreError;

const BUFFER_BYTES: usize = 256 * 1024;

/// Receives the bytes of an object while they are hashed.
pub(super) struct HashedTarget<W> {
    to: W,
    hash: Sha256Stream,
    sha256: Sha256,
    bytes_max: u64,
    bytes: u64,
}

impl<W: Write> HashedTarget<W> {
    /// Begins without bytes. At most `bytes_max` are taken.
    pub(super) fn new(to: W, sha256: Sha256, bytes_max: u64) -> Self {
        Self { to, hash: Sha256Stream::new(), sha256, bytes_max, bytes: 0 }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, chunk: &[u8]) -> Result<(), ByteStoreError> {
        self.bytes = self.bytes.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if self.bytes > self.bytes_max {
            return Err(ByteStoreError::Larger { sha256: self.sha256, bytes_max: self.bytes_max });
        }
        self.hash.update(chunk);
        let written = self.to.write_all(chunk);
        written.map_err(ByteStoreError::io(Path::new("a fetched blob"), "write"))
    }

    /// Takes a file of a store that is a directory.
    pub(super) fn take_file(mut self, mut file: File, path: &Path) -> Result<Self, ByteStoreError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => return Ok(self),
                Ok(read) => self.take(buffer.get(..read).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ByteStoreError::io(path, "read")(error)),
            }
        }
    }

    /// Returns the target, if its bytes are those of the blob.
    pub(super) fn finish(self, store: &str) -> Result<W, ByteStoreError> {
        let found = self.hash.finish();
        match found == self.sha256 {
            true => Ok(self.to),
            false => Err(ByteStoreError::Wrong {
                sha256: self.sha256,
                found,
                store: format!("store {store}"),
            }),
        }
    }
}
