//! The standing approvals that can be used, `public/standing/SA-….md`, so that agents know their
//! bounds. They are never read for a decision.

use std::path::PathBuf;

use model::{StandingId, UtcTime};
use validator::StandingApproval;

use super::published_file::{publish_file, remove, remove_all};
use crate::error::SpoolError;
use crate::paths::{Spool, make_dir};
use crate::standing::stored_standing_references;

impl Spool {
    /// Publishes an admitted standing approval, and its uses.
    ///
    /// # Errors
    /// An I/O error, or the ledger cannot be read. It only affects readers.
    pub fn publish_standing(&self, approval: &StandingApproval) -> Result<(), SpoolError> {
        make_dir(&self.public(), 0o755)?;
        let directory = make_dir(&self.standing_public(), 0o755)?;
        publish_file(&directory.join(format!("{}.md", approval.terms().id)), approval.bytes())?;
        self.publish_standing_uses(&approval.reference())
    }

    /// Removes the published files of a standing approval.
    ///
    /// # Errors
    /// The disk, or the ledger cannot be locked.
    pub fn unpublish_standing(&self, id: &StandingId) -> Result<(), SpoolError> {
        remove(&self.standing_public().join(format!("{id}.md")))?;
        self.unpublish_standing_uses(id)
    }

    /// Publishes every standing approval that can be used now, and no other.
    ///
    /// # Errors
    /// The store or the ledger cannot be read, or the disk.
    pub fn publish_all_standing(&self, now: UtcTime) -> Result<(), SpoolError> {
        remove_all(&self.standing_public())?;
        for reference in stored_standing_references(self.state_dir())? {
            let state = match self.standing(&reference, now) {
                Ok(Some(state)) => state,
                Ok(None) => continue,
                Err(error) => {
                    tracing::warn!("not published: {error}");
                    continue;
                }
            };
            let has_ended = now >= state.stored.approval.terms().not_after;
            if state.revoked_by.is_none() && !has_ended {
                self.publish_standing(&state.stored.approval)?;
            }
        }
        Ok(())
    }

    pub(super) fn standing_public(&self) -> PathBuf {
        self.public().join("standing")
    }
}
