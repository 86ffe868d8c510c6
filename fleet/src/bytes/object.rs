//! A store of blobs: a directory, or a bucket of a cloud. Each blob is one object, named by its
//! digest, so every write of an object has the same bytes. The store may send any bytes: this
//! module bounds them, and hashes them before any use.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use model::Sha256;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{
    Error, GetResultPayload, MultipartUpload, ObjectStore, ObjectStoreExt as _, parse_url_opts,
};
use rustix::fs::{Mode, OFlags, fchmod, open};

use super::blob::{Blob, BlobParts};
use super::error::ByteStoreError;
use super::fault::StoreAddressFault;
use super::files::blocking;
use super::hashed_target::HashedTarget;
use super::object_address::{StoreAddress, settings, shown_address};
use crate::foreign_text::foreign_line;

/// The longest wait for one answer. The client repeats failed requests within it.
const ANSWER_MAX: Duration = Duration::from_secs(20 * 60);
/// The longest wait for the next bytes of an object.
const CHUNK_MAX: Duration = Duration::from_secs(5 * 60);
/// Other users of a shared directory read the blobs; the mode of the directory decides who they
/// are.
const OBJECT_MODE: u32 = 0o644;

/// A store of blobs.
#[derive(Debug)]
pub(crate) struct ObjectByteStore {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
    /// The directory, if it is one.
    directory: Option<PathBuf>,
    /// The address, for messages.
    shown: String,
}

impl ObjectByteStore {
    /// Opens a store. No connection is made.
    pub(super) fn open(address: &str) -> Result<Self, ByteStoreError> {
        let shown = shown_address(address);
        let refused = |fault| ByteStoreError::Address { address: shown_address(address), fault };
        let client = |error: Error| ByteStoreError::Client {
            store: shown_address(address),
            problem: foreign_line(&error.to_string()),
        };
        match StoreAddress::parse(address).map_err(refused)? {
            StoreAddress::Directory(path) => {
                let store = LocalFileSystem::new_with_prefix(&path).map_err(client)?;
                let store: Arc<dyn ObjectStore> = Arc::new(store.with_fsync(true));
                Ok(Self { store, prefix: ObjectPath::ROOT, directory: Some(path), shown })
            }
            StoreAddress::Cloud(url) => {
                // Without a provider of rustls, the client would panic.
                if rustls::crypto::CryptoProvider::get_default().is_none() {
                    let problem = "rustls has no provider".to_owned();
                    return Err(ByteStoreError::Client { store: shown, problem });
                }
                ObjectPath::from_url_path(url.path())
                    .map_err(|_| refused(StoreAddressFault::Path))?;
                let settings = settings(std::env::vars_os());
                let (store, prefix) = parse_url_opts(&url, settings).map_err(client)?;
                Ok(Self { store: Arc::from(store), prefix, directory: None, shown })
            }
        }
    }

    /// Returns the address, for messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Stores a blob, unless the store has an object of its name and size. Once this returns, it is
    /// durable.
    pub(super) async fn put(&self, blob: &Arc<Blob>) -> Result<(), ByteStoreError> {
        let key = self.key(&blob.sha256);
        let found = self.found("look up a blob", self.store.head(&key)).await?;
        if found.is_some_and(|found| found.size == blob.bytes) {
            return Ok(());
        }
        let mut upload = self.done("begin an upload", self.store.put_multipart(&key)).await?;
        if let Err(error) = self.send(&mut *upload, blob).await {
            // The error of the upload counts. A rule of the bucket removes the parts later.
            if let Err(why) = upload.abort().await {
                tracing::debug!("store {}: abort: {}", self.shown, foreign_line(&why.to_string()));
            }
            return Err(error);
        }
        self.open_to_readers(&blob.sha256).await
    }

    async fn send(
        &self,
        upload: &mut dyn MultipartUpload,
        blob: &Arc<Blob>,
    ) -> Result<(), ByteStoreError> {
        let opened = Arc::clone(blob);
        let mut parts = blocking(move || BlobParts::open(&opened)).await?;
        loop {
            let (rest, part) = blocking(move || parts.read_next()).await?;
            parts = rest;
            if part.is_empty() {
                break;
            }
            self.done("upload", upload.put_part(part.into())).await?;
        }
        // Other bytes must never get the name of this blob.
        parts.finish()?;
        self.done("end an upload", upload.complete()).await.map(drop)
    }

    /// Sets the mode of an object in a directory: the umask of this program may hide it.
    async fn open_to_readers(&self, sha256: &Sha256) -> Result<(), ByteStoreError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let path = directory.join(object_name(sha256));
        blocking(move || {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = open(&path, flags, Mode::empty());
            let changed = opened.and_then(|file| fchmod(&file, Mode::from_raw_mode(OBJECT_MODE)));
            changed.map_err(ByteStoreError::io(&path, "set the mode of"))
        })
        .await
    }

    /// Writes a blob of at most this size, and returns the target. `None` if the store does not
    /// have it. On an error, the target has bytes of no meaning.
    pub(super) async fn fetch<W: Write + Send + 'static>(
        &self,
        sha256: &Sha256,
        bytes_max: u64,
        to: W,
    ) -> Result<Option<W>, ByteStoreError> {
        let key = self.key(sha256);
        let Some(found) = self.found("fetch a blob", self.store.get(&key)).await? else {
            return Ok(None);
        };
        let mut target = HashedTarget::new(to, *sha256, bytes_max);
        let target = match found.payload {
            GetResultPayload::File(file, path) => {
                blocking(move || target.take_file(file, &path)).await?
            }
            GetResultPayload::Stream(mut stream) => {
                while let Some(chunk) = self.next_chunk(stream.next()).await? {
                    target.take(&chunk)?;
                }
                target
            }
        };
        target.finish(&self.shown).map(Some)
    }

    async fn next_chunk<B>(
        &self,
        next: impl Future<Output = Option<Result<B, Error>>>,
    ) -> Result<Option<B>, ByteStoreError> {
        match tokio::time::timeout(CHUNK_MAX, next).await {
            Ok(chunk) => chunk.transpose().map_err(|error| self.failed("fetch a blob", &error)),
            Err(_) => Err(self.silent("fetch a blob")),
        }
    }

    fn key(&self, sha256: &Sha256) -> ObjectPath {
        self.prefix.clone().join(object_name(sha256))
    }

    /// Waits for an answer. `None` if the object, or a bucket, does not exist.
    async fn found<T>(
        &self,
        act: &'static str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<T>, ByteStoreError> {
        match tokio::time::timeout(ANSWER_MAX, call).await {
            Ok(Ok(answer)) => Ok(Some(answer)),
            Ok(Err(Error::NotFound { .. })) => Ok(None),
            Ok(Err(error)) => Err(self.failed(act, &error)),
            Err(_) => Err(self.silent(act)),
        }
    }

    async fn done<T>(
        &self,
        act: &'static str,
        call: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, ByteStoreError> {
        let problem = || "it does not exist".to_owned();
        let missing =
            || ByteStoreError::Store { store: self.shown.clone(), act, problem: problem() };
        self.found(act, call).await?.ok_or_else(missing)
    }

    fn failed(&self, act: &'static str, error: &Error) -> ByteStoreError {
        let problem = foreign_line(&error.to_string());
        ByteStoreError::Store { store: self.shown.clone(), act, problem }
    }

    fn silent(&self, act: &'static str) -> ByteStoreError {
        let problem = "no answer in time".to_owned();
        ByteStoreError::Store { store: self.shown.clone(), act, problem }
    }
}

fn object_name(sha256: &Sha256) -> String {
    format!("sha256-{sha256}")
}
