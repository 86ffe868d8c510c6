//! After the story is told: claims go to `archive/` or `quarantine/`, originals leave `approved/`.
//!
//! Nothing here may run before its result is published, which is why each takes the receipt. And
//! nothing here may take away a file that is not the one that was claimed: a name can be used again
//! while its namesake runs. Where the original cannot be taken away its claim stays in `work/`: that is
//! how the next start knows that it has its answer.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use model::ResultId;

use crate::beneath::remove_tree;
use crate::claim::{Claimed, ClaimedObject, Dropped, Origin, remove_claim};
use crate::companions::{AIS_SUFFIX, is_signature_of};
use crate::durable;
use crate::error::SpoolError;
use crate::failpoint::{self, Failpoint};
use crate::model::Order;
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
        let Origin::Dropped { dropped, .. } = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(Originals::Gone);
        };
        let originals = take_originals_away(dropped, claimed.names(), &claimed.directory, None)?;
        if matches!(originals, Originals::Left(_)) {
            return Ok(originals);
        }
        self.archive_directory(&claimed.directory, receipt.result_id())?;
        failpoint::reach(Failpoint::Archived);
        Ok(originals)
    }

    /// After a refusal: what was refused goes to `quarantine/<result_id>/`.
    ///
    /// # Errors
    /// The disk; the claim is then finished by recovery.
    pub fn quarantine_claim(
        &self,
        claimed: Claimed,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        remove_tree(&self.staging().join(claimed.slot.as_str()));
        let Origin::Dropped { dropped, .. } = &claimed.origin else {
            remove_claim(&claimed.directory);
            return Ok(Originals::Gone);
        };
        let keep = Some(claimed.directory.as_path());
        let originals = take_originals_away(dropped, claimed.names(), &claimed.directory, keep)?;
        if matches!(originals, Originals::Left(_)) {
            return Ok(originals);
        }
        leave_report(&claimed.directory, receipt.path(), receipt.result_id());
        self.quarantine_directory(&claimed.directory, receipt.result_id())?;
        failpoint::reach(Failpoint::Quarantined);
        Ok(originals)
    }

    /// Moves an object that can never be a request out of the way, as it is.
    ///
    /// # Errors
    /// Our own disk; the claim is then finished by recovery.
    pub fn quarantine_object(
        &self,
        claimed: ClaimedObject,
        receipt: &Receipt,
    ) -> Result<Originals, SpoolError> {
        let ClaimedObject { directory, file_name, dropped, .. } = &claimed;
        let originals = take_object_away(dropped, file_name, directory)?;
        if matches!(originals, Originals::Left(_)) {
            return Ok(originals);
        }
        leave_report(directory, receipt.path(), receipt.result_id());
        self.quarantine_directory(directory, receipt.result_id())?;
        failpoint::reach(Failpoint::ObjectQuarantined);
        Ok(originals)
    }

    pub(crate) fn archive_directory(&self, from: &Path, id: &ResultId) -> Result<(), SpoolError> {
        let archived = self.archive().join(id.as_str());
        durable::rename_new(from, &archived).map_err(SpoolError::io(&archived, "archive"))
    }

    pub(crate) fn quarantine_directory(
        &self,
        from: &Path,
        id: &ResultId,
    ) -> Result<(), SpoolError> {
        let place = self.quarantine().join(id.as_str());
        durable::rename_new(from, &place).map_err(SpoolError::io(&place, "quarantine"))
    }

    /// Gives a claim up that never became anything: the original is still where it was.
    pub fn abandon(&self, claimed: Claimed) {
        remove_tree(&self.staging().join(claimed.slot.as_str()));
        remove_claim(&claimed.directory);
    }
}

/// A copy of the record beside what it refused, for whoever looks there first. The record itself is
/// published already, so that a copy which cannot be made is no reason to stop.
pub(crate) fn leave_report(claim: &Path, result: &Path, id: &ResultId) {
    let record = result.join(format!("{id}.md"));
    let report = claim.join("report.md");
    match fs::read(&record).and_then(|bytes| durable::write_new(&report, &bytes, 0o600)) {
        Ok(()) => {}
        // Of an earlier attempt.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => tracing::warn!("{}: {error}", report.display()),
    }
}

/// Takes a request's files out of the directory they were dropped into: inputs to `keep`, or away.
/// `claim` is its claim, on the same file system.
///
/// The `.md` goes aside first, since a leftover beside it means nothing without it, and away last:
/// while it is aside, recovery knows that what belongs to it may still be there.
pub(crate) fn take_originals_away(
    dropped: &Dropped,
    (file_name, beside): (&str, &[String]),
    claim: &Path,
    keep: Option<&Path>,
) -> Result<Originals, SpoolError> {
    let aside = claim.join(ASIDE);
    match set_aside(dropped, file_name, &aside) {
        Ok(Taken::Ours) => {}
        Ok(Taken::Another) => return Ok(Originals::Gone),
        Err(error) => return Ok(Originals::Left(error)),
    }
    failpoint::reach(Failpoint::OriginalAside);
    take_companions_away(&dropped.dropbox, file_name, beside, keep);
    match fs::remove_file(&aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(SpoolError::io(&aside, "remove")(error));
        }
        _ => {}
    }
    failpoint::reach(Failpoint::OriginalsGone);
    Ok(Originals::Gone)
}

/// What was known to lie beside it when it was claimed, and what operators may have put there since. The
/// directory is not listed for it: thousands of others may lie there.
fn take_companions_away(dropbox: &Path, file_name: &str, beside: &[String], keep: Option<&Path>) {
    let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
    let inputs = format!("{stem}.inputs");
    let orders = Order::ALL.iter().map(|order| order.file_name(file_name));
    let fixed = [format!("{stem}{AIS_SUFFIX}")].into_iter().chain(orders);
    // A note could be another's by accident; only what belongs to the request leaves with it.
    let signatures = beside.iter().filter(|name| is_signature_of(OsStr::new(name), file_name));
    for name in signatures.cloned().chain(fixed) {
        left_in_place(&dropbox.join(&name), fs::remove_file(dropbox.join(&name)));
    }
    let from = dropbox.join(&inputs);
    let gone = match keep {
        // The claim holds copies of the others already.
        Some(keep) => durable::rename_new(&from, &keep.join(&inputs)),
        None => fs::remove_dir_all(&from),
    };
    left_in_place(&from, gone);
}

/// Owned by whoever dropped it and closed to us: harmless without its `.md`.
fn left_in_place(path: &Path, gone: io::Result<()>) {
    match gone {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!("{}: left in place: {error}", path.display());
        }
        _ => {}
    }
}

/// Moves an object into its claim, under its own name.
pub(crate) fn take_object_away(
    dropped: &Dropped,
    file_name: &str,
    claim: &Path,
) -> Result<Originals, SpoolError> {
    match set_aside(dropped, file_name, &claim.join(file_name)) {
        Ok(Taken::Ours) => failpoint::reach(Failpoint::OriginalAside),
        Ok(Taken::Another) => {}
        Err(error) => return Ok(Originals::Left(error)),
    }
    Ok(Originals::Gone)
}

enum Taken {
    Ours,
    /// Gone already, or somebody has dropped another file under the name since: that is a submission
    /// of its own.
    Another,
}

/// Where in a claim its original is looked at, on its way out.
pub(crate) const ASIDE: &str = "original.md";

/// Moves whatever has the name out of sight first and looks at it then: between a look and an unlink
/// the name could change hands. What an interrupted one moved already is looked at first.
fn set_aside(dropped: &Dropped, file_name: &str, aside: &Path) -> Result<Taken, SpoolError> {
    let original = dropped.dropbox.join(file_name);
    if fs::symlink_metadata(aside).is_err() {
        match durable::rename_new(&original, aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Taken::Another),
            Err(error) => return Err(SpoolError::io(&original, "remove")(error)),
        }
    }
    let found = fs::symlink_metadata(aside).map_err(SpoolError::io(aside, "look at"))?;
    if dropped.is(&found) {
        return Ok(Taken::Ours);
    }
    match durable::rename_new(aside, &original) {
        Ok(()) => {}
        // A third was dropped meanwhile, as if over this one, which stays in the claim.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            tracing::warn!(
                "{}: dropped again and again; one is {}",
                original.display(),
                aside.display()
            );
        }
        Err(error) => return Err(SpoolError::io(&original, "put back")(error)),
    }
    Ok(Taken::Another)
}
