//! After the story is told: claims go to `archive/` or `quarantine/`, originals leave `approved/`.
//!
//! Nothing here may run before its result is published, which is why each takes the receipt. And
//! nothing here may take away a file that is not the one that was claimed: a name can be used again
//! while its namesake runs.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::claim::{Claimed, Dropped, Origin, remove_claim, remove_tree};
use crate::companions::is_signature_of;
use crate::dropbox::{AIS_SUFFIX, Dropbox};
use crate::durable;
use crate::error::SpoolError;
use crate::orders::is_order_for;
use crate::places::Spool;
use crate::publish::{Originals, Receipt};

impl Spool {
    /// After a run: the original leaves `approved/`, the claim goes to `archive/`, the slot goes.
    ///
    /// # Errors
    /// The disk; the claim is then finished by recovery.
    pub fn archive_claim(
        &self,
        claimed: Claimed,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        remove_tree(&self.staging().join(claimed.slot.as_str()));
        let Origin::Dropped(dropped) = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(Originals::Gone);
        };
        let originals = take_originals_away(dropped, &claimed.file_name, &claimed.directory, None)?;
        let archived = self.archive().join(receipt.result_id().as_str());
        durable::rename_new(&claimed.directory, &archived)
            .map_err(SpoolError::io(&archived, "archive"))?;
        Ok(originals)
    }

    /// After a refusal: what was refused goes to `quarantine/<result_id>/`.
    ///
    /// # Errors
    /// The disk; the request then stays in `approved/` and is refused again.
    pub fn quarantine_claim(
        &self,
        claimed: Claimed,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        remove_tree(&self.staging().join(claimed.slot.as_str()));
        let Origin::Dropped(dropped) = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(Originals::Gone);
        };
        let place = self.quarantine().join(receipt.result_id().as_str());
        durable::rename_new(&claimed.directory, &place)
            .map_err(SpoolError::io(&place, "quarantine"))?;
        leave_report(&place, receipt);
        take_originals_away(dropped, &claimed.file_name, &place, Some(&place))
    }

    /// Moves an object that can never be a request out of the way, as it is.
    ///
    /// # Errors
    /// Our own disk.
    pub fn quarantine_object(
        &self,
        dropbox: &Dropbox,
        name: &str,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        let place = self.quarantine().join(receipt.result_id().as_str());
        let from = dropbox.path().join(name);
        fs::create_dir(&place).map_err(SpoolError::io(&place, "make"))?;
        leave_report(&place, receipt);
        match durable::rename_new(&from, &place.join(name)) {
            Ok(()) => Ok(Originals::Gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Originals::Gone),
            Err(error) => Ok(Originals::Left(SpoolError::io(&from, "quarantine")(error))),
        }
    }

    /// Gives a claim up that never became anything: the original is still where it was.
    pub fn abandon(&self, claimed: Claimed) {
        remove_tree(&self.staging().join(claimed.slot.as_str()));
        remove_claim(&claimed.directory);
    }
}

/// A copy of the record beside what it refused, for whoever looks there first. The record itself is
/// published already, so that a copy which cannot be made is no reason to stop.
fn leave_report(place: &Path, receipt: &Receipt) {
    let record = receipt.path().join(format!("{}.md", receipt.result_id()));
    let report = place.join("report.md");
    let copied = fs::read(&record).and_then(|bytes| durable::write_new(&report, &bytes, 0o600));
    if let Err(error) = copied {
        tracing::warn!("{}: {error}", report.display());
    }
}

/// Takes a request's files out of the directory they were dropped into: inputs to `keep`, or away. The
/// `.md` goes first; a leftover beside it means nothing without it. `near` is a directory of ours on
/// the same file system.
pub(crate) fn take_originals_away(
    dropped: &Dropped,
    file_name: &str,
    near: &Path,
    keep: Option<&Path>,
) -> Result<Originals, SpoolError> {
    let dropbox = &dropped.dropbox;
    match take_request_away(dropped, file_name, near) {
        Ok(Taken::Ours) => {}
        Ok(Taken::Another) => return Ok(Originals::Gone),
        Err(error) => return Ok(Originals::Left(error)),
    }
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let inputs = format!("{stem}.inputs");
    let ais = format!("{stem}{AIS_SUFFIX}");
    for entry in fs::read_dir(dropbox).map_err(SpoolError::io(dropbox, "list"))? {
        let entry = entry.map_err(SpoolError::io(dropbox, "list"))?;
        let name = entry.file_name();
        let is_inputs = name == *inputs;
        let is_other = name != *ais && !is_signature_of(&name, file_name);
        if !is_inputs && is_other && !is_order_for(&name, file_name) {
            continue;
        }
        let path = entry.path();
        let gone = match keep {
            // The claim holds copies of the others already.
            Some(keep) if is_inputs => durable::rename_new(&path, &keep.join(&name)),
            _ if is_inputs => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        if let Err(error) = gone {
            // Owned by whoever dropped it and closed to us: harmless without its `.md`.
            tracing::warn!("{}: left in place: {error}", path.display());
        }
    }
    durable::sync_dir(dropbox).map_err(SpoolError::io(dropbox, "make durable"))?;
    Ok(Originals::Gone)
}

enum Taken {
    Ours,
    /// Gone already, or somebody has dropped another file under the name since: that is a submission
    /// of its own.
    Another,
}

/// Moves whatever has the name out of sight first and looks at it then: between a look and an unlink
/// the name could change hands.
fn take_request_away(dropped: &Dropped, file_name: &str, near: &Path) -> Result<Taken, SpoolError> {
    let original = dropped.dropbox.join(file_name);
    let aside = near.join("original.md");
    match durable::rename_new(&original, &aside) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Taken::Another),
        Err(error) => return Err(SpoolError::io(&original, "remove")(error)),
    }
    let found = fs::symlink_metadata(&aside).map_err(SpoolError::io(&aside, "look at"))?;
    if (found.dev(), found.ino()) == (dropped.device, dropped.inode) {
        fs::remove_file(&aside).map_err(SpoolError::io(&aside, "remove"))?;
        return Ok(Taken::Ours);
    }
    durable::rename_new(&aside, &original).map_err(SpoolError::io(&original, "put back"))?;
    Ok(Taken::Another)
}
