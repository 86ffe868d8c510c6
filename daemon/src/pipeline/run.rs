//! Begin, start, finish, record: the only place where a tool runs. Every path after the intent ends
//! in a record.

use model::{Outcome, ResultId};
use policies::Approved;
use records::{GuestReport, NetworkUse, StatedUse};
use sandbox::client::{BuildError, ReadySandbox, RunEvent};
use sandbox::report::{Confinement, FinishedRun};
use spool::failpoint::{Failpoint, reach};
use spool::{BeginError, Begun, ResultDraft, Staged};
use validator::{Code, Violation};

use super::environment::EnvironmentCheck;
use super::machine::{self, GuestEnd};
use super::model::{
    ClaimOutcome, Continuation, DecisionFacts, PipelineStep, PublishedRecord, RecordInput,
    RecordedRequest, ReleaseReason, next,
};
use super::patch::add_patch;
use super::request_context::RequestContext;
use super::sandbox::{PreparedRun, SandboxOrigin};
use crate::capacity::CapacityPermit;
use crate::held_requests::HoldDeadline;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::DaemonError;
use crate::network::OpenNetwork;
use crate::probe::HostFault;
use crate::system;
use crate::violations::{judge_outputs, replayed, use_refused, with_help_as_hint};

/// Its start is durable in the ledger.
struct BegunRun {
    network: Option<OpenNetwork>,
    violations: Vec<Violation>,
    result: ResultDraft,
    begun: Begun,
    ready: ReadySandbox,
    origin: SandboxOrigin,
}

#[derive(Clone, Copy)]
struct RunEvidence<'a> {
    confinement: &'a Confinement,
    network: &'a NetworkUse,
}

/// The known end of a run.
enum RunEnd {
    Finished(Box<FinishedRun>),
    /// A tool in a virtual machine, with the report if the wrapper left one.
    FinishedInGuest(Box<FinishedRun>, Option<Box<GuestReport>>),
    NeverStarted(String),
    /// The sandbox ran, but its virtual machine did not start the tool. The report may be forged,
    /// so the request stays used up.
    GuestNotStarted(String),
    /// It ran or may have run, and its effects could not be collected.
    OutcomeUnknown(String),
}

impl RequestContext<'_> {
    /// The request is used up from here on, unless no tool could be started.
    pub(super) fn run(
        &self,
        (prepared, check): (PreparedRun, EnvironmentCheck),
        (place, deadline): (CapacityPermit<'_>, HoldDeadline),
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<ClaimOutcome, DaemonError> {
        // Before `confirm`, which consumes a permission.
        let prepared = next!(self.confirm_environment(prepared, check)?);
        let prepared = next!(self.confirm_backend(prepared)?);
        let prepared = next!(self.confirm(prepared, deadline, continuation)?);
        let BegunRun { network, violations, result, begun, ready, origin: made } =
            next!(self.begin(prepared)?);
        let id = begun.staged().approved().request().id().clone();
        let confinement = ready.confinement().clone();
        let ended = self.run_begun(&begun, (ready, made), &result, continuation);
        // The sandbox is gone with its memory, and recording needs no permit.
        drop(place);
        if matches!(deadline, HoldDeadline::None) {
            // The only run of this program: its launcher exits while the record is made.
            self.rules.launcher.close();
        }
        self.progress.ended(&id, begun.result_id());
        if matches!(ended, RunEnd::NeverStarted(_)) {
            self.give_request_back(&begun)?;
        }
        let ended = self.add_patch(&begun, ended, &result);
        let ended = settle_guest(&begun, ended, &result);
        reach(Failpoint::Collected);
        let network = network.map_or(NetworkUse::Nothing, OpenNetwork::close);
        let known = RunEvidence { confinement: &confinement, network: &network };
        let (published, exit_code) = self.record_run(&begun, known, &ended, result, &violations)?;
        let (approved, claimed) = begun.into_staged().into_parts();
        if let Some(permissions) = &mut *self.host.permissions() {
            permissions.end_workflow(approved.request());
        }
        let originals = self.host.spool.archive_claim(claimed, &published.receipt)?;
        let exit_code = if published.is_complete { exit_code } else { -1 };
        let mut recorded = RecordedRequest::of(published, exit_code, violations, originals);
        recorded.degraded = confinement.degraded;
        Ok(ClaimOutcome::recorded(recorded))
    }

    /// A prepared run → the same, still wanted and approved, with its permission consumed.
    fn confirm(
        &self,
        prepared: PreparedRun,
        deadline: HoldDeadline,
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<PipelineStep<PreparedRun>, DaemonError> {
        let staged = &prepared.staged;
        // An approval may expire during staging and building. A replay is decided at the time of
        // its original.
        if staged.claimed().replays().is_none()
            && let Err(expired) = staged.approved().still_holds(system::now())
        {
            return self.refuse_prepared(prepared, *expired);
        }
        // The last check for a cancellation before the request is used up. The clock may have been
        // set back since the admission, and the fleet may not be ready any more.
        let unwanted = continuation() != Continuation::Continue
            || self.host.clock_floor.check().is_err()
            || self.host.fleet_stopped().is_some();
        if unwanted && deadline.allows_hold(system::now()) {
            return Ok(self.release_prepared(prepared));
        }
        if let Err(blocked) = self.consume_permission(staged.approved())? {
            // Another request has consumed it. The next decision files a new permission request.
            return match deadline.allows_hold(system::now()) {
                true => Ok(self.release_prepared(prepared)),
                false => self.refuse_prepared(prepared, blocked),
            };
        }
        Ok(PipelineStep::Next(prepared))
    }

    fn refuse_prepared<T>(
        &self,
        prepared: PreparedRun,
        violation: Violation,
    ) -> Result<PipelineStep<T>, DaemonError> {
        let PreparedRun { staged, ready, violations, .. } = prepared;
        drop(ready);
        self.refuse_staged(staged, violations, violation)
    }

    pub(super) fn refuse_staged<T>(
        &self,
        staged: Staged,
        mut violations: Vec<Violation>,
        violation: Violation,
    ) -> Result<PipelineStep<T>, DaemonError> {
        let (approved, claimed) = staged.into_parts();
        violations.push(violation);
        let decided = DecisionFacts::by(&approved);
        self.refuse(approved.request(), claimed, violations, &decided).map(PipelineStep::end)
    }

    fn release_prepared<T>(&self, prepared: PreparedRun) -> PipelineStep<T> {
        let PreparedRun { staged, ready, .. } = prepared;
        drop(ready);
        self.host.spool.abandon(staged.into_parts().1);
        PipelineStep::Release(ReleaseReason::Unwanted)
    }

    /// A confirmed run → one whose start is durable in the ledger.
    fn begin(&self, prepared: PreparedRun) -> Result<PipelineStep<BegunRun>, DaemonError> {
        let PreparedRun { staged, ready, origin: made, network, violations } = prepared;
        // A tool must not run if its record cannot be logged.
        self.host.log.check_writable()?;
        let id = staged.approved().request().id().clone();
        let replays = staged.claimed().replays();
        let result = self.draft_result(replays, |at| ResultId::for_request(at, &id))?;
        let begun = match self.host.spool.begin(staged, result.result_id().clone(), system::now()) {
            Ok(begun) => begun,
            Err(BeginError::Disk(error)) => {
                result.discard();
                return Err(error.into());
            }
            Err(BeginError::Started { staged, seen }) => {
                drop(ready);
                result.discard();
                let violation = replayed(staged.approved().request(), &seen);
                return self.refuse_staged(*staged, violations, violation);
            }
            Err(BeginError::UseRefused { staged, refusal }) => {
                drop(ready);
                result.discard();
                let violation = use_refused(staged.approved().request(), refusal);
                return self.refuse_staged(*staged, violations, violation);
            }
        };
        self.host.clock_floor.raise(begun.at(), &self.host.spool.roots()[0].join("ledger"));
        self.progress.log_event(LogEvent::Begun, &id);
        self.publish_uses(&begun);
        Ok(PipelineStep::Next(BegunRun { network, violations, result, begun, ready, origin: made }))
    }

    /// Consumes a one-time permission before the start: a crash in between loses a use, but never
    /// grants it twice.
    fn consume_permission(
        &self,
        approved: &Approved,
    ) -> Result<Result<(), Violation>, DaemonError> {
        let Some(found) = &approved.rationale().permission else { return Ok(Ok(())) };
        let mut permissions = self.host.permissions();
        let Some(permissions) = &mut *permissions else {
            // A reload has closed the store, but the decision was made with it.
            let message = format!("{}: the permission store is closed", approved.request().id());
            return Ok(Err(Violation::error(Code::PermissionRequestable, message)));
        };
        match permissions.consume(found, approved.request(), &self.rules.policy) {
            Ok(()) => Ok(Ok(())),
            Err(error) if error.is_refusal() => {
                let message = format!("{}: {error}", approved.request().id());
                Ok(Err(with_help_as_hint(Code::PermissionRequestable, &message)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// If the ledger line does not fit on the disk, the request remains used up.
    fn give_request_back(&self, begun: &Begun) -> Result<(), DaemonError> {
        match self.host.spool.note_not_started(begun) {
            Err(error) if error.shortage().is_some() => {
                tracing::error!("the request stays used up: {error}")
            }
            noted => noted?,
        }
        Ok(())
    }

    fn run_begun(
        &self,
        begun: &Begun,
        (ready, made): (ReadySandbox, SandboxOrigin),
        result: &ResultDraft,
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> RunEnd {
        let id = begun.staged().approved().request().id();
        let news = |news: RunEvent| match news {
            RunEvent::Usage(usage) => self.progress.used(usage),
            RunEvent::Stuck(state) => tracing::warn!(
                request = id.as_str(),
                "the launcher does not answer: {state}; the run still ends at its time limit"
            ),
        };
        if let Err(why) = self.ask_fleet(begun, continuation) {
            return RunEnd::NeverStarted(why);
        }
        reach(Failpoint::StartPermitted);
        let running = match ready.start_reported(result.directory(), news) {
            Ok(running) => running,
            Err(error @ BuildError::Unknown(_)) => {
                return RunEnd::OutcomeUnknown(HostFault::of(&error).reason());
            }
            Err(error) => return RunEnd::NeverStarted(HostFault::of(&error).reason()),
        };
        let (request, sandbox) = (Some(id.as_str()), Some(made.as_str()));
        let fields = LogEventFields { request, sandbox, ..LogEventFields::default() };
        log_event::log(LogEvent::Started, &fields);
        self.progress.enter_step(spool::RunningStep::Running);
        reach(Failpoint::Started);
        match running.finish_with_events(|| continuation() == Continuation::End, news) {
            Ok(finished) => RunEnd::Finished(Box::new(finished)),
            Err(error) => RunEnd::OutcomeUnknown(error.to_string()),
        }
    }

    /// A run that has ended → the same with its patch, if the request asks for one.
    fn add_patch(&self, begun: &Begun, mut ended: RunEnd, result: &ResultDraft) -> RunEnd {
        if let RunEnd::Finished(finished) = &mut ended {
            add_patch(begun.staged(), &self.host.spool.staging(), finished, result);
        }
        ended
    }

    fn record_run<'r>(
        &self,
        begun: &'r Begun,
        known: RunEvidence<'r>,
        ended: &'r RunEnd,
        result: ResultDraft,
        violations: &'r [Violation],
    ) -> Result<(PublishedRecord, i32), DaemonError> {
        let RunEvidence { confinement, network } = known;
        let approved = begun.staged().approved();
        let decided = DecisionFacts::by(approved);
        let used = approved.grant().standing().map(|used| StatedUse {
            approval: used.approval(),
            number: begun.use_number(),
            binding: used.binding(),
            sizes: Some(begun.staged().input_sizes()),
        });
        let input = RecordInput {
            violations,
            decided: &decided,
            used,
            ..RecordInput::of_request(approved.request(), begun.staged().claimed())
        };
        let finished_in = |finished: &'r FinishedRun, guest: Option<&'r GuestReport>| {
            let mut outcome = judge_outputs(finished, approved);
            if approved.grant().backend().machine.is_some() {
                outcome = machine::outcome(outcome, finished);
            }
            let lost = (outcome == Outcome::Indeterminate)
                .then(|| finished.lost.as_deref().unwrap_or("the sandbox's init was lost"));
            let reason = lost.or_else(|| machine::reason(guest?, outcome));
            let (started, ended) = (begun.at(), system::now());
            let ran = records::StartedRun { confinement, finished, started, ended, guest };
            let code = finished.facts.tool.map_or(-1, sandbox::outcome::ToolEnd::exit_code);
            (RecordInput { outcome, reason, ran: Some(ran), network, ..input }, code)
        };
        let (input, exit_code) = match ended {
            RunEnd::Finished(finished) => finished_in(finished, None),
            RunEnd::FinishedInGuest(finished, guest) => finished_in(finished, guest.as_deref()),
            RunEnd::NeverStarted(why) | RunEnd::GuestNotStarted(why) => {
                let outcome = Outcome::SetupError;
                let confinement_ready = Some(confinement);
                (RecordInput { outcome, reason: Some(why), confinement_ready, ..input }, -1)
            }
            RunEnd::OutcomeUnknown(why) => {
                let outcome = Outcome::Indeterminate;
                (RecordInput { outcome, reason: Some(why), network, ..input }, -1)
            }
        };
        Ok((self.record(&input, result)?, exit_code))
    }
}

/// A run that has ended → the same with the end that the report of its virtual machine states.
fn settle_guest(begun: &Begun, ended: RunEnd, result: &ResultDraft) -> RunEnd {
    let granted = begun.staged().approved().grant().backend();
    match (ended, &granted.machine) {
        (RunEnd::Finished(mut finished), Some(granted)) => {
            match machine::settle(granted, &mut finished, result) {
                GuestEnd::Ran(report) => RunEnd::FinishedInGuest(finished, report),
                GuestEnd::NotStarted(why) => RunEnd::GuestNotStarted(why),
            }
        }
        (ended, _) => ended,
    }
}
