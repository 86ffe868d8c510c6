//! A worker: one submission from `approved/` to its record, on its own thread. It uses the shared
//! state of the host and keeps nothing after its end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use model::{ClaimId, Outcome, UtcTime};
use policies::Submission;
use spool::{Claimed, Dropbox, Ordered, Originals, SpoolError, Waiting};
use validator::{Code, Draft, Severity, Violation};

use super::event::{LoopEvent, Pickup, WorkerEnd};
use super::model::{Orders, WorkerControl};
use crate::held::HoldDeadline;
use crate::host::Host;
use crate::model::Halt;
use crate::pipeline::{Ask, ClaimOutcome, ReleaseReason, Told, Wish};
use crate::room::Ticket;
use crate::system;
use crate::transition::{self, Fields, Transition};
use crate::verdicts::has_error;

/// One submission, and the facts about it.
pub(super) struct Assignment<'env> {
    /// Drawn in the submitter's turn.
    pub(super) ticket: Ticket<'env>,
    pub(super) waiting: Waiting,
    pub(super) companions: BTreeSet<OsString>,
    pub(super) ordered: Option<Ordered>,
    pub(super) until: UtcTime,
    pub(super) word: Arc<WorkerControl>,
}

/// Sends the result of a worker when it is dropped, even after a panic.
struct LastWord {
    events: Sender<LoopEvent>,
    name: String,
    taken: Option<Result<Pickup, Halt>>,
}

impl Drop for LastWord {
    fn drop(&mut self) {
        let ended = WorkerEnd { name: std::mem::take(&mut self.name), taken: self.taken.take() };
        if self.events.send(LoopEvent::Ended(ended)).is_err() {
            tracing::debug!("a worker ended after the event loop");
        }
    }
}

/// Processes one submission and sends the result.
pub(super) fn work<'env>(
    host: &'env Host,
    dropbox: &Dropbox,
    orders: &Orders,
    work: Assignment<'env>,
    events: Sender<LoopEvent>,
) {
    let name = work.waiting.name().to_owned();
    let mut last_word = LastWord { events, name, taken: None };
    last_word.taken = Some(take(host, dropbox, orders, work));
}

/// Runs `act` with a new claim id, and releases the claim if there is a shortage.
fn claimed(host: &Host, act: impl FnOnce(ClaimId) -> Result<Pickup, Halt>) -> Result<Pickup, Halt> {
    let id = system::new_claim_id()?;
    act(id.clone()).or_else(|halt| {
        let why = halt.want().map_or(ReleaseReason::Passing, ReleaseReason::Wanting);
        host.left_without_room(halt, &id)?;
        Ok(Pickup::Left(why))
    })
}

fn take<'env>(
    host: &'env Host,
    dropbox: &Dropbox,
    orders: &Orders,
    work: Assignment<'env>,
) -> Result<Pickup, Halt> {
    let _on_its_way = host.spool.on_its_way();
    let Assignment { ticket, waiting, companions, ordered, until, word } = work;
    let name = match &waiting {
        Waiting::Request(name) => name,
        Waiting::Odd(name) => {
            drop(ticket);
            let message = format!("{name}: not a valid file name of a request");
            return refuse_object(host, dropbox, name, Code::SchemaFileName, message);
        }
    };
    claimed(host, |id| {
        let claim = match host.spool.claim_dropped(dropbox, name, &companions, id) {
            Ok(claim) => claim,
            Err(error) => {
                drop(ticket);
                return unclaimed(host, dropbox, name, error);
            }
        };
        process(host, orders, (name.as_str(), claim), (ticket, ordered, until, word))
    })
}

/// Processes a claimed request.
fn process<'env>(
    host: &'env Host,
    orders: &Orders,
    (name, (draft, claimed)): (&str, (Draft, Claimed)),
    (ticket, ordered, until, word): (Ticket<'env>, Option<Ordered>, UtcTime, Arc<WorkerControl>),
) -> Result<Pickup, Halt> {
    let owner = draft.owner();
    let owner_name = system::user_name(owner.get());
    let submission = Submission::Dropped { owner, owner_name };
    let mut wish = || {
        let stopped = orders.stopped.get();
        if word.end.load(Ordering::Relaxed) {
            return Wish::End;
        }
        match stopped {
            Some(at) if at.elapsed() >= orders.drain || orders.now.load(Ordering::Relaxed) => {
                Wish::End
            }
            Some(_) => Wish::LeaveUnbegun,
            None if word.leave.load(Ordering::Relaxed) => Wish::LeaveUnbegun,
            None => Wish::GoOn,
        }
    };
    let patience = HoldDeadline::Until(until);
    let ask = Ask { draft, claimed, submission, at: system::now(), patience, ordered };
    let told = match host.passage_in_turn(ticket).process(ask, &mut wish)? {
        ClaimOutcome::Told(told) => told,
        ClaimOutcome::Held(waits_for, asked) => return Ok(Pickup::Held(waits_for, asked)),
        ClaimOutcome::Left(why) => return Ok(Pickup::Left(why)),
    };
    report(name, &told);
    host.make_ready();
    Ok(Pickup::Answered(told.originals))
}

/// Handles a failed claim: a fault of the file is refused with a record, a shortage of the daemon
/// is waited for.
fn unclaimed(
    host: &Host,
    dropbox: &Dropbox,
    name: &str,
    error: SpoolError,
) -> Result<Pickup, Halt> {
    let theirs = error.path().starts_with(dropbox.path());
    if let Some(want) = error.want() {
        tracing::error!("{error}");
        host.room_wanted.note(want, &error);
        return Ok(Pickup::Left(ReleaseReason::Wanting(want)));
    }
    if error.is_passing() {
        tracing::error!("{error}");
        return Ok(Pickup::Left(ReleaseReason::Passing));
    }
    match error {
        error if error.is_missing() && theirs => Ok(Pickup::Answered(Originals::Gone)),
        error @ SpoolError::TooLarge { .. } => {
            refuse_object(host, dropbox, name, Code::TextTooLarge, error.to_string())
        }
        error if theirs || matches!(error, SpoolError::FileKind { .. }) => {
            refuse_object(host, dropbox, name, Code::SpoolFileKind, error.to_string())
        }
        error => Err(error.into()),
    }
}

/// Refuses an object that is not a readable file, and quarantines it unchanged. Its ticket must be
/// dropped before, because later tickets would wait for it.
fn refuse_object(
    host: &Host,
    dropbox: &Dropbox,
    name: &str,
    code: Code,
    message: String,
) -> Result<Pickup, Halt> {
    let shown = model::escape_line(&message);
    claimed(host, |id| {
        let Some(claimed) = host.spool.claim_object(dropbox, name, id)? else {
            return Ok(Pickup::Answered(Originals::Gone));
        };
        let violations = [Violation::error(code, message)];
        let published = host.passage().refuse_unread(name, &violations, Some(&claimed))?;
        tracing::warn!(record = %published.receipt.path().display(), "refused: {shown}");
        let gone = host.spool.quarantine_object(claimed, &published.receipt)?;
        Ok(Pickup::Answered(gone))
    })
}

/// Logs the published record.
fn report(name: &str, told: &Told) {
    let record = told.receipt.path().display().to_string();
    if has_error(&told.violations) {
        for violation in &told.violations {
            let (code, message) = (violation.code.as_str(), &violation.message);
            let request = spool::stem_of(name).unwrap_or(name);
            tracing::warn!(request, %code, "{name}: {message}");
        }
    }
    let first = told.violations.iter().find(|one| one.severity == Severity::Error);
    let (outcome, code) = (told.outcome.to_string(), first.map(|one| one.code.as_str()));
    let reason = told.reason.clone().or_else(|| records::reason_of(&told.violations));
    let fields = Fields {
        request: Some(spool::stem_of(name).unwrap_or(name)),
        result: Some(told.receipt.result_id().as_str()),
        outcome: Some(&outcome),
        code: code.as_deref(),
        path: Some(&record),
        reason: reason.as_deref(),
        ..Fields::default()
    };
    let refused = told.outcome == Outcome::Refused;
    let how = if refused { Transition::Refused } else { Transition::Published };
    transition::log(how, &fields);
    if !told.degraded.is_empty() {
        let layers = told.degraded.join(" ");
        tracing::warn!(layers, "{name}: ran without these layers, by an exception of the policy");
    }
}
