//! The context of one request in the pipeline, until its record is published.

use std::cell::Cell;
use std::sync::Arc;

use spool::ReserveInUse;

use crate::capacity::QueueTicket;
use crate::rules::DaemonRules;
use crate::state::Daemon;
use crate::status::RequestProgress;

/// The rules are those in effect when the request began.
pub(crate) struct RequestContext<'a> {
    pub(crate) host: &'a Daemon,
    pub(crate) rules: Arc<DaemonRules>,
    /// The ticket for capacity, until it is used or no longer needed.
    pub(crate) ticket: Cell<Option<QueueTicket<'a>>>,
    /// The emergency reserve, if this request needed it; given back after the record.
    reserve: Cell<Option<ReserveInUse<'a>>>,
    pub(crate) progress: RequestProgress,
}

impl Daemon {
    pub(crate) fn request_context(&self) -> RequestContext<'_> {
        let progress = self.progress.start();
        let (ticket, reserve) = (Cell::new(None), Cell::new(None));
        RequestContext { host: self, rules: self.rules(), ticket, reserve, progress }
    }

    /// With a ticket that was drawn in the submitter's turn.
    pub(crate) fn request_context_in_turn<'a>(
        &'a self,
        ticket: QueueTicket<'a>,
    ) -> RequestContext<'a> {
        RequestContext { ticket: Cell::new(Some(ticket)), ..self.request_context() }
    }
}

impl RequestContext<'_> {
    /// Releases the emergency reserve for this record.
    pub(crate) fn use_reserve(&self) {
        self.reserve.set(Some(self.host.spool.use_reserve()));
    }
}
