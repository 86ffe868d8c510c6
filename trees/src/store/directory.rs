//! The directory of a store: its parts and their names. It must never be used while other users may
//! write in it.
//!
//! ```text
//! sha256-<hex>/content/environment.json   the facts that matter to a run
//! sha256-<hex>/content/tree/              the files
//! sha256-<hex>/build.json                 the facts of the build
//! sha256-<hex>/build.dsse.json            the signed record of the build, if it has one
//! sha256-<hex>/stamp                      the stamp of `content/`
//! sha256-<hex>/index                      the names in `content/`, for its stamp
//! files/<2 hex>/<hex>-f, <hex>-x          hard links: equal files are stored once
//! names/<name>                            the digest of the newest build of a name
//! drafts/<random>/                        a build in progress
//! lock                                    the lock of the processes that change the store
//! ```

use std::ffi::CStr;
use std::fs::{self, DirBuilder, Permissions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf, absolute};

use model::Sha256;
use rustix::fs::{CWD, Mode, OFlags, fstat, mkdirat, openat};
use rustix::io::Errno;

use super::error::StoreError;
use super::handle::open_directory;
use super::lock::{LOCK, StoreLock, open_lock};
use crate::name::parse_digest;

pub(super) const FILES: &str = "files";
pub(super) const NAMES: &str = "names";
pub(super) const DRAFTS: &str = "drafts";

pub(super) const CONTENT: &str = "content";
pub(super) const TREE: &str = "tree";
pub(super) const ENVIRONMENT_JSON: &str = "environment.json";
pub(super) const BUILD_JSON: &str = "build.json";
pub(super) const BUILD_RECORD: &str = "build.dsse.json";
pub(super) const STAMP: &str = "stamp";
pub(super) const INDEX: &str = "index";

/// The mode of `build.json`, `build.dsse.json`, `stamp`, `index` and the files of names.
pub(super) const PUBLIC_FILE: u32 = 0o644;

const DIRECTORY_PREFIX: &str = "sha256-";
const PUBLIC: u32 = 0o755;
/// Readers need neither the drafts nor the shared files.
const PRIVATE: u32 = 0o700;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A store of environments: a directory with each environment under its digest.
#[derive(Debug)]
pub struct EnvironmentStore {
    path: PathBuf,
    directory: OwnedFd,
}

impl EnvironmentStore {
    /// Opens a store that exists.
    ///
    /// # Errors
    /// The directory does not exist or cannot be opened, or other users may write in it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // The tools that fill a draft may run in another directory.
        let path = absolute(path).map_err(StoreError::io(path, "open"))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, &path, flags, Mode::empty());
        let directory = directory.map_err(StoreError::io(&path, "open"))?;
        refuse_writable(&directory, &path)?;
        Ok(Self { path, directory })
    }

    /// Opens a store, and makes what does not exist of it.
    ///
    /// # Errors
    /// A directory cannot be made or opened, or other users may write in an existing one.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        if !path.is_dir() {
            let made = DirBuilder::new().recursive(true).mode(PUBLIC).create(path);
            made.map_err(StoreError::io(path, "create"))?;
            // The umask has no effect on it.
            let public = fs::set_permissions(path, Permissions::from_mode(PUBLIC));
            public.map_err(StoreError::io(path, "set the mode"))?;
        }
        let store = Self::open(path)?;
        store.make_part(FILES, PRIVATE)?;
        store.make_part(NAMES, PUBLIC)?;
        store.make_part(DRAFTS, PRIVATE)?;
        open_lock(&store.directory, LOCK).map_err(StoreError::io(&path.join(LOCK), "create"))?;
        Ok(store)
    }

    /// Returns the path of the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    pub(super) fn lock(&self) -> Result<StoreLock, StoreError> {
        StoreLock::take(&self.directory, &self.path)
    }

    /// Opens `files`, `names` or `drafts`.
    pub(super) fn part(&self, name: &str) -> Result<OwnedFd, StoreError> {
        open_directory(&self.directory, name).map_err(StoreError::io(&self.path.join(name), "open"))
    }

    fn make_part(&self, name: &str, mode: u32) -> Result<(), StoreError> {
        make_directory(&self.directory, name, mode)
            .map_err(StoreError::io(&self.path.join(name), "create"))
    }
}

/// Refuses a directory in which other users may write.
pub(super) fn refuse_writable(directory: impl AsFd, path: &Path) -> Result<(), StoreError> {
    let stat = fstat(directory).map_err(StoreError::io(path, "stat"))?;
    match stat.st_mode & WRITABLE_BY_OTHERS {
        0 => Ok(()),
        _ => Err(StoreError::Writable { path: path.to_owned() }),
    }
}

/// Makes a directory with exactly this mode, unless it exists.
pub(super) fn make_directory(at: impl AsFd, name: &str, mode: u32) -> rustix::io::Result<()> {
    let mode = Mode::from_raw_mode(mode);
    match mkdirat(&at, name, mode) {
        Err(Errno::EXIST) => Ok(()),
        made => {
            made?;
            // The umask has no effect on it.
            rustix::fs::fchmod(open_directory(&at, name)?, mode)
        }
    }
}

/// Returns the name of an environment's directory.
pub(super) fn directory_name(sha256: &Sha256) -> String {
    format!("{DIRECTORY_PREFIX}{sha256}")
}

/// Returns the digest in the name of an environment's directory.
pub(super) fn digest_of_name(name: &CStr) -> Option<Sha256> {
    parse_digest(name.to_str().ok()?.strip_prefix(DIRECTORY_PREFIX)?)
}
