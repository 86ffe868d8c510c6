//! A blob of this host: its digest, and the way to its bytes. This program reads the bytes twice,
//! to hash and to store them, so that no large file is in memory. Other bytes at the second reading
//! are an error.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use model::{Sha256, Sha256Stream};
use rustix::fs::Stat;

use super::error::ByteStoreError;
use super::files::{hash, open_regular};
use super::folder::{FolderTarPlan, FolderTarStream};

/// The bytes of one upload. Stores want at least 5 MiB, and all parts but the last of one size.
pub(super) const PART_BYTES: u64 = 8 * 1024 * 1024;

/// A blob of this host.
pub(super) struct Blob {
    pub(super) sha256: Sha256,
    pub(super) bytes: u64,
    source: BlobSource,
}

enum BlobSource {
    Memory(Vec<u8>),
    File {
        directory: Arc<OwnedFd>,
        /// The path beneath the directory.
        name: String,
    },
    Folder(Arc<FolderTarPlan>),
}

impl Blob {
    /// Makes a blob of bytes.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        let (sha256, length) = (Sha256::of(&bytes), u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Self { sha256, bytes: length, source: BlobSource::Memory(bytes) }
    }

    /// Hashes a file beneath a directory. Returns it with its state.
    pub(super) fn of_file(
        directory: &Arc<OwnedFd>,
        name: &str,
        bytes_max: u64,
    ) -> Result<(Self, Stat), ByteStoreError> {
        let failed = |error: io::Error| ByteStoreError::io(Path::new(name), "read")(error);
        let (file, stat) = open_regular(directory, name).map_err(failed)?;
        let too_large = || ByteStoreError::TooLarge { name: name.to_owned(), bytes_max };
        let (sha256, bytes) = hash(&file, bytes_max).map_err(failed)?.ok_or_else(too_large)?;
        let source = BlobSource::File { directory: Arc::clone(directory), name: name.to_owned() };
        Ok((Self { sha256, bytes, source }, stat))
    }

    /// Hashes the archive of a folder.
    pub(super) fn of_folder(plan: FolderTarPlan) -> Result<Self, ByteStoreError> {
        let plan = Arc::new(plan);
        let failed = |error: io::Error| ByteStoreError::io(Path::new(plan.name()), "read")(error);
        let changed = || ByteStoreError::Changed { name: plan.name().to_owned() };
        let bytes_max = plan.bytes();
        let stream = FolderTarStream::new(Arc::clone(&plan));
        let (sha256, bytes) = hash(stream, bytes_max).map_err(failed)?.ok_or_else(changed)?;
        Ok(Self { sha256, bytes, source: BlobSource::Folder(plan) })
    }

    /// Returns a reader of the bytes as they are now.
    pub(super) fn open(&self) -> Result<Box<dyn Read + Send>, ByteStoreError> {
        Ok(match &self.source {
            BlobSource::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
            BlobSource::File { directory, name } => {
                let opened = open_regular(directory, name);
                let (file, _): (File, Stat) =
                    opened.map_err(ByteStoreError::io(Path::new(name), "open"))?;
                // One byte more shows that the file has grown.
                Box::new(file.take(self.bytes.saturating_add(1)))
            }
            BlobSource::Folder(plan) => Box::new(FolderTarStream::new(Arc::clone(plan))),
        })
    }

    /// Returns all bytes, whose digest is the blob's.
    pub(super) fn read(&self) -> Result<Vec<u8>, ByteStoreError> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or_default());
        self.open()?.read_to_end(&mut bytes).map_err(self.failed())?;
        self.check(Sha256::of(&bytes))?;
        Ok(bytes)
    }

    /// Fails if the bytes of the second reading have another digest.
    pub(super) fn check(&self, found: Sha256) -> Result<(), ByteStoreError> {
        match found == self.sha256 {
            true => Ok(()),
            false => Err(ByteStoreError::Changed { name: self.name().to_owned() }),
        }
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> ByteStoreError + use<> {
        ByteStoreError::io(Path::new(self.name()), "read")
    }

    /// The name of the file or folder, for messages.
    fn name(&self) -> &str {
        match &self.source {
            BlobSource::Memory(_) => "a file in memory",
            BlobSource::File { name, .. } => name,
            BlobSource::Folder(plan) => plan.name(),
        }
    }
}

/// The parts of a blob, read one after the other.
pub(super) struct BlobParts {
    from: Box<dyn Read + Send>,
    blob: Arc<Blob>,
    hash: Sha256Stream,
}

impl BlobParts {
    pub(super) fn open(blob: &Arc<Blob>) -> Result<Self, ByteStoreError> {
        Ok(Self { from: blob.open()?, blob: Arc::clone(blob), hash: Sha256Stream::new() })
    }

    /// Reads the next part. After the last one, the part is empty.
    pub(super) fn read_next(mut self) -> Result<(Self, Vec<u8>), ByteStoreError> {
        let mut part = Vec::new();
        let read = self.from.by_ref().take(PART_BYTES).read_to_end(&mut part);
        read.map_err(self.blob.failed())?;
        self.hash.update(&part);
        Ok((self, part))
    }

    /// Fails if the parts together are not the blob.
    pub(super) fn finish(self) -> Result<(), ByteStoreError> {
        self.blob.check(self.hash.finish())
    }
}
