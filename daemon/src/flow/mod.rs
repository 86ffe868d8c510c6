//! One request from its copy to its record. Reads top to bottom as the design's flow does; each step that
//! is more than a few lines has a file of its own.

mod admission;
mod cell;
mod entry;
mod refusal;
mod run;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use model::{Outcome, Sha256, UtcTime};
use policies::Submission;
use spool::{Claimed, Ordered, Originals, Receipt, Replayed, ReserveInUse, SpoolError, Want};
use validator::{Code, Draft, Violation};

use crate::edge;
use crate::held::Patience;
use crate::host::Host;
use crate::journey::Journey;
use crate::metrics::Timed;
use crate::model::Halt;
use crate::permissions::Asked;
use crate::room::Ticket;
use crate::rules::Rules;
use crate::tell::Published;

/// How a request came here.
pub(crate) struct Ask {
    pub(crate) draft: Draft,
    pub(crate) claimed: Claimed,
    pub(crate) submission: Submission,
    /// The time that it is judged by: now, or that of the run which is done again.
    pub(crate) at: UtcTime,
    pub(crate) patience: Patience,
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

/// What became of a request: there is a signed record, and it is published.
#[derive(Debug)]
#[must_use]
pub struct Told {
    pub outcome: Outcome,
    /// Upstream's exit code: the tool's own, -1 where nothing ran.
    pub exit_code: i32,
    pub receipt: Receipt,
    /// What was wrong with the request; warnings of accepted ones too.
    pub violations: Vec<Violation>,
    /// Why nothing ran, or why nobody knows.
    pub reason: Option<String>,
    /// Layers that were missing by a named exception.
    pub degraded: Vec<String>,
    /// Whether the original left the directory that it was dropped into.
    pub originals: Originals,
}

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

/// What whoever waits for a request wants of it by now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    GoOn,
    /// If it was not begun it is left where it was; a run goes on.
    LeaveUnbegun,
    /// A run is ended; what was not begun is left where it was.
    End,
}

/// What became of a claimed request for now.
#[must_use]
pub(crate) enum Answer {
    Told(Box<Told>),
    /// It waits for somebody's answer, and for what; the claim was given up and the original is where it
    /// was.
    Held(Vec<Violation>, Asked),
    /// The claim was given up before anything was begun; the original is where it was.
    Left(Why),
}

/// Why a request was left where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// It is not wanted now, or nothing is begun any more.
    Unwanted,
    /// Something was lacking that others may free.
    Wanting(Want),
    /// A call failed that may work in a moment.
    Passing,
}

impl Answer {
    /// For what nobody holds.
    fn at_once(self) -> Result<Told, Halt> {
        match self {
            Self::Told(told) => Ok(*told),
            Self::Held(..) | Self::Left(_) => Err(Halt::NobodyHolds),
        }
    }
}

/// Either the next state, or the end of the story, or of this look at it.
enum Step<T> {
    Next(T),
    End(Box<Told>),
    Hold(Vec<Violation>, Asked),
    Leave(Why),
}

macro_rules! next {
    ($step:expr) => {
        match $step {
            Step::Next(next) => next,
            Step::End(told) => return Ok(Answer::Told(told)),
            Step::Hold(waits_for, asked) => return Ok(Answer::Held(waits_for, asked)),
            Step::Leave(why) => return Ok(Answer::Left(why)),
        }
    };
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
        let id = edge::new_claim_id()?;
        let (draft, claimed) = match self.spool.claim_file(request, inputs, id) {
            Ok(claimed) => claimed,
            Err(error @ SpoolError::TooLarge { .. }) => {
                let name = request.file_name().unwrap_or_default().to_string_lossy();
                let violation = Violation::error(Code::TextTooLarge, error.to_string());
                let violations = vec![violation];
                let published = self.passage().refuse_unread(&name, &violations, None)?;
                return Ok(told(published, -1, violations, Originals::Gone));
            }
            Err(error) => return Err(error.into()),
        };
        let submission = Submission::Invoked { uid, name: edge::user_name(uid) };
        let ask = Ask {
            draft,
            claimed,
            submission,
            at: edge::now(),
            patience: Patience::None,
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
        let id = edge::new_claim_id()?;
        let (draft, claimed) = self.spool.claim_record(request, inputs, of, id)?;
        // The copy is what runs: whatever the directory holds by now.
        if draft.sha256() != request_sha256 {
            self.spool.abandon(claimed);
            return Err(Halt::OtherRequest(request.to_owned()));
        }
        let submission = Submission::Invoked { uid, name: edge::user_name(uid) };
        let ask = Ask { draft, claimed, submission, at, patience: Patience::None, ordered: None };
        self.passage().process(ask, &mut invoked(cancelled))?.at_once()
    }

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

    /// Takes one claimed request to its published record, or to somebody's answer.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed. Nothing more may be admitted; what was begun is told by
    /// recovery.
    pub(crate) fn process(&self, ask: Ask, wish: &mut dyn FnMut() -> Wish) -> Result<Answer, Halt> {
        let Ask { draft, claimed, submission, at, patience, ordered } = ask;
        // Without room for its record nothing is begun.
        if let Err(error) = self.host.keep_room() {
            self.host.spool.abandon(claimed);
            return match patience {
                Patience::Until(_) => match error.want() {
                    Some(want) => Ok(Answer::Left(Why::Wanting(want))),
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

fn end<T>(told: Told) -> Step<T> {
    Step::End(Box::new(told))
}

fn told(
    published: Published,
    exit_code: i32,
    violations: Vec<Violation>,
    originals: Originals,
) -> Told {
    let Published { receipt, outcome, reason, .. } = published;
    Told { outcome, exit_code, receipt, violations, reason, degraded: Vec::new(), originals }
}
