//! The store of admitted standing approvals: a directory for each digest, with the document and its
//! signatures. It proves nothing: the ledger has the line of each admission, use and revocation, and
//! the signatures are verified for each use. Nothing is ever removed, so that records can be
//! completed after a crash.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Sha256, StandingId, StandingReference, UtcTime};
use policies::standing::StandingUses;
use rustix::fs::OFlags;
use validator::{REQUEST_BYTES_MAX, StandingApproval};

use crate::archive::remove_originals;
use crate::atomic_file::AtomicFile;
use crate::beneath::{AllowedLinks, read_bounded, remove_tree};
use crate::claim::{Claimed, Origin};
use crate::error::SpoolError;
use crate::ledger::{LedgerNote, StandingNote};
use crate::paths::{Spool, make_dir};
use crate::publish::SubmissionState;
use crate::recover::remove_unless_holding;
use crate::sidecars::Sidecars;
use crate::stored_standing::StoredStanding;
use crate::sync;

/// The proof that a standing approval is stored, and that the ledger has its admission or its
/// revocation. Its submission may be removed.
#[must_use]
pub struct StoredProof(());

/// The state of a standing approval on this host.
#[derive(Debug)]
pub struct StandingState {
    /// The stored document.
    pub stored: StoredStanding,
    /// Its uses so far.
    pub uses: StandingUses,
    /// The person who revoked it.
    pub revoked_by: Option<String>,
}

impl Spool {
    /// Returns the admitted standing approval of this reference.
    ///
    /// # Errors
    /// The store or the ledger cannot be read.
    pub fn standing(
        &self,
        reference: &StandingReference,
        now: UtcTime,
    ) -> Result<Option<StandingState>, SpoolError> {
        let sha256 = reference.sha256.to_string();
        let found = self.ledger().with_lock(|ledger| {
            let revoked_by = ledger.standing().revoked_by(&sha256).map(str::to_owned);
            Ok(ledger.standing().uses(&sha256, now).map(|uses| (uses, revoked_by)))
        })?;
        let Some((uses, revoked_by)) = found else { return Ok(None) };
        let stored = self.stored_standing(reference, now)?;
        Ok(stored.map(|stored| StandingState { stored, uses, revoked_by }))
    }

    /// Returns the document and the signatures of this reference, admitted or not.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn stored_standing(
        &self,
        reference: &StandingReference,
        now: UtcTime,
    ) -> Result<Option<StoredStanding>, SpoolError> {
        standing_in(&self.standing_dir(reference.sha256), reference, now)
    }

    /// Returns the standing approval next to a request of the caller or in its record.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn standing_beside(
        &self,
        claimed: &Claimed,
        reference: &StandingReference,
        now: UtcTime,
    ) -> Result<Option<StoredStanding>, SpoolError> {
        match &claimed.beside {
            Some(directory) => standing_in(directory, reference, now),
            None => Ok(None),
        }
    }

    /// Returns the digest of the standing approval that was admitted under this id.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn admitted_standing(&self, id: &StandingId) -> Result<Option<Sha256>, SpoolError> {
        self.ledger().with_lock(|ledger| {
            let digest = ledger.standing().admitted_digest(id.as_str());
            Ok(digest.and_then(|digest| digest.parse().ok()))
        })
    }

    /// Returns the person who revoked the standing approval of this digest, admitted or not.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn standing_revoked_by(&self, sha256: &Sha256) -> Result<Option<String>, SpoolError> {
        self.ledger().with_lock(|ledger| {
            Ok(ledger.standing().revoked_by(&sha256.to_string()).map(str::to_owned))
        })
    }

    /// Stores the rejection of a standing approval that was revoked before, so that it survives the
    /// loss of the ledger.
    ///
    /// # Errors
    /// An I/O error.
    pub fn keep_rejection(&self, standing: &StoredStanding) -> Result<(), SpoolError> {
        self.store_standing(standing)
    }

    /// Stores a standing approval and notes its admission. It can be used when this returns.
    ///
    /// # Errors
    /// An I/O error. It can be submitted again then.
    pub fn admit_standing(
        &self,
        standing: &StoredStanding,
        now: UtcTime,
    ) -> Result<StoredProof, SpoolError> {
        self.store_standing(standing)?;
        let reference = standing.approval.reference();
        let sha256 = reference.sha256.to_string();
        let note = LedgerNote::StandingAdmitted(note_of(&reference, now, None));
        // The look and the line under one lock, because another process may admit it too.
        let to = self.ledger().with_lock(|ledger| match ledger.standing().uses(&sha256, now) {
            Some(_) => Ok(None),
            None => ledger.append(&note).map(Some),
        })?;
        if let Some(to) = to {
            self.make_durable(to)?;
        }
        Ok(StoredProof(()))
    }

    /// Revokes a standing approval. No run uses it after this has returned.
    ///
    /// # Errors
    /// An I/O error. The revocation may be in effect then.
    pub fn revoke_standing(
        &self,
        standing: &StoredStanding,
        by: &str,
        now: UtcTime,
    ) -> Result<StoredProof, SpoolError> {
        let reference = standing.approval.reference();
        // The line first: a rejection that cannot be stored is in effect all the same.
        self.note_standing(LedgerNote::StandingRevoked(note_of(&reference, now, Some(by))))?;
        self.store_standing(standing)?;
        Ok(StoredProof(()))
    }

    fn note_standing(&self, note: LedgerNote) -> Result<(), SpoolError> {
        let to = self.ledger().with_lock(|ledger| ledger.append(&note))?;
        self.make_durable(to)
    }

    /// Removes the submission of a stored standing approval, and its claim.
    ///
    /// # Errors
    /// An I/O error. The submission is claimed again then.
    pub fn finish_standing(
        &self,
        claimed: Claimed,
        _: &StoredProof,
    ) -> Result<SubmissionState, SpoolError> {
        let name = claimed.id().as_str();
        let gone = claimed.directory.with_file_name(format!(".gone-{name}"));
        // A claim in `work/` whose original is aside would look like one whose record is missing.
        sync::rename_new(&claimed.directory, &gone)
            .map_err(SpoolError::io(&claimed.directory, "remove"))?;
        let Origin::Submitted { dropped, .. } = &claimed.origin else {
            remove_tree(&gone);
            return Ok(SubmissionState::Removed);
        };
        let originals = remove_originals(dropped, claimed.names(), &gone, None)?;
        remove_unless_holding(&gone);
        Ok(originals)
    }

    fn standing_dir(&self, sha256: Sha256) -> PathBuf {
        self.state_dir().join(STANDING_DIR).join(sha256.to_string())
    }

    /// Writes the files that the store lacks. They are durable when this returns.
    fn store_standing(&self, standing: &StoredStanding) -> Result<(), SpoolError> {
        make_dir(&self.state_dir().join(STANDING_DIR), 0o700)?;
        let directory = make_dir(&self.standing_dir(standing.approval.sha256()), 0o700)?;
        // The document last: a directory without it is ignored.
        let files: Vec<_> = standing.files().collect();
        for (name, bytes) in files.iter().skip(1) {
            let path = directory.join(signature_name(&directory, name, bytes));
            if !path.exists() {
                place(&path, bytes).map_err(SpoolError::io(&path, "write"))?;
            }
        }
        for (name, bytes) in files.iter().take(1) {
            let path = directory.join(name);
            if !fs::read(&path).is_ok_and(|found| found == *bytes) {
                // A damaged document is replaced.
                replace(&path, bytes).map_err(SpoolError::io(&path, "write"))?;
            }
        }
        sync::sync_dir(&directory).map_err(SpoolError::io(&directory, "sync"))
    }
}

/// The directory of the store, in the state directory.
pub(crate) const STANDING_DIR: &str = "standing";

fn note_of(reference: &StandingReference, now: UtcTime, by: Option<&str>) -> StandingNote {
    StandingNote {
        standing_id: reference.id.to_string(),
        sha256: reference.sha256.to_string(),
        at: now.to_string(),
        by: by.map(str::to_owned),
    }
}

/// The longest name of a signature file that is kept.
const NAME_BYTES_MAX: usize = 128;

/// Returns the name of a signature in the store: its own if that is plain and free, else one that
/// only these bytes have.
fn signature_name(directory: &Path, name: &str, bytes: &[u8]) -> String {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@+".contains(&byte);
    let is_plain = name.len() <= NAME_BYTES_MAX && name.bytes().all(allowed);
    let path = directory.join(name);
    let is_free = !path.exists() || fs::read(&path).is_ok_and(|found| found == bytes);
    if is_plain && is_free {
        return name.to_owned();
    }
    let stem = name.split_once(".md").map_or("standing", |(stem, _)| stem);
    let stem = if stem.len() <= NAME_BYTES_MAX { stem } else { "standing" };
    let digest: String = Sha256::of(bytes).to_string().chars().take(16).collect();
    format!("{stem}.md.{digest}.sig")
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = AtomicFile::create_for(path, 0o600)?;
    fresh.write(bytes)?;
    fresh.replace()
}

fn place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = AtomicFile::create_for(path, 0o600)?;
    fresh.write(bytes)?;
    match fresh.place() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        placed => placed,
    }
}

/// Returns the standing approval of this reference in a directory.
pub(crate) fn standing_in(
    directory: &Path,
    reference: &StandingReference,
    now: UtcTime,
) -> Result<Option<StoredStanding>, SpoolError> {
    let name = format!("{}.md", reference.id);
    let path = directory.join(&name);
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(&path, flags, rustix::fs::Mode::empty()) {
        // Another kind of file counts as missing: a damaged store must not stop the daemon.
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP | rustix::io::Errno::ISDIR) => {
            return Ok(None);
        }
        opened => opened.map_err(SpoolError::errno(&path, "open"))?,
    };
    let bytes = match read_bounded(&file, &path, REQUEST_BYTES_MAX, AllowedLinks::Any) {
        Err(SpoolError::FileKind { .. } | SpoolError::TooLarge { .. }) => return Ok(None),
        read => read?.0,
    };
    if Sha256::of(&bytes) != reference.sha256 {
        return Ok(None);
    }
    let Ok(approval) = StandingApproval::read_recorded(&bytes, &name, now) else { return Ok(None) };
    let Sidecars { signatures, unread, .. } = Sidecars::of(directory, &name)?;
    Ok(Some(StoredStanding { approval: Arc::new(approval), signatures, unread }))
}

/// Returns the references of the stored standing approvals, read without a lock.
///
/// # Errors
/// The state directory cannot be listed.
pub fn stored_standing_references(state: &Path) -> Result<Vec<StandingReference>, SpoolError> {
    let store = state.join(STANDING_DIR);
    let mut found = Vec::new();
    let listed = match fs::read_dir(&store) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        listed => listed.map_err(SpoolError::io(&store, "list"))?,
    };
    for entry in listed {
        let entry = entry.map_err(SpoolError::io(&store, "list"))?;
        let Some(sha256) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        found.extend(document_id(&entry.path()).map(|id| StandingReference { id, sha256 }));
    }
    found.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(found)
}

fn document_id(directory: &Path) -> Option<StandingId> {
    let names = fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.file_name()));
    let id = |name: &OsStr| name.to_str()?.strip_suffix(".md")?.parse().ok();
    names.into_iter().find_map(|name| id(&name))
}
