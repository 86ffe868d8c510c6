//! The files of claims in `approved/`: their presence, their placing, and their removal. Others may
//! write there, so this module follows no link, and removes only files of this program's user.
//! [`place`] copies whole inputs, so it needs a thread of its own.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use model::Sha256;
use spool::{SpoolError, SubmissionFiles};
use validator::REQUEST_BYTES_MAX;

use super::bounded_file::read_regular;
use super::claim_step::SubmissionPresence;
use super::error::FleetAgentError;
use super::signature_names::make_names_free;
use super::state_directory::remove_tree;

/// The outcome of a placing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PlaceOutcome {
    /// The daemon can see the document with all its files.
    Placed,
    /// An object with one of the names exists, and is not this program's.
    Blocked,
}

/// Returns the file of `approved/` with this name, compared with the digest of a document.
///
/// # Errors
/// The directory cannot be read.
pub(super) fn submission(
    approved: &Path,
    file_name: &str,
    document_sha256: &str,
) -> Result<SubmissionPresence, FleetAgentError> {
    let limit = u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = match read_regular(&approved.join(file_name), limit) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Without the directory, the request is not known to be absent.
            return match fs::metadata(approved) {
                Ok(_) => Ok(SubmissionPresence::Absent),
                Err(error) => Err(FleetAgentError::io(approved, &error)),
            };
        }
        Err(_) => return Ok(SubmissionPresence::Other),
    };
    Ok(match Sha256::of(&bytes).to_string() == document_sha256 {
        true => SubmissionPresence::Ours,
        false => SubmissionPresence::Other,
    })
}

/// Places a document that was unpacked, with its signatures and inputs. If the same document is
/// waiting, only new signatures are added.
///
/// # Errors
/// The unpacked files are not those of this document, or an I/O error. Nothing is visible then.
pub(super) fn place(
    document: &Path,
    document_sha256: &str,
    approved: &Path,
    declared: &[String],
) -> Result<PlaceOutcome, FleetAgentError> {
    let mut files = SubmissionFiles::read(document, None)?;
    if Sha256::of(files.bytes()).to_string() != document_sha256 {
        return Err(FleetAgentError::lasting(format!(
            "{}: its document is not the one with the digest {document_sha256}; help: submit the \
             request again under another id",
            files.file_name()
        )));
    }
    for unread in files.unread_signatures() {
        tracing::warn!("{}: not placed: {unread}", files.file_name());
    }
    if submission(approved, files.file_name(), document_sha256)? == SubmissionPresence::Absent {
        // An interrupted placing leaves files without a document.
        remove_sidecars(approved, files.file_name())?;
    } else {
        let unpacked = document.parent().unwrap_or(document);
        let freed = make_names_free(unpacked, &files, approved);
        if freed.map_err(|error| FleetAgentError::io(unpacked, &error))? {
            files = SubmissionFiles::read(document, None)?;
        }
    }
    let declared: Vec<&str> = declared.iter().map(String::as_str).collect();
    match files.submit_to(approved, &declared) {
        Ok(_) => Ok(PlaceOutcome::Placed),
        Err(error) if is_existing(&error) => {
            let there = submission(approved, files.file_name(), document_sha256)?;
            Ok(match there == SubmissionPresence::Ours {
                true => PlaceOutcome::Placed,
                false => PlaceOutcome::Blocked,
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes a document with its files, if it is this one and this program's user placed it. The
/// daemon may work on it meanwhile, but it asks the gate before it starts anything.
///
/// # Errors
/// An I/O error.
pub(super) fn withdraw(
    approved: &Path,
    file_name: &str,
    document_sha256: &str,
) -> Result<(), FleetAgentError> {
    if submission(approved, file_name, document_sha256)? != SubmissionPresence::Ours {
        return Ok(());
    }
    let path = approved.join(file_name);
    // The document first: without it, no file of it has an effect.
    if !remove_own(&path).map_err(|error| FleetAgentError::io(&path, &error))? {
        return Ok(());
    }
    remove_sidecars(approved, file_name)
}

/// Removes the signatures, the AIS bundle and the inputs of a document, as far as this program's
/// user placed them. Orders of operators stay.
fn remove_sidecars(approved: &Path, file_name: &str) -> Result<(), FleetAgentError> {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let fixed = [format!("{stem}.ais.json"), format!("{stem}.inputs")];
    let hidden = format!(".{stem}.");
    let failed = |error: io::Error| FleetAgentError::io(approved, &error);
    for entry in fs::read_dir(approved).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_signature = name.starts_with(file_name) && name.ends_with(".sig");
        // An interrupted write left this hidden name.
        let is_unfinished = name.starts_with(&hidden) && name.contains(".new-");
        if is_signature || is_unfinished || fixed.contains(&name) {
            remove_own(&entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

/// Removes a file or a tree if this program's user owns it. Returns whether it is gone.
fn remove_own(path: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        found => found?,
    };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    match found.is_dir() {
        true => remove_tree(path)?,
        false => match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        },
    }
    Ok(true)
}

fn is_existing(error: &SpoolError) -> bool {
    matches!(error, SpoolError::Io { error, .. } if error.kind() == io::ErrorKind::AlreadyExists)
}

#[cfg(test)]
mod tests;
