//! Stores the blobs of a submission or of a result, and their manifest last.

use std::collections::BTreeSet;
use std::path::Path;

use spool::clock;

use super::blob::Blob;
use super::byte_store::ByteStore;
use super::error::ByteStoreError;
use super::files::blocking;
use super::manifest::{Manifest, ManifestFile, ManifestFileKind};
use super::model::{PackedResult, PackedSubmission};
use super::result_files::ResultFiles;
use super::submission_files::read_submission;
use crate::database::BlobRows;

/// Stores the document of this file name with its signatures, its bundle and the inputs that it
/// declares. The directory is like `approved/` after a submission of this document. No row of a
/// request is written.
///
/// # Errors
/// A file cannot be read or packed, the files are too large, or the database or the store failed.
/// Stored blobs stay, and the next try uses them.
pub(crate) async fn pack_submission(
    directory: &Path,
    document: &str,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<PackedSubmission, ByteStoreError> {
    let (directory, document) = (directory.to_owned(), document.to_owned());
    let (now, bytes_max) = (clock::now(), store.bytes_max());
    let (manifest, written, blobs) = blocking(move || {
        let read = read_submission(&directory, &document, now, bytes_max)?;
        let (files, blobs): (Vec<ManifestFile>, Vec<Blob>) = read.into_iter().unzip();
        let manifest = Manifest::of_submission(files).map_err(ByteStoreError::Unpackable)?;
        let written = manifest_blob(&manifest)?;
        Ok((manifest, written, blobs))
    })
    .await?;
    for blob in blobs {
        store.put(rows, blob).await?;
    }
    let manifest_sha256 = store.put(rows, written).await?.to_string();
    let digests = |kind| {
        let of_kind = manifest.files().iter().filter(move |file| file.kind == kind);
        of_kind.map(|file| file.sha256.to_string())
    };
    let signatures: BTreeSet<String> = digests(ManifestFileKind::Signature).collect();
    Ok(PackedSubmission {
        manifest_sha256,
        document_sha256: digests(ManifestFileKind::Document).next().unwrap_or_default(),
        signatures: signatures.into_iter().collect(),
        bytes: manifest.files().iter().map(|file| file.bytes).sum(),
    })
}

/// Stores the files of a result: those of the record first, then the others, smaller ones before
/// larger ones. A file of the tool that exceeds the limit stays on this host; the manifest has its
/// name, its size and its digest.
///
/// # Errors
/// A file cannot be read or packed, the files of the record alone are too large, or the database
/// or the store failed.
pub(crate) async fn pack_result(
    directory: &Path,
    store: &ByteStore,
    rows: &mut impl BlobRows,
) -> Result<PackedResult, ByteStoreError> {
    let (directory, bytes_max) = (directory.to_owned(), store.bytes_max());
    let mut unread = blocking(move || ResultFiles::list(&directory, bytes_max)).await?;
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    while let Some((rest, (file, blob))) = blocking(move || unread.read_next()).await? {
        unread = rest;
        match blob {
            Some(blob) => {
                store.put(rows, blob).await?;
            }
            None => left_out.push(file.name.clone()),
        }
        files.push(file);
    }
    let manifest = blocking(move || {
        manifest_blob(&Manifest::of_result(files).map_err(ByteStoreError::Unpackable)?)
    });
    let manifest_sha256 = store.put(rows, manifest.await?).await?.to_string();
    left_out.sort();
    Ok(PackedResult { manifest_sha256, left_out })
}

/// Returns the blob of a manifest. It may have very many files, so this needs a thread of its own.
fn manifest_blob(manifest: &Manifest) -> Result<Blob, ByteStoreError> {
    Ok(Blob::of_bytes(manifest.to_bytes().map_err(ByteStoreError::Unpackable)?))
}
