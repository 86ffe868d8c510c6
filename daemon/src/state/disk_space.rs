//! Free disk space for a request: checked before it is admitted; a shortage is noted.

use model::ClaimId;
use spool::SpoolError;

use super::Daemon;
use crate::model::DaemonError;

impl Daemon {
    /// Handles a shortage in the middle of a request. A claim that was not started is given up, and
    /// the original is claimed again later. A claim that was started or answered is left to
    /// recovery. Returns all other errors.
    pub(crate) fn release_after_shortage(
        &self,
        halt: DaemonError,
        claim: &ClaimId,
    ) -> Result<(), DaemonError> {
        let Some(want) = halt.shortage() else { return Err(halt) };
        tracing::error!("the request waits until {want}: {halt}");
        self.shortage.note(want, &halt);
        match self.spool.abandon_unpromised(claim) {
            Ok(true) => {}
            Ok(false) => self.shortage.mark_unsettled(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Keeps the emergency reserve, and checks the space for all other files of a run.
    pub(crate) fn check_space(&self) -> Result<(), SpoolError> {
        self.spool.check_descriptors()?;
        self.spool.keep_reserve()?;
        self.spool.check_disk_space(self.log.directory())
    }

    /// Checks that files can be created again in every directory that a request needs.
    pub(crate) fn check_space_again(&self) -> Result<(), SpoolError> {
        self.spool.probe_disk_space(&[self.log.directory()])?;
        self.check_space()
    }
}
