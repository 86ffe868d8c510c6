//! The place of each blob: the database or the store.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use model::Sha256;

use super::blob::Blob;
use super::error::ByteStoreError;
use super::files::blocking;
use super::model::{DATABASE_BYTES_MAX, SMALL_BYTES_MAX, STORE_BYTES_MAX};
use super::object::ObjectByteStore;
use crate::database::BlobRows;

/// The name of the database in messages.
const DATABASE: &str = "the database";

/// A blob up to this size is sent without asking first if the database has it.
const UNASKED_BYTES_MAX: u64 = 64 * 1024;

/// The store of the blobs that are larger than 1 MiB. Smaller ones are always in the database.
#[derive(Debug)]
pub(crate) enum ByteStore {
    /// The database itself, up to 64 MiB for each submission and result.
    Database,
    /// A directory or a bucket, up to 1 GiB for each of them.
    Object(ObjectByteStore),
}

impl ByteStore {
    /// Opens a store by its address: `file:///srv/store`, `s3://bucket/prefix`,
    /// `gs://bucket/prefix` or `az://container/prefix`. Without one, it is the database. Region,
    /// endpoint and credentials come from the environment, as `object_store` documents them, such
    /// as `AWS_REGION` and `AWS_ENDPOINT_URL`. No connection is made.
    ///
    /// The process-wide provider of rustls must be installed before.
    ///
    /// # Errors
    /// The address or the environment cannot be used.
    pub(crate) fn open(address: Option<&str>) -> Result<Self, ByteStoreError> {
        match address {
            None => Ok(Self::Database),
            Some(address) => ObjectByteStore::open(address).map(Self::Object),
        }
    }

    /// Returns the most bytes of one submission or one result.
    pub(super) fn bytes_max(&self) -> u64 {
        match self {
            Self::Database => DATABASE_BYTES_MAX,
            Self::Object(_) => STORE_BYTES_MAX,
        }
    }

    /// Stores a blob. Once this returns, every host can fetch it.
    pub(super) async fn put(
        &self,
        rows: &mut impl BlobRows,
        blob: Blob,
    ) -> Result<Sha256, ByteStoreError> {
        let (sha256, bytes) = (blob.sha256, blob.bytes);
        let blob = Arc::new(blob);
        if let Self::Object(store) = self
            && bytes > SMALL_BYTES_MAX
        {
            store.put(&blob).await?;
            return Ok(sha256);
        }
        if bytes > UNASKED_BYTES_MAX && rows.has_bytes(&sha256).await? {
            return Ok(sha256);
        }
        let read = blocking(move || blob.read()).await?;
        rows.put_bytes(&sha256, &read).await?;
        Ok(sha256)
    }

    /// Returns a blob of at most this size.
    pub(super) async fn get(
        &self,
        rows: &mut impl BlobRows,
        sha256: &Sha256,
        bytes_max: u64,
    ) -> Result<Vec<u8>, ByteStoreError> {
        if let Some(found) = rows.get_bytes(sha256, bytes_max).await? {
            return checked(found, *sha256).await;
        }
        let fetched = match self {
            Self::Object(store) => store.fetch(sha256, bytes_max, Vec::new()).await?,
            Self::Database => None,
        };
        fetched.ok_or_else(|| self.missing(sha256))
    }

    /// Writes a blob of exactly this size to a new file, which is returned at its beginning.
    /// `None` if the blob has another size.
    pub(super) async fn fetch(
        &self,
        rows: &mut impl BlobRows,
        (sha256, bytes): (&Sha256, u64),
        to: File,
    ) -> Result<Option<File>, ByteStoreError> {
        // A second handle, because a fetch from a store without the blob drops the first one.
        let again = to.try_clone().map_err(ByteStoreError::io(Path::new("a new file"), "open"))?;
        let fetched = match self {
            Self::Object(store) if bytes > SMALL_BYTES_MAX => {
                store.fetch(sha256, bytes, to).await?
            }
            _ => None,
        };
        let mut filled = match fetched {
            Some(file) => file,
            None => {
                let found = rows.get_bytes(sha256, bytes).await?;
                let found = found.ok_or_else(|| self.missing(sha256))?;
                write(again, checked(found, *sha256).await?).await?
            }
        };
        let failed =
            |error: io::Error| ByteStoreError::io(Path::new("a fetched blob"), "read")(error);
        filled.rewind().map_err(failed)?;
        let length = filled.metadata().map_err(failed)?.len();
        Ok((length == bytes).then_some(filled))
    }

    fn missing(&self, sha256: &Sha256) -> ByteStoreError {
        let store = match self {
            Self::Database => DATABASE.to_owned(),
            Self::Object(store) => format!("{DATABASE} or in store {}", store.shown()),
        };
        ByteStoreError::Missing { sha256: *sha256, store }
    }
}

/// Returns the bytes of the database, if they have this digest.
async fn checked(bytes: Vec<u8>, sha256: Sha256) -> Result<Vec<u8>, ByteStoreError> {
    blocking(move || {
        let found = Sha256::of(&bytes);
        match found == sha256 {
            true => Ok(bytes),
            false => Err(ByteStoreError::Wrong { sha256, found, store: DATABASE.to_owned() }),
        }
    })
    .await
}

async fn write(mut to: File, bytes: Vec<u8>) -> Result<File, ByteStoreError> {
    blocking(move || {
        let written = to.write_all(&bytes);
        written.map_err(ByteStoreError::io(Path::new("a fetched blob"), "write"))?;
        Ok(to)
    })
    .await
}
