//! Archives or quarantines a claim after its request was recorded, and removes the originals from
//! `approved/`. Nothing here may run before the result is published, so each function takes the
//! receipt. Nothing here may remove a file other than the claimed one: its name may be reused while
//! the request runs. If the original cannot be removed, its claim stays in `work/` and shows the
//! next start that the request was recorded.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use model::ResultId;

use crate::beneath::try_remove_tree;
use crate::claim::{Claimed, ClaimedObject, Origin, SubmittedFileId, remove_claim};
use crate::error::SpoolError;
use crate::failpoint::{self, Failpoint};
use crate::model::OperatorOrder;
use crate::paths::Spool;
use crate::publish::{Receipt, SubmissionState};
use crate::sidecars::{AIS_SUFFIX, is_signature_of};
use crate::sync;

impl Spool {
    /// Finishes a run: removes the original and the slot, and moves the claim to `archive/`.
    ///
    /// # Errors
    /// An I/O error. Recovery then finishes the claim.
    pub fn archive_claim(
        &self,
        mut claimed: Claimed,
        receipt: &Receipt,
    ) -> Result<SubmissionState, SpoolError> {
        self.clear_slot(&mut claimed);
        let Origin::Submitted { dropped, .. } = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(SubmissionState::Removed);
        };
        let originals = remove_originals(dropped, claimed.names(), &claimed.directory, None)?;
        if matches!(originals, SubmissionState::NotRemoved(_)) {
            return Ok(originals);
        }
        self.archive_directory(&claimed.directory, receipt.result_id())?;
        failpoint::reach(Failpoint::Archived);
        Ok(originals)
    }

    /// Finishes a refusal: moves the refused files to `quarantine/<result_id>/`.
    ///
    /// # Errors
    /// An I/O error. Recovery then finishes the claim.
    pub fn quarantine_claim(
        &self,
        mut claimed: Claimed,
        receipt: &Receipt,
    ) -> Result<SubmissionState, SpoolError> {
        self.clear_slot(&mut claimed);
        let Origin::Submitted { dropped, .. } = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(SubmissionState::Removed);
        };
        let keep = Some(claimed.directory.as_path());
        let originals = remove_originals(dropped, claimed.names(), &claimed.directory, keep)?;
        if matches!(originals, SubmissionState::NotRemoved(_)) {
            return Ok(originals);
        }
        write_report(&claimed.directory, receipt.path(), receipt.result_id());
        self.quarantine_directory(&claimed.directory, receipt.result_id())?;
        failpoint::reach(Failpoint::Quarantined);
        Ok(originals)
    }

    /// Moves an object that can never be a request to `quarantine/`, unchanged.
    ///
    /// # Errors
    /// An I/O error in the spool. Recovery then finishes the claim.
    pub fn quarantine_object(
        &self,
        claimed: ClaimedObject,
        receipt: &Receipt,
    ) -> Result<SubmissionState, SpoolError> {
        let ClaimedObject { directory, file_name, dropped, .. } = &claimed;
        let originals = remove_object(dropped, file_name, directory)?;
        if matches!(originals, SubmissionState::NotRemoved(_)) {
            return Ok(originals);
        }
        write_report(directory, receipt.path(), receipt.result_id());
        self.quarantine_directory(directory, receipt.result_id())?;
        failpoint::reach(Failpoint::ObjectQuarantined);
        Ok(originals)
    }

    pub(crate) fn archive_directory(&self, from: &Path, id: &ResultId) -> Result<(), SpoolError> {
        let archived = self.archive().join(id.as_str());
        sync::rename_new(from, &archived).map_err(SpoolError::io(&archived, "archive"))
    }

    pub(crate) fn quarantine_directory(
        &self,
        from: &Path,
        id: &ResultId,
    ) -> Result<(), SpoolError> {
        let place = self.quarantine().join(id.as_str());
        sync::rename_new(from, &place).map_err(SpoolError::io(&place, "quarantine"))
    }

    /// Abandons a claim without a result. The original is still in its place.
    pub fn abandon(&self, mut claimed: Claimed) {
        self.clear_slot(&mut claimed);
        remove_claim(&claimed.directory);
    }
}

/// Copies the published record next to the refused files. A failed copy is logged, not an error.
pub(crate) fn write_report(claim: &Path, result: &Path, id: &ResultId) {
    let record = result.join(format!("{id}.md"));
    let report = claim.join("report.md");
    match fs::read(&record).and_then(|bytes| sync::write_new(&report, &bytes, 0o600)) {
        Ok(()) => {}
        // Made by an earlier attempt.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => tracing::warn!("{}: {error}", report.display()),
    }
}

/// Removes a request's files from the directory they were submitted to: moves the inputs to `keep`,
/// or deletes them. `claim` is the claim's directory, on the same file system.
///
/// The `.md` is moved aside first, because the other files have no effect without it, and it is
/// deleted last. While it is aside, recovery knows that the other files may still exist.
pub(crate) fn remove_originals(
    dropped: &SubmittedFileId,
    (file_name, beside): (&str, &[String]),
    claim: &Path,
    keep: Option<&Path>,
) -> Result<SubmissionState, SpoolError> {
    let aside = claim.join(ASIDE_FILE);
    match set_aside(dropped, file_name, &aside) {
        Ok(OriginalAside::ClaimedFile) => {}
        Ok(OriginalAside::OtherFile) => return Ok(SubmissionState::Removed),
        Err(error) => return Ok(SubmissionState::NotRemoved(error)),
    }
    failpoint::reach(Failpoint::OriginalAside);
    remove_sidecars(&dropped.dropbox, file_name, beside, keep);
    match fs::remove_file(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(SpoolError::io(&aside, "remove")(error));
        }
        _ => {}
    }
    failpoint::reach(Failpoint::OriginalsGone);
    Ok(SubmissionState::Removed)
}

/// Removes the files that were found next to the request when it was claimed, and operators' orders
/// added since. The directory is not listed, because it may contain thousands of files.
fn remove_sidecars(dropbox: &Path, file_name: &str, beside: &[String], keep: Option<&Path>) {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let inputs = format!("{stem}.inputs");
    let orders = OperatorOrder::ALL.iter().map(|order| order.file_name(file_name));
    let fixed = [format!("{stem}{AIS_SUFFIX}")].into_iter().chain(orders);
    // A noted name could belong to another request. Only this request's files are removed.
    let signatures = beside.iter().filter(|name| is_signature_of(OsStr::new(name), file_name));
    for name in signatures.cloned().chain(fixed) {
        log_left_in_place(&dropbox.join(&name), fs::remove_file(dropbox.join(&name)));
    }
    let from = dropbox.join(&inputs);
    let gone = match keep {
        // The claim already has copies of the other files.
        Some(keep) => sync::rename_new(&from, &keep.join(&inputs)),
        None => try_remove_tree(&from),
    };
    log_left_in_place(&from, gone);
}

/// Logs a file of the submitter that cannot be removed. It has no effect without its `.md`.
fn log_left_in_place(path: &Path, gone: io::Result<()>) {
    match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("{}: not removed: {error}", path.display());
        }
        _ => {}
    }
}

/// Moves an object into its claim, under its own name.
pub(crate) fn remove_object(
    dropped: &SubmittedFileId,
    file_name: &str,
    claim: &Path,
) -> Result<SubmissionState, SpoolError> {
    match set_aside(dropped, file_name, &claim.join(file_name)) {
        Ok(OriginalAside::ClaimedFile) => failpoint::reach(Failpoint::OriginalAside),
        Ok(OriginalAside::OtherFile) => {}
        Err(error) => return Ok(SubmissionState::NotRemoved(error)),
    }
    Ok(SubmissionState::Removed)
}

enum OriginalAside {
    ClaimedFile,
    /// Removed before, or the name now belongs to another file, a submission of its own.
    OtherFile,
}

/// The name of the original in its claim, while it is being removed.
pub(crate) const ASIDE_FILE: &str = "original.md";

/// Moves the object with this name aside and identifies it then, because the name could be reused
/// between a check and an unlink. An object that an interrupted attempt moved is identified first.
fn set_aside(
    dropped: &SubmittedFileId,
    file_name: &str,
    aside: &Path,
) -> Result<OriginalAside, SpoolError> {
    let original = dropped.dropbox.join(file_name);
    if fs::symlink_metadata(aside).is_err() {
        match sync::rename_new(&original, aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(OriginalAside::OtherFile);
            }
            Err(error) => return Err(SpoolError::io(&original, "remove")(error)),
        }
    }
    let found = fs::symlink_metadata(aside).map_err(SpoolError::io(aside, "stat"))?;
    if dropped.is_same_file(&found) {
        return Ok(OriginalAside::ClaimedFile);
    }
    match sync::rename_new(aside, &original) {
        Ok(()) => {}
        // A third file was submitted meanwhile. This one stays in the claim, as if overwritten.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            tracing::warn!(
                "{}: submitted more than once while it ran; one copy is at {}",
                original.display(),
                aside.display()
            );
        }
        Err(error) => return Err(SpoolError::io(&original, "move back")(error)),
    }
    Ok(OriginalAside::OtherFile)
}
