//! The private copy of a request, and the code that makes it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ClaimId, ResultId};
use policies::{AisFile, SignatureFile};
use rustix::fs::{CWD, Mode, OFlags, openat};
use validator::{Draft, OwnerUid, REQUEST_BYTES_MAX};

use super::model::{ClaimKind, ClaimNote, ReplaySource, SubmittedFileId};
use super::note::{CLAIM_NOTE_FILE, note_result};
use crate::beneath::{AllowedLinks, read_bounded, remove_tree};
use crate::error::SpoolError;
use crate::failpoint::{self, Failpoint};
use crate::hash_progress::HashProgress;
use crate::input_trees::StagedTree;
use crate::lock::{FileLock, LockMode};
use crate::paths::Spool;
use crate::sidecars::Sidecars;
use crate::stored_standing::StoredStanding;
use crate::sync;

/// The origin of a request, which decides what happens to the original.
pub(crate) enum Origin {
    /// A user's own file, which is left alone.
    OwnFile,
    /// A file in `approved/`, which is removed when the result is published. It is kept open so
    /// that its inode number is not reused.
    Submitted { dropped: SubmittedFileId, _open: File },
    /// A published record, which is left alone. Its run is repeated.
    Record(ReplaySource),
}

pub(crate) enum InputsDirectory {
    Open(OwnedFd),
    Missing,
    /// It exists and cannot be used, with the error text of the kernel.
    Unusable(String),
}

/// A request with a private copy in `work/`.
#[must_use]
pub struct Claimed {
    pub(crate) id: ClaimId,
    /// Named after the claim, unless the claim was staged into a slot made in advance.
    pub(crate) slot: ClaimId,
    pub(crate) directory: PathBuf,
    pub(crate) file_name: String,
    pub(crate) sidecars: Sidecars,
    pub(crate) inputs: InputsDirectory,
    pub(crate) inputs_path: PathBuf,
    pub(crate) origin: Origin,
    pub(crate) hashed: Arc<HashProgress>,
    /// The folders in the slot whose digests were verified.
    pub(crate) staged_trees: Vec<StagedTree>,
    /// The directory of the original, unless other users submit there.
    pub(crate) beside: Option<PathBuf>,
    /// The standing approval that the request names, once it was looked up.
    standing: Option<StoredStanding>,
    /// Shows recovery that a process is working on this claim.
    _lock: FileLock,
}

impl Claimed {
    /// Returns the claim's id.
    #[must_use]
    pub fn id(&self) -> &ClaimId {
        &self.id
    }

    /// Returns the name of its slot in `staging/`.
    #[must_use]
    pub fn slot(&self) -> &ClaimId {
        &self.slot
    }

    /// Returns the progress of its staging.
    #[must_use]
    pub fn hash_progress(&self) -> Arc<HashProgress> {
        Arc::clone(&self.hashed)
    }

    /// Returns the record whose run is repeated, if this is a replay.
    #[must_use]
    pub fn replays(&self) -> Option<&ReplaySource> {
        match &self.origin {
            Origin::Record(replayed) => Some(replayed),
            Origin::OwnFile | Origin::Submitted { .. } => None,
        }
    }

    /// Returns the names of its file and of its signature files.
    pub(crate) fn names(&self) -> (&str, &[String]) {
        (&self.file_name, &self.sidecars.names)
    }

    /// Returns the signatures next to it.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureFile] {
        &self.sidecars.signatures
    }

    /// Returns the signature files that were not read, each with the reason.
    #[must_use]
    pub fn unread_signatures(&self) -> &[String] {
        &self.sidecars.unread
    }

    /// Returns the AIS bundle next to it.
    #[must_use]
    pub fn ais(&self) -> &AisFile {
        &self.sidecars.ais
    }

    /// Keeps the standing approval that the request names, for its record.
    pub fn keep_standing(&mut self, found: StoredStanding) {
        self.standing = Some(found);
    }

    /// Returns the standing approval that was kept.
    #[must_use]
    pub fn standing(&self) -> Option<&StoredStanding> {
        self.standing.as_ref()
    }

    /// Notes the id of the record of this request, which did not run, so that a crash leads to only
    /// one. Call it before the result's barrier, which makes the note durable too.
    ///
    /// # Errors
    /// An I/O error.
    pub fn note_result(&self, result_id: &ResultId) -> Result<(), SpoolError> {
        note_result(&self.directory, result_id)
    }
}

impl Spool {
    /// Claims a user's own file for an embedded run. `inputs` defaults to its `<stem>.inputs/`.
    ///
    /// # Errors
    /// The file cannot be read or copied. Nothing is left behind.
    pub fn claim_file(
        &self,
        path: &Path,
        inputs: Option<&Path>,
        id: ClaimId,
    ) -> Result<(Draft, Claimed), SpoolError> {
        self.claim_own(path, inputs, Origin::OwnFile, id)
    }

    /// Claims the request of a published record, to repeat its run.
    ///
    /// # Errors
    /// As [`Self::claim_file`].
    pub fn claim_record(
        &self,
        path: &Path,
        inputs: Option<&Path>,
        replayed: ReplaySource,
        id: ClaimId,
    ) -> Result<(Draft, Claimed), SpoolError> {
        self.claim_own(path, inputs, Origin::Record(replayed), id)
    }

    fn claim_own(
        &self,
        path: &Path,
        inputs: Option<&Path>,
        origin: Origin,
        id: ClaimId,
    ) -> Result<(Draft, Claimed), SpoolError> {
        // Another name would find the signatures and inputs of another request.
        let file_name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            let why = "its name is not UTF-8; help: rename the file";
            SpoolError::io(path, "read")(io::Error::new(io::ErrorKind::InvalidInput, why))
        })?;
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        // Links in the user's own path are followed; size and file kind are still checked.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(path, flags, Mode::empty());
        let file = opened.map_err(SpoolError::errno(path, "open"))?;
        let read = read_bounded(&file, path, REQUEST_BYTES_MAX, AllowedLinks::Any)?;
        let sidecars = Sidecars::of(&parent, file_name)?;
        let stem = file_name.strip_suffix(".md").unwrap_or(file_name);
        let inputs_path =
            inputs.map_or_else(|| parent.join(format!("{stem}.inputs")), Path::to_owned);
        let inputs = open_inputs(&inputs_path);
        let inputs = (inputs, inputs_path);
        let (draft, claimed) = self.copy(read, file_name, sidecars, inputs, origin, id)?;
        Ok((draft, Claimed { beside: Some(parent), ..claimed }))
    }

    /// Makes a claim. The rename of the finished directory puts it into `work/`, so a named claim
    /// is complete and locked by this process.
    pub(super) fn put_in_work(
        &self,
        id: &ClaimId,
        note: &ClaimNote,
        fill: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<FileLock, SpoolError> {
        let directory = self.work().join(id.as_str());
        let hidden = self.work().join(format!(".new-{}", id.as_str()));
        let made = || -> io::Result<FileLock> {
            DirBuilder::new().mode(0o700).create(&hidden)?;
            let lock = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(hidden.join("lock"))?;
            let lock = FileLock::try_lock(lock, LockMode::Exclusive)?;
            let note = serde_json::to_vec(note)?;
            sync::write_new(&hidden.join(CLAIM_NOTE_FILE), &note, 0o600)?;
            fill(&hidden)?;
            failpoint::reach(Failpoint::ClaimCopied);
            sync::rename_new(&hidden, &directory)?;
            failpoint::reach(Failpoint::Claimed);
            Ok(lock)
        };
        made().map_err(|error| {
            remove_tree(&hidden);
            SpoolError::io(&directory, "copy the request")(error)
        })
    }

    pub(crate) fn copy(
        &self,
        (bytes, owner): (Vec<u8>, u32),
        file_name: &str,
        sidecars: Sidecars,
        (inputs, inputs_path): (InputsDirectory, PathBuf),
        origin: Origin,
        id: ClaimId,
    ) -> Result<(Draft, Claimed), SpoolError> {
        let directory = self.work().join(id.as_str());
        let (dropped, replays) = match &origin {
            Origin::OwnFile => (None, None),
            Origin::Submitted { dropped, .. } => (Some(dropped.clone()), None),
            Origin::Record(replayed) => (None, Some(replayed.clone())),
        };
        let file_name_noted = file_name.to_owned();
        let kind = ClaimKind::Request;
        let beside = sidecars.names.clone();
        let note = ClaimNote { file_name: file_name_noted, owner, dropped, replays, kind, beside };
        let lock = self.put_in_work(&id, &note, |hidden| {
            sync::write_new(&hidden.join("request.md"), &bytes, 0o400)?;
            sidecars
                .files()
                .iter()
                .try_for_each(|(name, bytes)| sync::write_new(&hidden.join(name), bytes, 0o400))
        })?;
        let too_large = SpoolError::TooLarge {
            path: PathBuf::from(file_name),
            bytes_max: u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX),
        };
        let draft = Draft::new(bytes, file_name, OwnerUid::new(owner)).map_err(|_| too_large)?;
        let file_name = file_name.to_owned();
        Ok((
            draft,
            Claimed {
                slot: id.clone(),
                id,
                directory,
                file_name,
                sidecars,
                inputs,
                inputs_path,
                origin,
                hashed: Arc::default(),
                staged_trees: Vec::new(),
                beside: None,
                standing: None,
                _lock: lock,
            },
        ))
    }
}

pub(crate) fn open_inputs(path: &Path) -> InputsDirectory {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Ok(opened) => InputsDirectory::Open(opened),
        Err(rustix::io::Errno::NOENT) => InputsDirectory::Missing,
        Err(errno) => InputsDirectory::Unusable(io::Error::from(errno).to_string()),
    }
}

/// Removes a claim. Other processes see a single step, because half a claim would look like one.
pub(crate) fn remove_claim(directory: &Path) {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let gone = directory.with_file_name(format!(".gone-{name}"));
    match sync::rename_new(directory, &gone) {
        Ok(()) => {
            failpoint::reach(Failpoint::ClaimHidden);
            remove_tree(&gone);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("{}: remove: {error}", directory.display()),
    }
}
