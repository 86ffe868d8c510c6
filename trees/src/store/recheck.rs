//! Checks stored environments again: all files of one, and the stamps of the others after one was
//! added or removed. It must never change a file of an environment but its stamp and its index.

use model::Sha256;

use super::check::STORED_LIMITS;
use super::directory::EnvironmentStore;
use super::error::StoreError;
use crate::digest::TreeSummary;

impl EnvironmentStore {
    /// Digests the files of an environment within the limits of the store, which are far above
    /// those of a build. Returns its digest and the totals of its tree.
    ///
    /// # Errors
    /// The environment does not exist or cannot be read, or its files changed.
    pub fn verify_stored(&self, sha256: Sha256) -> Result<TreeSummary, StoreError> {
        self.verify(sha256, &STORED_LIMITS)
    }

    /// Renews the stamps of all environments but this one, whose links to shared files were made
    /// or removed. An environment with its stamp is not digested.
    pub(super) fn renew_stamps(&self, but: Sha256) {
        for sha256 in self.digests().unwrap_or_default() {
            if sha256 != but {
                // A failure is reported when the environment is used or verified.
                drop(self.open_content(sha256));
            }
        }
    }
}
