//! The names of signature files that come after their document. A submitter chooses them, so a name
//! may be taken by another file. Every name `<document>*.sig` has the same meaning, so the later
//! file gets a name from its digest. No one can keep a rejection away by taking its name first.

use std::fs;
use std::io;
use std::path::Path;

use model::Sha256;
use policies::{AisFile, SignatureFile};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use spool::SubmissionFiles;

use super::bounded_file::read_regular;

/// Returns the name for a signature of a document in a directory: its own, unless an object with
/// other bytes has it.
pub(super) fn signature_name(directory: &Path, document: &str, file: &SignatureFile) -> String {
    match is_taken(&directory.join(&file.name), &file.bytes) {
        true => format!("{document}.{}.sig", Sha256::of(&file.bytes)),
        false => file.name.clone(),
    }
}

/// Renames the unpacked signatures whose names other files in `approved/` have. Removes the
/// unpacked bundle if another bundle has its name there. Returns whether anything changed.
///
/// # Errors
/// An I/O error.
pub(super) fn make_names_free(
    unpacked: &Path,
    files: &SubmissionFiles,
    approved: &Path,
) -> io::Result<bool> {
    let mut has_changed = false;
    for file in files.signatures() {
        let name = signature_name(approved, files.file_name(), file);
        if name != file.name {
            let (from, to) = (unpacked.join(&file.name), unpacked.join(name));
            match renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE) {
                // The submission has the same signature under this name, too.
                Err(Errno::EXIST) if !is_taken(&to, &file.bytes) => fs::remove_file(&from)?,
                renamed => renamed?,
            }
            has_changed = true;
        }
    }
    if let AisFile::Read { name, bytes } = files.ais()
        && is_taken(&approved.join(name), bytes)
    {
        tracing::warn!("{name}: not placed: another bundle has its name");
        fs::remove_file(unpacked.join(name))?;
        has_changed = true;
    }
    Ok(has_changed)
}

/// Returns whether the path has an object that does not have these bytes.
fn is_taken(path: &Path, bytes: &[u8]) -> bool {
    // One byte more shows that the file is longer.
    let bytes_max = u64::try_from(bytes.len()).unwrap_or(u64::MAX).saturating_add(1);
    match read_regular(path, bytes_max) {
        Ok(there) => there != bytes,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}
