//! The order of an operator, and the wait for capacity. Inputs are staged and a sandbox is built
//! only after a permit is granted. A request must never overtake another, and a held one must never
//! run.

use model::{UtcTime, escape_line};
use policies::Approved;
use spool::{Claimed, Order, Ordered};
use validator::{Code, Request, Violation};

use super::model::{Decided, ReleaseReason, Step, Wish};
use super::passage::Passage;
use crate::held::HoldDeadline;
use crate::model::{Halt, PermissionFiled};
use crate::room::{NoRoom, Place};
use crate::system;

impl Passage<'_> {
    /// A well-formed request → one that no operator has held or cancelled.
    pub(super) fn obey(
        &self,
        request: Request,
        claimed: Claimed,
        (ordered, patience): (Option<Ordered>, HoldDeadline),
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<Step<(Request, Claimed)>, Halt> {
        let Some(ordered) = ordered else { return Ok(Step::Next((request, claimed))) };
        let whose = match system::user_name(ordered.by_uid) {
            Some(name) => escape_line(&name),
            None => format!("user {}", ordered.by_uid),
        };
        let id = request.id();
        let violation = match ordered.order {
            Order::Release => return Ok(Step::Next((request, claimed))),
            Order::Hold => Violation::error(Code::SpoolHeld, format!("{id}: is held by {whose}"))
                .hint(format!("release it with `toolexec release {id}`")),
            Order::Cancel => {
                Violation::error(Code::SpoolCancelled, format!("{id}: cancelled by {whose}"))
            }
        };
        if ordered.order == Order::Hold && patience.lasts(now) {
            self.host.spool.abandon(claimed);
            return Ok(Step::Hold(vec![violation], PermissionFiled::Yes));
        }
        let all = warnings.iter().cloned().chain([violation]).collect();
        self.refuse(&request, claimed, all, &Decided::nothing()).map(Step::end)
    }

    /// Waits for a permit for the granted sandbox.
    pub(super) fn enter(
        &self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
        wish: &mut dyn FnMut() -> Wish,
    ) -> Result<Step<(Place<'_>, Approved, Claimed)>, Halt> {
        let memory_bytes = approved.grant().limits().memory_bytes;
        let ticket = self.turn.take().unwrap_or_else(|| self.host.room.ticket());
        let memory_bytes_max = match ticket.take(memory_bytes, &mut || wish() == Wish::GoOn) {
            Ok(place) => return Ok(Step::Next((place, approved, claimed))),
            Err(NoRoom::NotWaited) => {
                self.host.spool.abandon(claimed);
                return Ok(Step::Leave(ReleaseReason::Unwanted));
            }
            Err(NoRoom::Never { memory_bytes_max }) => memory_bytes_max,
        };
        let message = format!(
            "{}: {memory_bytes} bytes of memory exceed the {memory_bytes_max} bytes that all runs \
             of this host share (memory_bytes_max of toolexecd.yaml)",
            approved.request().id()
        );
        let hint = "lower memory_limit_mb, or have memory_bytes_max raised";
        let mut all = warnings.to_vec();
        all.push(Violation::error(Code::LimitsOverPolicy, message).hint(hint));
        self.refuse(approved.request(), claimed, all, &Decided::by(&approved)).map(Step::end)
    }
}
