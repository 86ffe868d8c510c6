//! Fetches the blobs of a manifest into a directory. Every name was checked with the manifest, and
//! every blob is hashed before anything uses it. A database or a store that answers with other
//! bytes causes an error, and the directory is then of no use.

use std::path::Path;

use model::{ResultId, Sha256};

use super::byte_store::ByteStore;
use super::error::ByteStoreError;
use super::fault::{ManifestFault, ManifestProblem};
use super::files::blocking;
use super::folder::unpack_folder;
use super::hidden_directory::HiddenDirectory;
use super::manifest::{MANIFEST_BYTES_MAX, Manifest, ManifestFile, ManifestFileKind, ManifestMode};
use super::model::{UnpackedResult, UnpackedSignatures, UnpackedSubmission};
use super::new_tree::NewTree;
use crate::database::BlobRows;

/// Fetches a submission into an empty directory that no other user can write to. Then the
/// directory is like `approved/` after a submission of the document. Nothing is synced.
///
/// # Errors
/// A blob is missing or has other bytes, or the manifest or a folder breaks a rule
/// ([`ByteStoreError::is_defect`]). Otherwise the database, the store or this host failed.
pub(crate) async fn unpack_submission(
    manifest_sha256: &Sha256,
    into: &Path,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<UnpackedSubmission, ByteStoreError> {
    let manifest = read_manifest(manifest_sha256, Manifest::parse_submission, store, rows).await?;
    let mut fetch = BlobFetch { manifest_sha256, store, tree: NewTree::open(into)? };
    let (mut document_name, mut document_sha256) = (String::new(), String::new());
    let mut declared = Vec::new();
    // The document is the first file.
    for file in manifest.files() {
        let stem = document_name.strip_suffix(".md").unwrap_or(&document_name);
        let input = format!("{stem}.inputs/{}", file.name);
        match file.kind {
            ManifestFileKind::Document => {
                fetch.file(file, &file.name, rows).await?;
                document_name.clone_from(&file.name);
                document_sha256 = file.sha256.to_string();
            }
            ManifestFileKind::Signature => fetch.file(file, &file.name, rows).await?,
            ManifestFileKind::Input => {
                fetch.file(file, &input, rows).await?;
                declared.push(file.name.clone());
            }
            ManifestFileKind::Folder => {
                fetch = fetch.folder(file, input, rows).await?;
                declared.push(file.name.clone());
            }
            // The manifest of a submission has no file of these kinds.
            ManifestFileKind::Result | ManifestFileKind::LeftOut => {}
        }
    }
    Ok(UnpackedSubmission { document_name, document_sha256, declared })
}

/// Fetches only the signatures and the bundle of a submission, into an empty directory that no
/// other user can write to. Its document and its inputs are not asked for. Nothing is synced.
///
/// # Errors
/// As [`unpack_submission`].
pub(crate) async fn unpack_signatures(
    manifest_sha256: &Sha256,
    into: &Path,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<UnpackedSignatures, ByteStoreError> {
    let manifest = read_manifest(manifest_sha256, Manifest::parse_submission, store, rows).await?;
    let mut fetch = BlobFetch { manifest_sha256, store, tree: NewTree::open(into)? };
    let (mut document_name, mut document_sha256) = (String::new(), String::new());
    for file in manifest.files() {
        match file.kind {
            ManifestFileKind::Document => {
                document_name.clone_from(&file.name);
                document_sha256 = file.sha256.to_string();
            }
            ManifestFileKind::Signature => fetch.file(file, &file.name, rows).await?,
            _ => {}
        }
    }
    Ok(UnpackedSignatures { document_name, document_sha256 })
}

/// Fetches a result into a new directory of its id, which appears only when it is complete. It is
/// not verified as a record.
///
/// # Errors
/// As [`unpack_submission`], or the directory exists.
pub(crate) async fn unpack_result(
    manifest_sha256: &Sha256,
    into: &Path,
    result_id: &str,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<UnpackedResult, ByteStoreError> {
    if result_id.parse::<ResultId>().is_err() {
        return Err(ByteStoreError::ResultName { name: result_id.to_owned() });
    }
    let target = into.join(result_id);
    if target.symlink_metadata().is_ok() {
        return Err(ByteStoreError::Exists { path: target });
    }
    let manifest = read_manifest(manifest_sha256, Manifest::parse_result, store, rows).await?;
    let hidden = HiddenDirectory::make(into)?;
    let tree = NewTree::open(&hidden.path())?;
    let mut fetch = BlobFetch { manifest_sha256, store, tree };
    let mut left_out = Vec::new();
    for file in manifest.files() {
        match file.kind {
            ManifestFileKind::LeftOut => left_out.push(file.name.clone()),
            _ => fetch.file(file, &file.name, rows).await?,
        }
    }
    Ok(UnpackedResult { directory: hidden.place(result_id)?, left_out })
}

/// Fetches a manifest, and reads it on a thread of its own: it may have very many files.
async fn read_manifest(
    manifest_sha256: &Sha256,
    parse: fn(&[u8]) -> Result<Manifest, ManifestProblem>,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<Manifest, ByteStoreError> {
    let text = store.get(rows, manifest_sha256, MANIFEST_BYTES_MAX).await?;
    let to_error = refused(manifest_sha256);
    blocking(move || parse(&text).map_err(to_error)).await
}

fn refused(manifest: &Sha256) -> impl Fn(ManifestProblem) -> ByteStoreError + use<> {
    let sha256 = *manifest;
    move |problem| ByteStoreError::Manifest { sha256, problem }
}

/// Fetches the files of one manifest.
struct BlobFetch<'a> {
    manifest_sha256: &'a Sha256,
    store: &'a ByteStore,
    tree: NewTree,
}

impl BlobFetch<'_> {
    /// Fetches a file to a path of the tree.
    async fn file(
        &mut self,
        file: &ManifestFile,
        path: &str,
        rows: &mut impl BlobRows,
    ) -> Result<(), ByteStoreError> {
        let target = self.tree.file(path, file.mode == ManifestMode::Program)?;
        let fetched = self.store.fetch(rows, (&file.sha256, file.bytes), target).await?;
        fetched.map(drop).ok_or_else(|| self.other_size(file))
    }

    /// Fetches the archive of a folder, and unpacks it to a path of the tree that ends with `/`.
    async fn folder(
        mut self,
        file: &ManifestFile,
        path: String,
        rows: &mut impl BlobRows,
    ) -> Result<Self, ByteStoreError> {
        let target = self.tree.temporary()?;
        let fetched = self.store.fetch(rows, (&file.sha256, file.bytes), target).await?;
        let archive = fetched.ok_or_else(|| self.other_size(file))?;
        let mut tree = self.tree;
        self.tree = blocking(move || {
            unpack_folder(&archive, &path, &mut tree)?;
            Ok(tree)
        })
        .await?;
        Ok(self)
    }

    fn other_size(&self, file: &ManifestFile) -> ByteStoreError {
        refused(self.manifest_sha256)(ManifestProblem::of(&file.name, ManifestFault::Size))
    }
}
