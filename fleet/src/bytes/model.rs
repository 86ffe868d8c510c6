//! The limits of blobs, and the outcomes of packing and unpacking.

use std::path::PathBuf;

/// A blob of at most this size is in the database, with and without a store.
pub(super) const SMALL_BYTES_MAX: u64 = 1024 * 1024;
/// The most bytes of a submission or a result that has no store.
pub(super) const DATABASE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most bytes of a submission or a result in a store.
pub(super) const STORE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The most files of a submission or a result. A folder counts as one.
pub(super) const FILES_MAX: usize = 10_000;
/// The most files, directories and links in a folder, as the daemon allows them.
pub(super) const FOLDER_ENTRIES_MAX: usize = 100_000;
/// The components of the longest path in a folder.
pub(super) const DEPTH_MAX: usize = 64;
/// The components of the longest path in a result. `artifact_depth_max` lets a tool make up to 64
/// directories below each other, and the host must be able to report each such result.
pub(super) const RESULT_DEPTH_MAX: usize = 72;
/// The longest component of a path in bytes (NAME_MAX).
pub(super) const COMPONENT_BYTES_MAX: usize = 255;

/// A submission whose blobs are stored. All digests are 64 lower-case hex digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PackedSubmission {
    /// The digest of the manifest.
    pub(crate) manifest_sha256: String,
    /// The digest of the document.
    pub(crate) document_sha256: String,
    /// The digests of the signature files and of the AIS bundle, sorted, each once.
    pub(crate) signatures: Vec<String>,
    /// The size of all blobs without the manifest.
    pub(crate) bytes: u64,
}

/// A submission in a directory of its own, whose bytes are those of the manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnpackedSubmission {
    /// The file name of the document.
    pub(crate) document_name: String,
    /// The digest of the document, 64 lower-case hex digits.
    pub(crate) document_sha256: String,
    /// The names of its inputs, as the document declares them. A folder's ends with `/`.
    pub(crate) declared: Vec<String>,
}

/// The signatures and the bundle of a submission in a directory of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnpackedSignatures {
    /// The file name of the document, which was not fetched.
    pub(crate) document_name: String,
    /// The digest of the document in the manifest, 64 lower-case hex digits.
    pub(crate) document_sha256: String,
}

/// A result whose blobs are stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PackedResult {
    /// The digest of the manifest, 64 lower-case hex digits.
    pub(crate) manifest_sha256: String,
    /// The files of the tool that are too large. They stay on this host, and the manifest says so.
    pub(crate) left_out: Vec<String>,
}

/// A result in a directory of its own, whose bytes are those of the manifest. Nothing of it is
/// verified as a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnpackedResult {
    /// The directory, named by the result's id.
    pub(crate) directory: PathBuf,
    /// The files that stayed on the host of the result, because they are too large.
    pub(crate) left_out: Vec<String>,
}
