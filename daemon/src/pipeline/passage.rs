//! The context of one request in the pipeline, until its record is published.

use std::cell::Cell;
use std::sync::Arc;

use spool::ReserveInUse;

use crate::host::Host;
use crate::room::Ticket;
use crate::rules::Rules;
use crate::status::Journey;

/// The context of one request, with the rules in effect when it began.
pub(crate) struct Passage<'a> {
    pub(crate) host: &'a Host,
    pub(crate) rules: Arc<Rules>,
    /// The ticket for capacity, until it is used or no longer needed.
    pub(crate) turn: Cell<Option<Ticket<'a>>>,
    /// The emergency reserve, if this request needed it; given back after the record.
    reserve: Cell<Option<ReserveInUse<'a>>>,
    pub(crate) journey: Journey,
}

impl Host {
    /// Returns a context with the current rules.
    pub(crate) fn passage(&self) -> Passage<'_> {
        let journey = self.telling.journey();
        let (turn, reserve) = (Cell::new(None), Cell::new(None));
        Passage { host: self, rules: self.rules(), turn, reserve, journey }
    }

    /// The same with a ticket that was drawn in the submitter's turn.
    pub(crate) fn passage_in_turn<'a>(&'a self, ticket: Ticket<'a>) -> Passage<'a> {
        Passage { turn: Cell::new(Some(ticket)), ..self.passage() }
    }
}

impl Passage<'_> {
    /// Releases the emergency reserve for this record.
    pub(crate) fn use_reserve(&self) {
        self.reserve.set(Some(self.host.spool.use_reserve()));
    }
}
