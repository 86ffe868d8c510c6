//! One request from its copy to its record. Reads top to bottom as the design's flow does; each step that
//! is more than a few lines has a file of its own.

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

/// How a request came here.
pub(crate) struct Ask {
    pub(crate) draft: Draft,
    pub(crate) claimed: Claimed,
    pub(crate) submission: Submission,
    /// The time that it is judged by: now, or that of the run which is done again.
    pub(crate) at: UtcTime,
    pub(crate) patience: HoldDeadline,
    /// What an operator asks of it.
    pub(crate) ordered: Option<Ordered>,
}

/// A run that is to be done again.
pub struct Replay<'a> {
    /// The request, as its record has it.
    pub request: &'a Path,
    /// What that record says of its bytes.
    pub request_sha256: Sha256,
    pub inputs: Option<&'a Path>,
    pub of: Replayed,
    /// When that run was decided.
    pub at: UtcTime,
}

impl Host {
    /// Claims a person's own file and takes it to its published record: the embedded one-shot.
    ///
    /// # Errors
    /// [`Halt`]: the file cannot be read, or our own disk or key failed. Nothing was run then.
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

    /// Does the run of a published record again, judged by the time of that run. Nothing is used up,
    /// and the new record says what it is.
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
        // The copy is what runs: whatever the directory holds by now.
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
    /// Takes one claimed request to its published record, or to somebody's answer.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed. Nothing more may be admitted; what was begun is told by
    /// recovery.
    pub(crate) fn process(
        &self,
        ask: Ask,
        wish: &mut dyn FnMut() -> Wish,
    ) -> Result<ClaimOutcome, Halt> {
        let Ask { draft, claimed, submission, at, patience, ordered } = ask;
        // Without room for its record nothing is begun.
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

/// Who invoked a run waits for nothing but its end.
fn invoked(cancelled: &mut dyn FnMut() -> bool) -> impl FnMut() -> Wish {
    || match cancelled() {
        true => Wish::End,
        false => Wish::GoOn,
    }
}
