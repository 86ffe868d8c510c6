//! The errors of packing, storing, fetching and unpacking. Each text names the object, the event,
//! and after `help:` an action.

mod display;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use model::Sha256;
use spool::SpoolError;

use super::fault::{FolderTarFault, ManifestProblem, StoreAddressFault};
use crate::database::DatabaseError;

/// A failed operation on bytes.
#[derive(Debug)]
pub(crate) enum ByteStoreError {
    /// A call of the database failed.
    Database(DatabaseError),
    /// The files of a submission cannot be read.
    Spool(SpoolError),
    /// A file beside the document cannot be read. The text names it.
    Unread(String),
    /// The document cannot be read.
    Document {
        /// Its file name.
        name: String,
        /// The first problem.
        problem: String,
    },
    /// The address of the store cannot be used.
    Address {
        /// The address, as far as it has no password.
        address: String,
        /// The fault.
        fault: StoreAddressFault,
    },
    /// The client of the store cannot be made, for example without credentials.
    Client {
        /// The address.
        store: String,
        /// The problem in the words of the client.
        problem: String,
    },
    /// A call of the store failed.
    Store {
        /// The address.
        store: String,
        /// The operation, as it follows `cannot`.
        act: &'static str,
        /// The problem in the words of the store.
        problem: String,
    },
    /// A blob is in no store.
    Missing {
        /// Its digest.
        sha256: Sha256,
        /// The places that were searched, as they follow `in`.
        store: String,
    },
    /// A store or the database answered with other bytes.
    Wrong {
        /// The digest of the blob.
        sha256: Sha256,
        /// The digest of the answer.
        found: Sha256,
        /// The store.
        store: String,
    },
    /// A store or the database answered with more bytes than the blob has.
    Larger {
        /// The digest of the blob.
        sha256: Sha256,
        /// The size of the blob.
        bytes_max: u64,
    },
    /// The files are too large for the fleet.
    TooLarge {
        /// The file, or the whole.
        name: String,
        /// The limit in bytes.
        bytes_max: u64,
    },
    /// Files of this host cannot be packed.
    Unpackable(ManifestProblem),
    /// A manifest of the database breaks a rule.
    Manifest {
        /// Its digest.
        sha256: Sha256,
        /// The rule.
        problem: ManifestProblem,
    },
    /// A folder cannot be packed, or its archive cannot be unpacked.
    Folder {
        /// The name of the folder.
        folder: String,
        /// The entry, or the entry before the fault.
        entry: String,
        /// The rule.
        fault: FolderTarFault,
    },
    /// A file changed between two reads.
    Changed {
        /// The file or folder.
        name: String,
    },
    /// A text that is not the id of a result.
    ResultName {
        /// The text.
        name: String,
    },
    /// The target of an unpacking exists.
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A system call on a file of this host failed.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The operation as a verb phrase.
        act: &'static str,
        /// The error.
        error: io::Error,
    },
}

impl ByteStoreError {
    /// Returns a function that makes the error of a system call.
    pub(super) fn io<E: Into<io::Error>>(
        path: &Path,
        act: &'static str,
    ) -> impl FnOnce(E) -> Self + use<E> {
        let path = path.to_owned();
        move |error| Self::Io { path, act, error: error.into() }
    }

    /// Returns whether the bytes themselves are wrong or absent. Then this host can never use them,
    /// unless its configuration names another store.
    pub(crate) fn is_defect(&self) -> bool {
        match self {
            Self::Database(error) => {
                matches!(error, DatabaseError::TooLarge { .. } | DatabaseError::DamagedBlob { .. })
            }
            Self::Missing { .. }
            | Self::Wrong { .. }
            | Self::Larger { .. }
            | Self::Manifest { .. }
            | Self::Folder { .. } => true,
            _ => false,
        }
    }
}

impl From<DatabaseError> for ByteStoreError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<SpoolError> for ByteStoreError {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

impl std::error::Error for ByteStoreError {}
