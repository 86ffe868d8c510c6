//! The errors of the store of environments. A message must always name the object, and say what to
//! do after `help:`.

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::content::NotAnEnvironment;
use crate::error::TreeError;

/// A failed operation on the store of environments.
#[derive(Debug)]
pub enum StoreError {
    /// A system call failed.
    Io {
        /// The file or directory that the operation was on.
        path: PathBuf,
        /// The operation as a verb phrase for the message, such as `open`.
        act: &'static str,
        /// The error of the system call.
        error: io::Error,
    },
    /// A sync failed, so the state on the disk is unknown.
    Unsynced {
        /// The synced file or directory.
        path: PathBuf,
        /// The error of the sync.
        error: io::Error,
    },
    /// Other users may write in the store or in the directory of an environment.
    Writable {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has the lock of the store for too long.
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// An environment cannot get a further name.
    TooManyNames {
        /// The file with its names.
        path: PathBuf,
    },
    /// No environment of the store has this name or digest.
    Missing {
        /// The name, the reference or the digest.
        word: String,
    },
    /// Several environments of the store have digests that begin so.
    Ambiguous {
        /// The beginning of the digests.
        word: String,
    },
    /// The file of a stored environment is invalid.
    File {
        /// The file.
        path: PathBuf,
        /// The fault of its text.
        fault: NotAnEnvironment,
    },
    /// The facts of the new environment are invalid.
    Content(NotAnEnvironment),
    /// The tree has an object that an environment must not have, or cannot be read.
    Tree {
        /// The tree, or the content of a stored environment.
        path: PathBuf,
        /// The error of the digest or of the stamp.
        error: TreeError,
    },
    /// The files of a stored environment no longer have its digest.
    Changed {
        /// The reference, or the digest if the environment's files do not have its name.
        environment: String,
    },
    /// A file that environments share no longer had its digest, and was removed.
    DamagedFile {
        /// The path that the file had.
        path: PathBuf,
    },
}

impl StoreError {
    pub(super) fn io<E: Into<io::Error>>(path: &Path, act: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Io { path: path.to_owned(), act, error: error.into() }
    }

    /// The same for an entry of a directory.
    pub(super) fn entry<E: Into<io::Error>>(
        directory: &Path,
        name: &CStr,
        act: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |error| {
            let path = directory.join(OsStr::from_bytes(name.to_bytes()));
            Self::Io { path, act, error: error.into() }
        }
    }

    pub(super) fn unsynced<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> Self {
        move |error| Self::Unsynced { path: path.to_owned(), error: error.into() }
    }

    pub(super) fn tree(path: &Path) -> impl FnOnce(TreeError) -> Self {
        move |error| Self::Tree { path: path.to_owned(), error }
    }

    /// Returns whether a stored environment must be replaced. An error of the disk does not say so.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Tree { error, .. } => !matches!(error, TreeError::Io { .. }),
            Self::Changed { .. } | Self::File { .. } => true,
            _ => self.is_missing(),
        }
    }

    /// Returns whether the store, the environment or one of its files does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::Io { error, .. } => error.kind() == io::ErrorKind::NotFound,
            Self::Missing { .. } => true,
            _ => false,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, act, error } => {
                write!(f, "{}: {act}: {error}; help: {}", path.display(), io_help(error))
            }
            Self::Unsynced { path, error } => {
                write!(f, "{}: sync: {error}; help: check the disk, then retry", path.display())
            }
            Self::Writable { path } => write!(
                f,
                "{0}: other users may write in it; help: run `chmod go-w {0}`, then verify each \
                 environment",
                path.display()
            ),
            Self::TooManyNames { path } => write!(
                f,
                "{}: has 513 names, which is the maximum; help: build it under one of them",
                path.display()
            ),
            Self::Locked { path } => write!(
                f,
                "{}: another process changes the store; help: wait until it ends, then retry",
                path.display()
            ),
            Self::Missing { word } => write!(
                f,
                "{}: no such environment; help: run `toolexec env list`, or build it with \
                 `toolexec env build`",
                model::quote(word)
            ),
            Self::Ambiguous { word } => write!(
                f,
                "{}: several environments have such a digest; help: write more digits",
                model::quote(word)
            ),
            Self::File { path, fault } => write!(f, "{}: {fault}", path.display()),
            Self::Content(fault) => write!(f, "environment.json: {fault}"),
            Self::Tree { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Changed { environment } => write!(
                f,
                "environment {environment}: its files changed after it was built; help: build it \
                 again, or export and import it again"
            ),
            Self::DamagedFile { path } => write!(
                f,
                "{}: the stored file was damaged, and is now removed; help: build again, then run \
                 `toolexec env verify`",
                path.display()
            ),
        }
    }
}

fn io_help(error: &io::Error) -> &'static str {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "check the owner and the mode of the path",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free disk space, then retry",
        ErrorKind::ReadOnlyFilesystem => "mount the file system read-write",
        _ => "check the path and its disk",
    }
}

impl std::error::Error for StoreError {}
