//! The files of a submission in a directory, as they are packed: the document, its signatures and
//! bundle, and the inputs that it declares. All functions here block.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use model::{StandingId, UtcTime};
use policies::AisFile;
use spool::SubmissionFiles;
use validator::{Draft, OwnerUid};

use super::blob::Blob;
use super::error::ByteStoreError;
use super::files::{is_executable, open_directory, open_directory_beneath, open_regular};
use super::folder::FolderTarPlan;
use super::manifest::{ManifestFile, ManifestFileKind, ManifestMode};
use super::model::FILES_MAX;

/// A file of a manifest with its blob.
pub(super) type SubmissionFile = (ManifestFile, Blob);

/// Reads and hashes the files of a submission. `bytes_max` is the limit of all blobs together.
pub(super) fn read_submission(
    directory: &Path,
    document: &str,
    now: UtcTime,
    bytes_max: u64,
) -> Result<Vec<SubmissionFile>, ByteStoreError> {
    let path = directory.join(document);
    // The spool follows a link in place of the document.
    open_regular(open_directory(directory)?, document)
        .map_err(ByteStoreError::io(&path, "open"))?;
    let submission = SubmissionFiles::read(&path, None)?;
    let mut files = read_small(&submission)?;
    let declared = declared_inputs(&submission, now)?;
    if declared.is_empty() {
        return Ok(files);
    }
    if declared.len() > FILES_MAX {
        let name = format!("{document}: its {} inputs", declared.len());
        return Err(ByteStoreError::Document { name, problem: "too many files".to_owned() });
    }
    let mut inputs = InputFiles {
        directory: Arc::new(open_directory(submission.inputs())?),
        left: bytes_max.saturating_sub(files.iter().map(|(file, _)| file.bytes).sum()),
        bytes_max,
    };
    for name in declared {
        files.push(inputs.read(&name)?);
    }
    Ok(files)
}

/// Returns the document, the signatures and the bundle, which were read already.
fn read_small(submission: &SubmissionFiles) -> Result<Vec<SubmissionFile>, ByteStoreError> {
    let (document, bytes) = (submission.file_name(), submission.bytes().to_vec());
    let mut files = vec![in_memory(ManifestFileKind::Document, document, bytes)];
    if let Some(unread) = submission.unread_signatures().first() {
        return Err(ByteStoreError::Unread(unread.clone()));
    }
    for signature in submission.signatures() {
        let bytes = signature.bytes.clone();
        files.push(in_memory(ManifestFileKind::Signature, &signature.name, bytes));
    }
    match submission.ais() {
        AisFile::Missing => {}
        AisFile::Unread(why) => return Err(ByteStoreError::Unread(why.clone())),
        AisFile::Read { name, bytes } => {
            files.push(in_memory(ManifestFileKind::Signature, name, bytes.clone()));
        }
    }
    Ok(files)
}

fn in_memory(kind: ManifestFileKind, name: &str, bytes: Vec<u8>) -> SubmissionFile {
    with_blob(kind, name, ManifestMode::Plain, Blob::of_bytes(bytes))
}

/// Joins a blob with its row in the manifest.
fn with_blob(kind: ManifestFileKind, name: &str, mode: ManifestMode, blob: Blob) -> SubmissionFile {
    let (sha256, bytes) = (blob.sha256, blob.bytes);
    (ManifestFile { kind, name: name.to_owned(), sha256, bytes, mode }, blob)
}

/// Returns the names of the inputs that a document declares. Standing approvals have none.
fn declared_inputs(
    submission: &SubmissionFiles,
    now: UtcTime,
) -> Result<Vec<String>, ByteStoreError> {
    let name = submission.file_name();
    let stem = name.strip_suffix(".md").unwrap_or(name);
    if stem.parse::<StandingId>().is_ok() {
        return Ok(Vec::new());
    }
    let refused = |problem| ByteStoreError::Document { name: name.to_owned(), problem };
    let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
    let draft = Draft::new(submission.bytes().to_vec(), name, owner);
    let draft = draft.map_err(|error| refused(error.to_string()))?;
    // Only the list of inputs is used; each host checks the whole document.
    let request = draft.read_recorded(now).map_err(refused)?;
    Ok(request.inputs().iter().map(|input| input.name().to_owned()).collect())
}

/// The inputs of a document, with the bytes that they may still have.
struct InputFiles {
    directory: Arc<OwnedFd>,
    left: u64,
    bytes_max: u64,
}

impl InputFiles {
    fn read(&mut self, name: &str) -> Result<SubmissionFile, ByteStoreError> {
        let packed = match name.strip_suffix('/') {
            Some(path) => self.folder(name, path),
            None => self.file(name),
        };
        let (file, blob) = packed.map_err(|error| match error {
            // The limit applies to all files together: this input may have the bytes that the
            // others leave.
            ByteStoreError::TooLarge { name, .. } => {
                let name = format!("the submission with {name}");
                ByteStoreError::TooLarge { name, bytes_max: self.bytes_max }
            }
            error => error,
        })?;
        self.left = self.left.saturating_sub(blob.bytes);
        Ok((file, blob))
    }

    fn file(&self, name: &str) -> Result<SubmissionFile, ByteStoreError> {
        let (blob, stat) = Blob::of_file(&self.directory, name, self.left)?;
        let mode = ManifestMode::of(is_executable(&stat));
        Ok(with_blob(ManifestFileKind::Input, name, mode, blob))
    }

    fn folder(&self, name: &str, path: &str) -> Result<SubmissionFile, ByteStoreError> {
        let top = open_directory_beneath(&self.directory, path);
        let top = top.map_err(ByteStoreError::io(Path::new(name), "open"))?;
        let blob = Blob::of_folder(FolderTarPlan::read(top, name, self.left)?)?;
        Ok(with_blob(ManifestFileKind::Folder, name, ManifestMode::Plain, blob))
    }
}
