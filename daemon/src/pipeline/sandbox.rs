//! The steps from staged inputs to a ready sandbox. No tool code runs, and nothing is used up.

use std::time::Duration;

use policies::Approved;
use sandbox::client::{BuildError, ReadySandbox, StallReport, StartLimit, StartWait, WaitDecision};
use sandbox::plan::Plan;
use spool::{Claimed, Staged};
use validator::Violation;

use super::model::{Continuation, DecisionFacts, PipelineStep, RecordedRequest, ReleaseReason};
use super::request_context::RequestContext;
use crate::held_requests::HoldDeadline;
use crate::model::DaemonError;
use crate::network::OpenNetwork;
use crate::plan::plan;
use crate::prewarm::PrewarmedSandbox;
use crate::probe::HostFault;
use crate::system;

/// No tool code has run yet.
pub(super) struct PreparedRun {
    pub(super) staged: Staged,
    pub(super) ready: ReadySandbox,
    pub(super) origin: SandboxOrigin,
    pub(super) network: Option<OpenNetwork>,
    pub(super) violations: Vec<Violation>,
}

model::closed_set! {
    /// The time at which the sandbox of a run was made.
    pub(super) enum SandboxOrigin {
        Prewarmed = "prewarmed",
        Cold = "cold",
    }
}

/// A longer wait for a sandbox is logged.
const SLOW_BUILD_TIME: Duration = Duration::from_secs(1);

impl RequestContext<'_> {
    /// Staged inputs → a ready sandbox.
    pub(super) fn build(
        &self,
        staged: Staged,
        ahead: Option<PrewarmedSandbox>,
        violations: Vec<Violation>,
        (deadline, continuation): (HoldDeadline, &mut dyn FnMut() -> Continuation),
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let plan = match plan(&staged) {
            Ok(plan) => plan,
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                let why = error.to_string();
                return self
                    .record_setup_error(&approved, claimed, violations, &why)
                    .map(PipelineStep::end);
            }
        };
        self.host.prewarmed().note(staged.approved(), &plan.sandbox);
        let time_max = Duration::from_secs(staged.approved().grant().start_sec_max());
        let opened =
            self.sandbox_for(plan, ahead, time_max, continuation).map(|(mut ready, made)| {
                let network = self.open_network(&staged, &mut ready);
                (network, ready, made)
            });
        match opened {
            Ok((Ok(network), ready, made)) => Ok(PipelineStep::Next(PreparedRun {
                staged,
                ready,
                origin: made,
                network,
                violations,
            })),
            Ok((Err(why), ready, _)) => {
                drop(ready);
                let (approved, claimed) = staged.into_parts();
                self.record_setup_error(&approved, claimed, violations, &why).map(PipelineStep::end)
            }
            Err(BuildError::Cancelled(_)) if deadline.allows_hold(system::now()) => {
                self.host.spool.abandon(staged.into_parts().1);
                Ok(PipelineStep::Release(ReleaseReason::Unwanted))
            }
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                self.record_build_failure(&approved, claimed, violations, &error)
                    .map(PipelineStep::end)
            }
        }
    }

    /// Returns the prewarmed sandbox, or builds one if there is none or it was lost.
    fn sandbox_for(
        &self,
        plan: Plan,
        ahead: Option<PrewarmedSandbox>,
        time_max: Duration,
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<(ReadySandbox, SandboxOrigin), BuildError> {
        let mut is_logged = false;
        let mut ask = |waiting: &StartWait| {
            if waiting.for_time >= SLOW_BUILD_TIME && !is_logged {
                is_logged = true;
                let most = waiting.time_max.as_secs();
                tracing::warn!(
                    "waiting for the launcher, at most {most} s: {}",
                    waiting.stall_report()
                );
            }
            match continuation() {
                Continuation::Continue => WaitDecision::Continue,
                Continuation::ReleaseUnstarted | Continuation::End => WaitDecision::Cancel,
            }
        };
        if let Some(ready) = ahead.and_then(|ahead| ahead.start_with(&plan, &mut ask)) {
            return Ok((ready, SandboxOrigin::Prewarmed));
        }
        let built =
            self.rules.launcher.build_within(plan, &mut StartLimit::new(time_max, &mut ask));
        if let Err(BuildError::Stuck(stall) | BuildError::Cancelled(stall)) = &built {
            log_stacks(stall);
        }
        Ok((built?, SandboxOrigin::Cold))
    }

    fn open_network(
        &self,
        staged: &Staged,
        ready: &mut ReadySandbox,
    ) -> Result<Option<OpenNetwork>, String> {
        let grant = staged.approved().grant();
        let Some(granted) = grant.network() else { return Ok(None) };
        let missing = "toolexec-egress: not installed; help: install it beside toolexec, or set \
                       egress.socket in toolexecd.yaml";
        let egress = self.host.egress.as_ref().ok_or(missing)?;
        OpenNetwork::begin(egress, granted, grant.limits().time_sec, ready).map(Some)
    }

    /// Refuses the request if a layer is missing; records a `setup_error` for any other failure.
    fn record_build_failure(
        &self,
        approved: &Approved,
        claimed: Claimed,
        mut violations: Vec<Violation>,
        error: &BuildError,
    ) -> Result<RecordedRequest, DaemonError> {
        let fault = HostFault::of(error);
        // A probe finds out whether the host or the request is the cause.
        self.host.mark_doubtful();
        if let Some(missing) = fault.violation() {
            violations.push(missing);
            let decided = DecisionFacts::by(approved);
            return self.refuse(approved.request(), claimed, violations, &decided);
        }
        self.record_setup_error(approved, claimed, violations, &fault.reason())
    }
}

/// Kernel stacks are for operators. Records must not contain them: other users read records.
fn log_stacks(stall: &StallReport) {
    for process in stall.processes() {
        match process.stack() {
            Some(stack) => tracing::error!("{process}:\n{}", stack.trim_end()),
            None => tracing::error!("{process}: this user cannot read its kernel stack"),
        }
    }
}
