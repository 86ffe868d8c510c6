//! Slots: directories below `staging/` that launchers may bind, identified by name, device and
//! inode. A slot can be made before the claim that fills it, so that a sandbox can be built around
//! it. A slot must never be used twice, and must be empty when it is handed out.

use std::fs::{self, DirBuilder, Permissions};
use std::mem;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};

use model::ClaimId;

use crate::beneath::remove_tree;
use crate::claim::Claimed;
use crate::error::SpoolError;
use crate::paths::Spool;

/// An empty slot. No claim has it yet, so recovery would remove it.
#[must_use = "a slot that is not filled must be given up"]
pub struct EmptySlot {
    id: ClaimId,
    device: u64,
    inode: u64,
}

impl EmptySlot {
    /// Returns the slot's name below `staging/`.
    #[must_use]
    pub fn id(&self) -> &ClaimId {
        &self.id
    }

    /// Returns the device and inode.
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
    /// An I/O error.
    pub fn make_slot(&self, id: ClaimId) -> Result<EmptySlot, SpoolError> {
        let slot = self.staging().join(id.as_str());
        let made = DirBuilder::new().mode(0o755).create(&slot);
        made.map_err(SpoolError::io(&slot, "create the slot"))?;
        // The daemon's umask must not hide the slot from the tool's uid.
        let opened = fs::set_permissions(&slot, Permissions::from_mode(0o755));
        opened.map_err(SpoolError::io(&slot, "set the mode of"))?;
        let found = fs::metadata(&slot).map_err(SpoolError::io(&slot, "stat"))?;
        Ok(EmptySlot { id, device: found.dev(), inode: found.ino() })
    }

    /// Returns whether the slot is still the directory that was made, and still empty.
    #[must_use]
    pub fn is_as_made(&self, slot: &EmptySlot) -> bool {
        let path = self.staging().join(slot.id.as_str());
        let same = fs::symlink_metadata(&path)
            .is_ok_and(|found| (found.dev(), found.ino()) == slot.identity());
        same && fs::read_dir(&path).is_ok_and(|mut listing| listing.next().is_none())
    }

    /// Removes the slot of a claim. Its folders are kept for later runs.
    pub(crate) fn clear_slot(&self, claimed: &mut Claimed) {
        for tree in mem::take(&mut claimed.staged_trees) {
            self.trees().keep(&tree, &claimed.id);
        }
        remove_tree(&self.staging().join(claimed.slot.as_str()));
    }

    /// Removes a slot that will not be filled.
    pub fn give_up_slot(&self, slot: EmptySlot) {
        remove_tree(&self.staging().join(slot.into_id().as_str()));
    }
}
