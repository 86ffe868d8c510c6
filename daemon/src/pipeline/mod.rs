//! The pipeline: one request from its claim to its published record. Read it from top to bottom;
//! each longer step has its own file.

mod admission;
mod backend;
mod environment;
#[cfg(test)]
mod finished_tests;
mod fleet_start;
mod machine;
mod model;
mod patch;
mod queueing;
mod record_writer;
mod refusal;
mod request_context;
mod run;
mod sandbox;
mod standing;
mod standing_uses;

use std::path::Path;

use ::model::{Sha256, UtcTime};
use policies::SubmissionOrigin;
use spool::{Claimed, PlacedOrder, ReplaySource, SpoolError, SubmissionState};
use validator::{Code, Draft};

pub use self::model::RecordedRequest;
use self::model::next;
pub(crate) use self::model::{
    ClaimOutcome, Continuation, DecisionFacts, RecordInput, ReleaseReason,
};
pub(crate) use self::standing::StandingOutcome;
use crate::held_requests::HoldDeadline;
use crate::metrics::TimedStep;
use crate::model::DaemonError;
use crate::state::Daemon;
use crate::system;
use crate::violations::with_help_as_hint;
use environment::EnvironmentCheck;
use request_context::RequestContext;

pub(crate) struct PipelineInput {
    pub(crate) draft: Draft,
    pub(crate) claimed: Claimed,
    pub(crate) submission: SubmissionOrigin,
    /// The time of the decision: now, or the time of the replayed run.
    pub(crate) at: UtcTime,
    pub(crate) hold_deadline: HoldDeadline,
    pub(crate) order: Option<PlacedOrder>,
}

/// A run to be replayed.
pub struct ReplayTarget<'a> {
    /// The request file in the record.
    pub request: &'a Path,
    /// The digest of the request file according to the record.
    pub request_sha256: Sha256,
    /// The directory of the inputs, if the request has any.
    pub inputs: Option<&'a Path>,
    /// The record of the replayed run.
    pub original: ReplaySource,
    /// The time of the decision about that run.
    pub at: UtcTime,
}

impl Daemon {
    /// Takes a request file of the caller to its published record: the embedded one-shot run.
    ///
    /// # Errors
    /// [`DaemonError`]: the file cannot be read, or the daemon's disk or key failed. Recovery
    /// records a run that was started.
    pub fn run_file(
        &self,
        request: &Path,
        inputs: Option<&Path>,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<RecordedRequest, DaemonError> {
        self.run_file_of((request, inputs), None, uid, cancelled)
    }

    /// Runs a request file as [`Self::run_file`] does, if it still has the bytes of this digest.
    ///
    /// # Errors
    /// As [`Self::run_file`], and [`DaemonError::RequestChanged`]: then nothing ran.
    pub fn run_file_if_unchanged(
        &self,
        request: &Path,
        sha256: Sha256,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<RecordedRequest, DaemonError> {
        self.run_file_of((request, None), Some(sha256), uid, cancelled)
    }

    fn run_file_of(
        &self,
        (request, inputs): (&Path, Option<&Path>),
        expected: Option<Sha256>,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<RecordedRequest, DaemonError> {
        let id = system::new_claim_id()?;
        let (draft, claimed) = match self.spool.claim_file(request, inputs, id) {
            Ok(claimed) => claimed,
            Err(error @ SpoolError::TooLarge { .. }) => {
                let name = request.file_name().unwrap_or_default().to_string_lossy();
                let violations = vec![with_help_as_hint(Code::TextTooLarge, &error.to_string())];
                let published =
                    self.request_context().refuse_unreadable(&name, &violations, None)?;
                return Ok(RecordedRequest::of(
                    published,
                    -1,
                    violations,
                    SubmissionState::Removed,
                ));
            }
            Err(error) => return Err(error.into()),
        };
        // The claimed copy runs, regardless of later changes to the file.
        if expected.is_some_and(|expected| draft.sha256() != expected) {
            self.spool.abandon(claimed);
            return Err(DaemonError::RequestChanged(request.to_owned()));
        }
        let submission = SubmissionOrigin::Invoked { uid, name: system::user_name(uid) };
        let ask = PipelineInput {
            draft,
            claimed,
            submission,
            at: system::now(),
            hold_deadline: HoldDeadline::None,
            order: None,
        };
        self.request_context().process(ask, &mut embedded_continuation(cancelled))?.into_recorded()
    }

    /// Runs the request of a published record again, decided at the time of that run. Nothing is
    /// used up, and the new record names the replayed one.
    ///
    /// # Errors
    /// As [`Self::run_file`].
    pub fn replay(
        &self,
        replay: ReplayTarget<'_>,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<RecordedRequest, DaemonError> {
        let ReplayTarget { request, request_sha256, inputs, original: of, at } = replay;
        let id = system::new_claim_id()?;
        let (draft, claimed) = self.spool.claim_record(request, inputs, of, id)?;
        // The claimed copy runs, regardless of later changes to the directory.
        if draft.sha256() != request_sha256 {
            self.spool.abandon(claimed);
            return Err(DaemonError::RequestChanged(request.to_owned()));
        }
        let submission = SubmissionOrigin::Invoked { uid, name: system::user_name(uid) };
        let ask = PipelineInput {
            draft,
            claimed,
            submission,
            at,
            hold_deadline: HoldDeadline::None,
            order: None,
        };
        self.request_context().process(ask, &mut embedded_continuation(cancelled))?.into_recorded()
    }
}

impl RequestContext<'_> {
    /// Takes one claimed request to its published record, or holds or releases it.
    ///
    /// # Errors
    /// [`DaemonError`]: nothing more may be admitted; recovery records the started runs.
    pub(crate) fn process(
        &self,
        ask: PipelineInput,
        continuation: &mut dyn FnMut() -> Continuation,
    ) -> Result<ClaimOutcome, DaemonError> {
        let PipelineInput {
            draft,
            claimed,
            submission,
            at,
            hold_deadline: deadline,
            order: ordered,
        } = ask;
        // A request is started only if there is space for its record.
        if let Err(error) = self.host.check_space() {
            self.host.spool.abandon(claimed);
            return match deadline {
                HoldDeadline::Until(_) => match error.shortage() {
                    Some(want) => Ok(ClaimOutcome::Released(ReleaseReason::Shortage(want))),
                    None => Err(error.into()),
                },
                _ => Err(error.into()),
            };
        }
        let (request, claimed, violations) = next!(self.check(draft, claimed, &submission, at)?);
        self.progress.claimed(&request, &submission);
        let (request, claimed) =
            next!(self.apply_order(request, claimed, (ordered, deadline), &violations, at)?);
        let (approved, claimed) =
            next!(self.authorise(request, claimed, (submission, deadline), &violations, at)?);
        self.progress.step_took(TimedStep::Decide);
        self.progress.granted(approved.request().id(), approved.grant());
        let (place, approved, claimed) =
            next!(self.wait_for_capacity(approved, claimed, &violations, continuation)?);
        self.progress.step_took(TimedStep::Queued);
        self.progress.staging(claimed.hash_progress());
        let decided = approved.grant().opened_environment();
        let check = EnvironmentCheck::begin(decided, &self.host.environments);
        let (staged, ahead) = next!(self.stage(approved, claimed, &violations, deadline)?);
        let (staged, ahead) = next!(self.check_copy_fits(staged, ahead, &violations)?);
        self.progress.step_took(TimedStep::Stage);
        let prepared =
            next!(self.build(staged, ahead, violations, (deadline, &mut *continuation))?);
        self.progress.step_took(TimedStep::Sandbox);
        self.run((prepared, check), (place, deadline), continuation)
    }
}

fn embedded_continuation(cancelled: &mut dyn FnMut() -> bool) -> impl FnMut() -> Continuation {
    || match cancelled() {
        true => Continuation::End,
        false => Continuation::Continue,
    }
}
