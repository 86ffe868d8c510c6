//! The files of a result in its directory, as they are packed. The record's own files come first,
//! so that no output of a tool keeps a record from being reported. All functions here block.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::vec;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::blob::Blob;
use super::error::ByteStoreError;
use super::fault::{ManifestFault, ManifestProblem};
use super::files::{
    hash, is_executable, open_directory, open_directory_beneath, open_regular, size_of,
};
use super::manifest::{ManifestFile, ManifestFileKind, ManifestMode};
use super::model::{FILES_MAX, RESULT_DEPTH_MAX};

/// The directory with the copies of the request and its signatures.
const REQUEST_PREFIX: &str = "request/";

/// A file of a result, with its blob unless the file is too large and stays on this host.
pub(super) type PackedResultFile = (ManifestFile, Option<Blob>);

/// The files of a result that are still to be read.
pub(super) struct ResultFiles {
    directory: Arc<OwnedFd>,
    files: vec::IntoIter<ListedFile>,
    left: u64,
    bytes_max: u64,
}

struct ListedFile {
    name: String,
    bytes: u64,
    /// True if no one can verify the result without this file.
    is_required: bool,
}

impl ResultFiles {
    /// Lists a result. `bytes_max` is the limit of all blobs together.
    pub(super) fn list(directory: &Path, bytes_max: u64) -> Result<Self, ByteStoreError> {
        let top = open_directory(directory)?;
        let id = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        // The record, its signature, its bundle and its proof.
        let own_prefix = format!("{}.", id.unwrap_or_default());
        let mut listing = ResultListing { own_prefix, found: Vec::new() };
        listing.directory(top.as_fd(), "", 1)?;
        let mut found = listing.found;
        // The more files are stored, the better; the required ones are first.
        found.sort_by(|a, b| a.rank().cmp(&b.rank()));
        Ok(Self { directory: Arc::new(top), files: found.into_iter(), left: bytes_max, bytes_max })
    }

    /// Hashes the next file. `None` after the last one.
    pub(super) fn read_next(mut self) -> Result<Option<(Self, PackedResultFile)>, ByteStoreError> {
        let Some(listed) = self.files.next() else { return Ok(None) };
        if listed.bytes > self.left {
            let file = self.left_out(&listed)?;
            return Ok(Some((self, (file, None))));
        }
        let (blob, stat) = Blob::of_file(&self.directory, &listed.name, self.left)?;
        self.left = self.left.saturating_sub(blob.bytes);
        let file = ManifestFile {
            kind: ManifestFileKind::Result,
            name: listed.name,
            sha256: blob.sha256,
            bytes: blob.bytes,
            mode: ManifestMode::of(is_executable(&stat)),
        };
        Ok(Some((self, (file, Some(blob)))))
    }

    /// Hashes a file that is too large, so that it can be recognised elsewhere.
    fn left_out(&self, listed: &ListedFile) -> Result<ManifestFile, ByteStoreError> {
        let ListedFile { name, bytes, is_required } = listed;
        if *is_required {
            let name = format!("the result with {name}");
            return Err(ByteStoreError::TooLarge { name, bytes_max: self.bytes_max });
        }
        let failed = |error: io::Error| ByteStoreError::io(Path::new(name), "read")(error);
        let (file, stat) = open_regular(&self.directory, name).map_err(failed)?;
        let changed = || ByteStoreError::Changed { name: name.clone() };
        let (sha256, bytes) = hash(&file, *bytes).map_err(failed)?.ok_or_else(changed)?;
        let mode = ManifestMode::of(is_executable(&stat));
        Ok(ManifestFile {
            kind: ManifestFileKind::LeftOut,
            name: name.clone(),
            sha256,
            bytes,
            mode,
        })
    }
}

impl ListedFile {
    /// The place among the files of a result.
    fn rank(&self) -> (bool, u64, &str) {
        (!self.is_required, self.bytes, &self.name)
    }
}

/// The files of a result as they are listed.
struct ResultListing {
    own_prefix: String,
    found: Vec<ListedFile>,
}

impl ResultListing {
    /// Adds the files of a directory, whose paths have `depth` components.
    fn directory(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &str,
        depth: usize,
    ) -> Result<(), ByteStoreError> {
        for entry in Dir::read_from(directory).map_err(failed(path))? {
            let entry = entry.map_err(failed(path))?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let name = entry.file_name().to_string_lossy();
            let below = match path {
                "" => name.into_owned(),
                path => format!("{path}/{name}"),
            };
            if entry.file_name().to_str().is_err() || depth > RESULT_DEPTH_MAX {
                return Err(refused(&below, ManifestFault::ResultName));
            }
            let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            let stat = stat.map_err(failed(&below))?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => self.file(below, size_of(&stat))?,
                FileType::Directory => {
                    let opened = open_directory_beneath(directory, entry.file_name());
                    let opened = opened.map_err(failed(&below))?;
                    self.directory(opened.as_fd(), &below, depth + 1)?;
                }
                _ => return Err(refused(&below, ManifestFault::ResultKind)),
            }
        }
        Ok(())
    }

    fn file(&mut self, name: String, bytes: u64) -> Result<(), ByteStoreError> {
        if self.found.len() >= FILES_MAX {
            return Err(refused(&name, ManifestFault::TooManyFiles));
        }
        let is_own = !name.contains('/') && name.starts_with(&self.own_prefix);
        let is_required = is_own || name.starts_with(REQUEST_PREFIX);
        self.found.push(ListedFile { name, bytes, is_required });
        Ok(())
    }
}

fn refused(name: &str, fault: ManifestFault) -> ByteStoreError {
    ByteStoreError::Unpackable(ManifestProblem::of(name, fault))
}

fn failed(path: &str) -> impl FnOnce(Errno) -> ByteStoreError + use<> {
    ByteStoreError::io(Path::new(if path.is_empty() { "." } else { path }), "list")
}
