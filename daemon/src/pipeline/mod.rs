//! The pipeline: one request from its claim to its published record. Read it from top to bottom;
//! each longer step has its own file.

mod admission;
mod entry;
mod model;
mod passage;
mod refusal;
mod run;
mod sandbox;
mod tell;

use std::path::Path;

use ::model::{Sha256, UtcTime};
use policies::Submission;
use spool::{Claimed, Ordered, Originals, Replayed, SpoolError};
use validator::{Code, Draft, Violation};

pub use self::model::Told;
use self::model::next;
pub(crate) use self::model::{ClaimOutcome, Decided, ReleaseReason, Story, Wish};
use crate::held::HoldDeadline;
use crate::host::Host;
use crate::metrics::Timed;
use crate::model::Halt;
use crate::system;
use passage::Passage;

/// A claimed request, with the circumstances of its submission.
pub(crate) struct Ask {
    pub(crate) draft: Draft,
    pub(crate) claimed: Claimed,
    pub(crate) submission: Submission,
    /// The time of the decision: now, or the time of the replayed run.
    pub(crate) at: UtcTime,
    pub(crate) patience: HoldDeadline,
    /// The order of an operator.
    pub(crate) ordered: Option<Ordered>,
}

/// A run to be replayed.
pub struct Replay<'a> {
    /// The request file in the record.
    pub request: &'a Path,
    /// The digest of the request file according to the record.
    pub request_sha256: Sha256,
    /// The directory of the inputs, if the request has any.
    pub inputs: Option<&'a Path>,
    /// The record of the replayed run.
    pub of: Replayed,
    /// The time of the decision about that run.
    pub at: UtcTime,
}

impl Host {
    /// Claims a request file of the caller and takes it to its published record: the embedded
    /// one-shot run.
    ///
    /// # Errors
    /// [`Halt`]: the file cannot be read, or the daemon's own disk or key failed. Nothing was run.
    pub fn run_file(
        &self,
        request: &Path,
        inputs: Option<&Path>,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<Told, Halt> {
        let id = system::new_claim_id()?;
        let (draft, claimed) = match self.spool.claim_file(request, inputs, id) {
            Ok(claimed) => claimed,
            Err(error @ SpoolError::TooLarge { .. }) => {
                let name = request.file_name().unwrap_or_default().to_string_lossy();
                let violation = Violation::error(Code::TextTooLarge, error.to_string());
                let violations = vec![violation];
                let published = self.passage().refuse_unread(&name, &violations, None)?;
                return Ok(Told::of(published, -1, violations, Originals::Gone));
            }
            Err(error) => return Err(error.into()),
        };
        let submission = Submission::Invoked { uid, name: system::user_name(uid) };
        let ask = Ask {
            draft,
            claimed,
            submission,
            at: system::now(),
            patience: HoldDeadline::None,
            ordered: None,
        };
        self.passage().process(ask, &mut invoked(cancelled))?.at_once()
    }

    /// Runs the request of a published record again, decided at the time of that run. Nothing is
    /// used up, and the new record names the replayed one.
    ///
    /// # Errors
    /// As [`Self::run_file`].
    pub fn replay(
        &self,
        replay: Replay<'_>,
        uid: u32,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<Told, Halt> {
        let Replay { request, request_sha256, inputs, of, at } = replay;
        let id = system::new_claim_id()?;
        let (draft, claimed) = self.spool.claim_record(request, inputs, of, id)?;
        // The claimed copy runs, regardless of later changes to the directory.
        if draft.sha256() != request_sha256 {
            self.spool.abandon(claimed);
            return Err(Halt::OtherRequest(request.to_owned()));
        }
        let submission = Submission::Invoked { uid, name: system::user_name(uid) };
        let ask =
            Ask { draft, claimed, submission, at, patience: HoldDeadline::None, ordered: None };
        self.passage().process(ask, &mut invoked(cancelled))?.at_once()
    }
}

impl Passage<'_> {
    /// Takes one claimed request to its published record, or holds or releases it.
    ///
    /// # Errors
    /// [`Halt`]: the daemon's own disk or key failed. Nothing more may be admitted; recovery
    /// records the started runs.
    pub(crate) fn process(
        &self,
        ask: Ask,
        wish: &mut dyn FnMut() -> Wish,
    ) -> Result<ClaimOutcome, Halt> {
        let Ask { draft, claimed, submission, at, patience, ordered } = ask;
        // A request is started only if there is space for its record.
        if let Err(error) = self.host.keep_room() {
            self.host.spool.abandon(claimed);
            return match patience {
                HoldDeadline::Until(_) => match error.want() {
                    Some(want) => Ok(ClaimOutcome::Left(ReleaseReason::Wanting(want))),
                    None => Err(error.into()),
                },
                _ => Err(error.into()),
            };
        }
        let (request, claimed, violations) = next!(self.check(draft, claimed, &submission, at)?);
        self.journey.claimed(&request, &submission);
        let (request, claimed) =
            next!(self.obey(request, claimed, (ordered, patience), &violations, at)?);
        let (approved, claimed) =
            next!(self.authorise(request, claimed, (submission, patience), &violations, at)?);
        self.journey.took(Timed::Decide);
        self.journey.granted(approved.request().id(), approved.grant());
        let (place, approved, claimed) = next!(self.enter(approved, claimed, &violations, wish)?);
        self.journey.took(Timed::Queued);
        self.journey.staging(claimed.hashed());
        let (staged, ahead) = next!(self.stage(approved, claimed, &violations, patience)?);
        self.journey.took(Timed::Stage);
        let prepared = next!(self.build(staged, ahead, violations, (patience, &mut *wish))?);
        self.journey.took(Timed::Cell);
        self.run(prepared, (place, patience), wish)
    }
}

/// An embedded run is only continued or cancelled.
fn invoked(cancelled: &mut dyn FnMut() -> bool) -> impl FnMut() -> Wish {
    || match cancelled() {
        true => Wish::End,
        false => Wish::GoOn,
    }
}
