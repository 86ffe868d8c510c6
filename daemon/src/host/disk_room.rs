//! Free disk space for a request: checked before it is admitted; a shortage is noted.

use model::ClaimId;
use spool::SpoolError;

use super::Host;
use crate::model::Halt;

impl Host {
    /// Handles a shortage in the middle of a request. A claim that was not started is given up, and
    /// the original is claimed again later. A claim that was started or answered is left to
    /// recovery. Returns all other errors.
    pub(crate) fn left_without_room(&self, halt: Halt, claim: &ClaimId) -> Result<(), Halt> {
        let Some(want) = halt.want() else { return Err(halt) };
        tracing::error!("the request waits until {want}: {halt}");
        self.room_wanted.note(want, &halt);
        match self.spool.give_up(claim) {
            Ok(true) => {}
            Ok(false) => self.room_wanted.unsettle(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps the emergency reserve, and checks the space for all other files of a run.
    pub(crate) fn keep_room(&self) -> Result<(), SpoolError> {
        self.spool.insist_on_descriptors()?;
        self.spool.keep_reserve()?;
        self.spool.insist_on_room(self.log.directory())
    }

    /// Checks that files can be created again in every directory that a request needs.
    pub(crate) fn try_room(&self) -> Result<(), SpoolError> {
        self.spool.try_room(&[self.log.directory()])?;
        self.keep_room()
    }
}
