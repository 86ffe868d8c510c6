//! The start of a run on a host of a fleet: the ledger line is durable, and the tool starts only
//! after the gate has permitted it. Must never permit a start by itself.

use std::time::Instant;

use fleet::gate::{StandingUseQuery, StartQuery};
use records::reason_of;
use spool::Begun;

use super::model::Continuation;
use super::request_context::RequestContext;
use crate::system;

impl RequestContext<'_> {
    /// Asks the fleet for the start of a begun run. A host without a fleet, and a replay, need no
    /// permission.
    ///
    /// # Errors
    /// The reason why the tool must not be started, as the record states it.
    pub(super) fn ask_fleet(
        &self,
        begun: &Begun,
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<(), String> {
        let Some(fleet) = &self.host.fleet else { return Ok(()) };
        let (approved, claimed) = (begun.staged().approved(), begun.staged().claimed());
        if claimed.replays().is_some() {
            return Ok(());
        }
        let asked = Instant::now();
        // A request that is only held or decided again is used up by now, and goes on.
        let mut is_wanted = || continuation() != Continuation::End;
        let answered = fleet.ask_start(query(begun), &mut is_wanted);
        self.progress.metrics().fleet_start_took(asked.elapsed());
        let id = approved.request().id().as_str();
        if let Err(why) = &answered {
            tracing::warn!(request = id, "the fleet did not permit the start: {why}");
        }
        answered?;
        // The approval may have expired during the wait.
        approved.still_holds(system::now()).map_err(|expired| {
            reason_of(&[*expired]).unwrap_or_else(|| format!("{id}: the approval expired"))
        })
    }
}

fn query(begun: &Begun) -> StartQuery {
    let approved = begun.staged().approved();
    let used = approved.grant().standing().map(|used| {
        let (terms, sha256) = (used.approval().terms(), used.approval().sha256());
        StandingUseQuery {
            approval: terms.id.to_string(),
            document_sha256: sha256.to_string(),
            uses_max: terms.uses_max,
            uses_per_hour_max: Some(terms.uses_per_hour_max),
        }
    });
    StartQuery {
        request: approved.request().id().to_string(),
        document_sha256: approved.request().sha256().to_string(),
        standing: used,
    }
}
