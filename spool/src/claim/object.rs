//! Claims an object that can never be a request: a link, a FIFO, a directory, or an invalid name.
//! Nothing of it is ever read; the claim only ensures that it gets exactly one record.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use model::{ClaimId, ResultId};

use super::model::{ClaimKind, ClaimNote, SubmittedFileId};
use super::note::note_result;
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::lock::FileLock;
use crate::paths::Spool;

/// An object in `approved/` that can never be a request. Nothing of it was read.
#[must_use]
pub struct ClaimedObject {
    pub(crate) directory: PathBuf,
    pub(crate) file_name: String,
    pub(crate) dropped: SubmittedFileId,
    /// Shows recovery that a process is working on this claim.
    _lock: FileLock,
}

impl ClaimedObject {
    /// As [`super::Claimed::note_result`].
    ///
    /// # Errors
    /// An I/O error.
    pub fn note_result(&self, result_id: &ResultId) -> Result<(), SpoolError> {
        note_result(&self.directory, result_id)
    }
}

impl Spool {
    /// Claims an object that can never be a request, unread; `None` if it no longer exists.
    ///
    /// # Errors
    /// An I/O error. Nothing is left behind.
    pub fn claim_object(
        &self,
        dropbox: &Inbox,
        name: &str,
        id: ClaimId,
    ) -> Result<Option<ClaimedObject>, SpoolError> {
        let path = dropbox.path().join(name);
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SpoolError::io(&path, "stat")(error)),
        };
        let dropped = SubmittedFileId::of(dropbox.path(), &found);
        let note = ClaimNote {
            file_name: name.to_owned(),
            owner: found.uid(),
            dropped: Some(dropped.clone()),
            replays: None,
            kind: ClaimKind::Object,
            beside: Vec::new(),
        };
        let lock = self.put_in_work(&id, &note, |_| Ok(()))?;
        let directory = self.work().join(id.as_str());
        Ok(Some(ClaimedObject { directory, file_name: name.to_owned(), dropped, _lock: lock }))
    }
}
