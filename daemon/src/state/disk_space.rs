//! Free disk space for a request: checked before it is admitted; a shortage is noted.

use model::ClaimId;
use spool::SpoolError;

use super::Daemon;
use crate::model::DaemonError;

impl Daemon {
    /// Gives up a claim that was not started, so that the original is claimed again later. A claim
    /// that was started or answered is left to recovery. Returns all other errors.
    pub(crate) fn release_after_shortage(
        &self,
        error: DaemonError,
        claim: &ClaimId,
    ) -> Result<(), DaemonError> {
        let Some(want) = error.shortage() else { return Err(error) };
        tracing::error!("the request waits until {want}: {error}");
        self.shortage.note(want, &error);
        match self.spool.abandon_unpromised(claim) {
            Ok(true) => {}
            Ok(false) => self.shortage.mark_unsettled(),
            Err(failed) => return Err(failed.into()),
        }
        Ok(())
    }

    /// Keeps the emergency reserve, and checks the space for all other files of a run.
    pub(crate) fn check_space(&self) -> Result<(), SpoolError> {
        self.spool.check_descriptors()?;
        self.spool.keep_reserve()?;
        self.spool.check_disk_space(self.log.directory())
    }

    /// Checks that files can be created in every directory that a request needs.
    pub(crate) fn check_space_again(&self) -> Result<(), SpoolError> {
        self.spool.probe_disk_space(&[self.log.directory()])?;
        self.check_space()
    }
}
