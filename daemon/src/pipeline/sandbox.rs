//! The steps from staged inputs to a ready sandbox with its network. No tool code runs, and nothing
//! is used up.

use std::time::Duration;

use policies::Approved;
use sandbox::client::{BuildError, ReadyCell, Standstill, StartLimit, Wait, Waiting};
use sandbox::plan::Plan;
use spool::{Claimed, Staged};
use validator::Violation;

use super::model::{Decided, ReleaseReason, Step, Told, Wish};
use super::passage::Passage;
use crate::held::HoldDeadline;
use crate::model::Halt;
use crate::network::OpenNetwork;
use crate::plan::plan;
use crate::probe::HostFault;
use crate::ready::MadeAhead;
use crate::system;

/// A request with its ready sandbox, before any tool code has run.
pub(super) struct PreparedRun {
    pub(super) staged: Staged,
    pub(super) ready: ReadyCell,
    pub(super) made: SandboxOrigin,
    /// The network of a run with hosts.
    pub(super) network: Option<OpenNetwork>,
    pub(super) violations: Vec<Violation>,
}

model::closed_set! {
    /// The time at which the sandbox of a run was made.
    pub(super) enum SandboxOrigin {
        Ahead = "ready",
        ForThisRun = "cold",
    }
}

/// A longer wait for a sandbox is logged.
const SLOW_TIME: Duration = Duration::from_secs(1);

impl Passage<'_> {
    /// Staged inputs → a ready sandbox. Nothing is used up if none can be built.
    pub(super) fn build(
        &self,
        staged: Staged,
        ahead: Option<MadeAhead>,
        violations: Vec<Violation>,
        (patience, wish): (HoldDeadline, &mut dyn FnMut() -> Wish),
    ) -> Result<Step<PreparedRun>, Halt> {
        let plan = match plan(&staged) {
            Ok(plan) => plan,
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                let why = error.to_string();
                return self.not_set_up(&approved, claimed, violations, &why).map(Step::end);
            }
        };
        self.host.ready_cells().note(staged.approved(), &plan.cell);
        let time_max = Duration::from_secs(staged.approved().grant().start_sec_max());
        let opened = self.cell_for(plan, ahead, time_max, wish).map(|(mut ready, made)| {
            let network = self.open_network(&staged, &mut ready);
            (network, ready, made)
        });
        match opened {
            Ok((Ok(network), ready, made)) => {
                Ok(Step::Next(PreparedRun { staged, ready, made, network, violations }))
            }
            Ok((Err(why), ready, _)) => {
                drop(ready);
                let (approved, claimed) = staged.into_parts();
                self.not_set_up(&approved, claimed, violations, &why).map(Step::end)
            }
            Err(BuildError::GivenUp(_)) if patience.lasts(system::now()) => {
                self.host.spool.abandon(staged.into_parts().1);
                Ok(Step::Leave(ReleaseReason::Unwanted))
            }
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                self.no_cell(&approved, claimed, violations, &error).map(Step::end)
            }
        }
    }

    /// Returns the prewarmed sandbox, or builds one if there is none or it was lost.
    fn cell_for(
        &self,
        plan: Plan,
        ahead: Option<MadeAhead>,
        time_max: Duration,
        wish: &mut dyn FnMut() -> Wish,
    ) -> Result<(ReadyCell, SandboxOrigin), BuildError> {
        if let Some(ready) = ahead.and_then(|ahead| ahead.order(&plan)) {
            return Ok((ready, SandboxOrigin::Ahead));
        }
        let mut told = false;
        let mut ask = |waiting: &Waiting| {
            if waiting.for_time >= SLOW_TIME && !told {
                told = true;
                let most = time_max.as_secs();
                tracing::warn!("waiting for the launcher, at most {most} s: {}", waiting.stands());
            }
            match wish() {
                Wish::GoOn => Wait::GoOn,
                Wish::LeaveUnbegun | Wish::End => Wait::GiveUp,
            }
        };
        let built =
            self.rules.launcher.build_within(plan, &mut StartLimit::new(time_max, &mut ask));
        if let Err(BuildError::Stuck(stands) | BuildError::GivenUp(stands)) = &built {
            log_stacks(stands);
        }
        Ok((built?, SandboxOrigin::ForThisRun))
    }

    /// Passes the sandbox's proxy socket to the egress proxy if the run has hosts.
    fn open_network(
        &self,
        staged: &Staged,
        ready: &mut ReadyCell,
    ) -> Result<Option<OpenNetwork>, String> {
        let grant = staged.approved().grant();
        let Some(granted) = grant.network() else { return Ok(None) };
        let egress = self.host.egress.as_ref().ok_or("toolexec-egress is not installed")?;
        OpenNetwork::begin(egress, granted, grant.limits().time_sec, ready).map(Some)
    }

    /// Refuses the request if a layer is missing; records a `setup_error` for any other failure.
    fn no_cell(
        &self,
        approved: &Approved,
        claimed: Claimed,
        mut violations: Vec<Violation>,
        error: &BuildError,
    ) -> Result<Told, Halt> {
        let fault = HostFault::of(error);
        // A probe finds out whether the host or the request is the cause.
        self.host.doubt();
        if let Some(missing) = fault.violation() {
            violations.push(missing);
            let decided = Decided::by(approved);
            return self.refuse(approved.request(), claimed, violations, &decided);
        }
        self.not_set_up(approved, claimed, violations, &fault.reason())
    }
}

/// Logs the kernel stacks of the stuck processes for operators. Records must not contain them,
/// because other users read records.
fn log_stacks(stands: &Standstill) {
    for process in stands.processes() {
        match process.stack() {
            Some(stack) => tracing::error!("{process}:\n{}", stack.trim_end()),
            None => tracing::error!("{process}: this user cannot read its kernel stack"),
        }
    }
}
