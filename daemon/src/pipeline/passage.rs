//! One request on its way through a host, with what belongs to it until its record is published.

use std::cell::Cell;
use std::sync::Arc;

use spool::ReserveInUse;

use crate::host::Host;
use crate::room::Ticket;
use crate::rules::Rules;
use crate::status::Journey;

/// One way through a host, from a claim to its record, under the rules that there were when it began.
pub(crate) struct Passage<'a> {
    pub(crate) host: &'a Host,
    pub(crate) rules: Arc<Rules>,
    /// Its number in the queue for room, until it is used or there is nothing to wait for any more.
    pub(crate) turn: Cell<Option<Ticket<'a>>>,
    /// The room that is kept for records, once this one needed it, until it is told.
    reserve: Cell<Option<ReserveInUse<'a>>>,
    pub(crate) journey: Journey,
}

impl Host {
    /// A way through this host, under the rules as they are now.
    pub(crate) fn passage(&self) -> Passage<'_> {
        let journey = self.telling.journey();
        let (turn, reserve) = (Cell::new(None), Cell::new(None));
        Passage { host: self, rules: self.rules(), turn, reserve, journey }
    }

    /// The same for a request that was taken in its turn.
    pub(crate) fn passage_in_turn<'a>(&'a self, ticket: Ticket<'a>) -> Passage<'a> {
        Passage { turn: Cell::new(Some(ticket)), ..self.passage() }
    }
}

impl Passage<'_> {
    /// Gives up the room that is kept for records, until this way is at its end.
    pub(crate) fn use_reserve(&self) {
        self.reserve.set(Some(self.host.spool.use_reserve()));
    }
}
