//! The order of an operator, and the wait for capacity. Inputs are staged and a sandbox is built
//! only after a permit is granted. A request must never overtake another, and a held one must never
//! run.

use model::{UtcTime, escape_line};
use policies::Approved;
use spool::{Claimed, OperatorOrder, PlacedOrder};
use validator::{Code, Request, Violation};

use super::model::{Continuation, DecisionFacts, PipelineStep, ReleaseReason};
use super::request_context::RequestContext;
use crate::capacity::{CapacityError, CapacityPermit};
use crate::held_requests::HoldDeadline;
use crate::model::{DaemonError, PermissionFiled};
use crate::system;

impl RequestContext<'_> {
    /// A well-formed request → one that no operator has held or cancelled.
    pub(super) fn apply_order(
        &self,
        request: Request,
        claimed: Claimed,
        (ordered, deadline): (Option<PlacedOrder>, HoldDeadline),
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<PipelineStep<(Request, Claimed)>, DaemonError> {
        let Some(ordered) = ordered else { return Ok(PipelineStep::Next((request, claimed))) };
        let whose = match system::user_name(ordered.by_uid) {
            Some(name) => escape_line(&name),
            None => format!("user {}", ordered.by_uid),
        };
        let id = request.id();
        let violation = match ordered.order {
            OperatorOrder::Release => return Ok(PipelineStep::Next((request, claimed))),
            OperatorOrder::Hold => {
                Violation::error(Code::SpoolHeld, format!("{id}: is held by {whose}"))
                    .hint(format!("release it with `toolexec release {id}`"))
            }
            OperatorOrder::Cancel => {
                Violation::error(Code::SpoolCancelled, format!("{id}: cancelled by {whose}"))
            }
        };
        if ordered.order == OperatorOrder::Hold && deadline.allows_hold(now) {
            self.host.spool.abandon(claimed);
            return Ok(PipelineStep::Hold(vec![violation], PermissionFiled::NotNeeded));
        }
        let all = warnings.iter().cloned().chain([violation]).collect();
        self.refuse(&request, claimed, all, &DecisionFacts::undecided()).map(PipelineStep::end)
    }

    pub(super) fn wait_for_capacity(
        &self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<PipelineStep<(CapacityPermit<'_>, Approved, Claimed)>, DaemonError> {
        let memory_bytes = approved.grant().limits().memory_bytes;
        let ticket = self.ticket.take().unwrap_or_else(|| self.host.capacity.ticket());
        let memory_bytes_max =
            match ticket.acquire(memory_bytes, &mut || continuation() == Continuation::Continue) {
                Ok(place) => return Ok(PipelineStep::Next((place, approved, claimed))),
                Err(CapacityError::Unwanted) => {
                    self.host.spool.abandon(claimed);
                    return Ok(PipelineStep::Release(ReleaseReason::Unwanted));
                }
                Err(CapacityError::ExceedsLimit { memory_bytes_max }) => memory_bytes_max,
            };
        let message = format!(
            "{}: {memory_bytes} bytes of memory exceed the {memory_bytes_max} bytes that all runs \
             of this host share (memory_bytes_max of toolexecd.yaml)",
            approved.request().id()
        );
        let hint = "lower memory_limit_mb, or have memory_bytes_max raised";
        let mut all = warnings.to_vec();
        all.push(Violation::error(Code::LimitsOverPolicy, message).hint(hint));
        self.refuse(approved.request(), claimed, all, &DecisionFacts::by(&approved))
            .map(PipelineStep::end)
    }
}
