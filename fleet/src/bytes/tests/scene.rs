//! A directory of a test, and a database in memory.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::Sha256;

use crate::bytes::files::open_directory;
use crate::bytes::folder::{FolderTarPlan, FolderTarStream};
use crate::database::{BlobRows, DatabaseError};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// An entry of a directory tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::bytes) enum SceneEntry {
    Directory,
    File { bytes: Vec<u8>, is_executable: bool },
    Link(PathBuf),
}

/// A directory that is removed with its content.
pub(in crate::bytes) struct BytesScene(PathBuf);

impl BytesScene {
    pub(in crate::bytes) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-fleet-bytes-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        fs::create_dir(&top).unwrap();
        Self(top)
    }

    pub(in crate::bytes) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes a directory.
    pub(in crate::bytes) fn directory(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.path(name)).unwrap();
        self.path(name)
    }

    /// Makes a file, and the directories above it.
    pub(in crate::bytes) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(&path).unwrap().write_all(bytes).unwrap();
        path
    }

    /// Makes a file of zeros that takes no room.
    pub(in crate::bytes) fn sparse_file(&self, name: &str, bytes: u64) {
        File::create(self.file(name, b"")).unwrap().set_len(bytes).unwrap();
    }

    pub(in crate::bytes) fn program(&self, name: &str, bytes: &[u8]) {
        let path = self.file(name, bytes);
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    pub(in crate::bytes) fn link(&self, name: &str, target: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    /// Returns every entry below a directory.
    pub(in crate::bytes) fn tree(&self, name: &str) -> BTreeMap<String, SceneEntry> {
        let mut found = BTreeMap::new();
        list(&self.path(name), "", &mut found);
        found
    }

    /// Returns the archive of a folder.
    pub(in crate::bytes) fn archive(&self, name: &str) -> Vec<u8> {
        let top = open_directory(&self.path(name)).unwrap();
        let plan = FolderTarPlan::read(top, "folder/", u64::MAX).unwrap();
        let length = plan.bytes();
        let mut bytes = Vec::new();
        FolderTarStream::new(Arc::new(plan)).read_to_end(&mut bytes).unwrap();
        assert_eq!(u64::try_from(bytes.len()).unwrap(), length);
        bytes
    }
}

impl Drop for BytesScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn list(directory: &Path, path: &str, found: &mut BTreeMap<String, SceneEntry>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let below = format!("{path}{}", entry.file_name().to_str().unwrap());
        let metadata = entry.path().symlink_metadata().unwrap();
        let kind = if metadata.is_dir() {
            list(&entry.path(), &format!("{below}/"), found);
            SceneEntry::Directory
        } else if metadata.is_symlink() {
            SceneEntry::Link(fs::read_link(entry.path()).unwrap())
        } else {
            SceneEntry::File {
                bytes: fs::read(entry.path()).unwrap(),
                is_executable: metadata.permissions().mode() & 0o111 != 0,
            }
        };
        found.insert(below, kind);
    }
}

/// The blobs of a database that keeps them in memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(in crate::bytes) struct MemoryRows {
    pub(in crate::bytes) blobs: BTreeMap<Sha256, Vec<u8>>,
}

impl BlobRows for MemoryRows {
    async fn has_bytes(&mut self, sha256: &Sha256) -> Result<bool, DatabaseError> {
        Ok(self.blobs.contains_key(sha256))
    }

    async fn put_bytes(&mut self, sha256: &Sha256, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.blobs.entry(*sha256).or_insert_with(|| bytes.to_vec());
        Ok(())
    }

    async fn get_bytes(
        &mut self,
        sha256: &Sha256,
        bytes_max: u64,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        let found = self.blobs.get(sha256).cloned();
        match found {
            Some(found) if u64::try_from(found.len()).unwrap() > bytes_max => {
                Err(DatabaseError::TooLarge { sha256: sha256.to_string(), bytes_max })
            }
            found => Ok(found),
        }
    }
}
