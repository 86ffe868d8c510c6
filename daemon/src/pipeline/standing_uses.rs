//! Publishes that a run has used a standing approval. The ledger has counted the use before.

use spool::Begun;

use super::request_context::RequestContext;

impl RequestContext<'_> {
    /// Publishes the uses of the standing approval of a run, if the run uses one up.
    pub(super) fn publish_uses(&self, begun: &Begun) {
        let standing = begun.staged().approved().request().standing();
        let (Some(reference), Some(_)) = (standing, begun.use_number()) else { return };
        if let Err(error) = self.host.spool.publish_standing_uses(reference) {
            tracing::warn!("the published uses of {} are out of date: {error}", reference.id);
        }
    }
}
