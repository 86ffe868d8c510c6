//! Room on the disk for what a request writes: checked before one is admitted, and noted where it lacks.

use model::ClaimId;
use spool::SpoolError;

use super::Host;
use crate::model::Halt;

impl Host {
    /// After a want of room in the middle of a request: a claim that came to nothing is given up, and the original
    /// is claimed anew later; one that was begun or answered is left for recovery. Other errors come back.
    pub(crate) fn left_without_room(&self, halt: Halt, claim: &ClaimId) -> Result<(), Halt> {
        let Some(want) = halt.want() else { return Err(halt) };
        tracing::error!("{halt}; it goes on when {want}");
        self.room_wanted.note(want, &halt);
        match self.spool.give_up(claim) {
            Ok(true) => {}
            Ok(false) => self.room_wanted.unsettle(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps the room for records, and insists on room for all else that a run writes.
    pub(crate) fn keep_room(&self) -> Result<(), SpoolError> {
        self.spool.insist_on_descriptors()?;
        self.spool.keep_reserve()?;
        self.spool.insist_on_room(self.log.directory())
    }

    /// Whether every place that a request needs takes a file again.
    pub(crate) fn try_room(&self) -> Result<(), SpoolError> {
        self.spool.try_room(&[self.log.directory()])?;
        self.keep_room()
    }
}
