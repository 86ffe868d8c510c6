//! Slots: directories below `staging/` that launchers may bind, by name, device and inode. One can be made
//! ahead of the claim that fills it, so that a cell can be built around it. It must never be handed out
//! twice, nor with anything in it.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

use model::ClaimId;

use crate::beneath::remove_tree;
use crate::error::SpoolError;
use crate::places::Spool;

/// A slot with nothing in it. Of no claim yet: recovery would remove it.
#[must_use = "a slot that is not filled must be given up"]
pub struct EmptySlot {
    id: ClaimId,
    device: u64,
    inode: u64,
}

impl EmptySlot {
    #[must_use]
    pub fn id(&self) -> &ClaimId {
        &self.id
    }

    /// Device and inode.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    pub(crate) fn into_id(self) -> ClaimId {
        self.id
    }
}

impl Spool {
    /// Makes a slot.
    ///
    /// # Errors
    /// The disk.
    pub fn make_slot(&self, id: ClaimId) -> Result<EmptySlot, SpoolError> {
        let slot = self.staging().join(id.as_str());
        let made = DirBuilder::new().mode(0o755).create(&slot);
        made.map_err(SpoolError::io(&slot, "make the slot"))?;
        // The daemon's umask must not hide the slot from the tool's uid.
        let opened = fs::set_permissions(&slot, Permissions::from_mode(0o755));
        opened.map_err(SpoolError::io(&slot, "open to the tool"))?;
        let found = fs::metadata(&slot).map_err(SpoolError::io(&slot, "look at"))?;
        Ok(EmptySlot { id, device: found.dev(), inode: found.ino() })
    }

    /// Whether a slot is still the directory that was made, and still empty.
    #[must_use]
    pub fn is_as_made(&self, slot: &EmptySlot) -> bool {
        let path = self.staging().join(slot.id.as_str());
        let same = fs::symlink_metadata(&path)
            .is_ok_and(|found| (found.dev(), found.ino()) == slot.identity());
        same && fs::read_dir(&path).is_ok_and(|mut listing| listing.next().is_none())
    }

    /// Removes a slot that nobody will fill.
    pub fn give_up_slot(&self, slot: EmptySlot) {
        remove_tree(&self.staging().join(slot.into_id().as_str()));
    }
}
