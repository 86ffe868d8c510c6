//! Claiming what can never be a request: a link, a FIFO, a directory, a name that is none of ours. Nothing of
//! it is ever read; the claim only makes sure that it gets exactly one record.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use model::{ClaimId, ResultId};

use super::model::{ClaimNote, Dropped, Kind};
use super::note::note_result;
use crate::dropbox::Dropbox;
use crate::error::SpoolError;
use crate::lock::Locked;
use crate::places::Spool;

/// Something in `approved/` that can never be a request, and of which nothing was read.
#[must_use]
pub struct ClaimedObject {
    pub(crate) directory: PathBuf,
    pub(crate) file_name: String,
    pub(crate) dropped: Dropped,
    /// Tells recovery that somebody is at work on this claim.
    _lock: Locked,
}

impl ClaimedObject {
    /// As [`Claimed::note_result`].
    ///
    /// # Errors
    /// The disk.
    pub fn note_result(&self, result_id: &ResultId) -> Result<(), SpoolError> {
        note_result(&self.directory, result_id)
    }
}

impl Spool {
    /// Claims what can never be a request, unread, so that it gets exactly one record. None if it is not
    /// there any more.
    ///
    /// # Errors
    /// The disk; nothing is left behind.
    pub fn claim_object(
        &self,
        dropbox: &Dropbox,
        name: &str,
        id: ClaimId,
    ) -> Result<Option<ClaimedObject>, SpoolError> {
        let path = dropbox.path().join(name);
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SpoolError::io(&path, "look at")(error)),
        };
        let dropped = Dropped::of(dropbox.path(), &found);
        let note = ClaimNote {
            file_name: name.to_owned(),
            owner: found.uid(),
            dropped: Some(dropped.clone()),
            replays: None,
            kind: Kind::Object,
            beside: Vec::new(),
        };
        let lock = self.put_in_work(&id, &note, |_| Ok(()))?;
        let directory = self.work().join(id.as_str());
        Ok(Some(ClaimedObject { directory, file_name: name.to_owned(), dropped, _lock: lock }))
    }
}
