//! The messages of the errors about bytes.

use std::fmt;

use model::quote;
use spool::io_text;

use super::ByteStoreError;
use crate::bytes::fault::{ManifestFault, ManifestProblem};
use crate::bytes::model::STORE_BYTES_MAX;

impl fmt::Display for ByteStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(error) => error.fmt(f),
            Self::Spool(error) => error.fmt(f),
            Self::Unread(text) => {
                write!(f, "{text}; help: replace it with a readable regular file, or remove it")
            }
            Self::Document { name, problem } => {
                write!(f, "{}: {problem}; help: run `toolexec lint` on it", quote(name))
            }
            Self::Address { address, fault } => write!(
                f,
                "store {}: {fault}; help: write an address such as s3://bucket/prefix or \
                 file:///srv/store",
                quote(address)
            ),
            Self::Client { store, problem } => write!(
                f,
                "store {store}: {problem}; help: set the region and the credentials in the \
                 environment of this program, such as AWS_REGION and AWS_ACCESS_KEY_ID"
            ),
            Self::Store { store, act, problem } => write!(
                f,
                "store {store}: cannot {act}: {problem}; help: check the network, the store and \
                 the credentials in the environment of this program"
            ),
            Self::ResultName { name } => {
                write!(f, "{}: not the id of a result; help: submit it again", quote(name))
            }
            Self::Exists { path } => write!(
                f,
                "{}: it exists; help: choose another directory, or remove it first",
                path.display()
            ),
            Self::Io { path, act, error } => {
                write!(f, "{}: {act}: {}", path.display(), io_text(error))
            }
            _ => self.fmt_bytes(f),
        }
    }
}

impl ByteStoreError {
    /// Writes the messages about blobs.
    fn fmt_bytes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { sha256, store } => write!(
                f,
                "blob {sha256}: not in {store}; help: use the `store` that the submitter used, or \
                 submit the request under another id"
            ),
            Self::Wrong { sha256, found, store } => write!(
                f,
                "blob {sha256}: {store} answers with other bytes, whose digest is {found}; help: \
                 remove the blob there, find out who changed it, and submit the request under another id"
            ),
            Self::Larger { sha256, bytes_max } => write!(
                f,
                "blob {sha256}: larger than its {bytes_max} bytes; help: find out who changed it, \
                 and submit the request under another id"
            ),
            Self::TooLarge { name, bytes_max } => write!(
                f,
                "{name}: larger than {bytes_max} bytes; help: leave out what is not needed{}",
                match *bytes_max < STORE_BYTES_MAX {
                    true => ", or use a store (`--store`)",
                    false => "",
                }
            ),
            _ => self.fmt_files(f),
        }
    }

    /// Writes the messages about manifests and the files that they list.
    fn fmt_files(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unpackable(problem) => {
                write!(f, "{}{}", NamedProblem(problem), help(problem.fault))
            }
            Self::Manifest { sha256, problem } => write!(
                f,
                "manifest {sha256}: {}; help: find out who wrote it, and submit the request under another id",
                NamedProblem(problem)
            ),
            Self::Folder { folder, entry, fault } => write!(
                f,
                "folder {}: {}: {fault}; help: remove or replace this entry, then submit again",
                quote(folder),
                quote(entry)
            ),
            Self::Changed { name } => write!(
                f,
                "{}: it changed while it was read; help: end the program that writes to it, and \
                 try again",
                quote(name)
            ),
            other => write!(f, "{other:?}; help: report this as a bug"),
        }
    }
}

/// The text of a problem without help.
struct NamedProblem<'a>(&'a ManifestProblem);

impl fmt::Display for NamedProblem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ManifestProblem { name, fault } = self.0;
        match name.is_empty() {
            true => write!(f, "{fault}"),
            false => write!(f, "{}: {fault}", quote(name)),
        }
    }
}

/// Returns the help for files that cannot be packed.
fn help(fault: ManifestFault) -> &'static str {
    match fault {
        ManifestFault::TooManyFiles | ManifestFault::TooLong => {
            "; help: declare a folder in place of its files"
        }
        _ => "; help: rename or leave out the file",
    }
}
