//! A worker: one submission from `approved/` to its record, on its own thread. It keeps nothing
//! after its end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use model::{ClaimId, Outcome, StandingId, UtcTime};
use policies::SubmissionOrigin;
use spool::{Claimed, Inbox, PlacedOrder, SpoolError, SubmissionName, SubmissionState};
use validator::{Code, Draft, Severity};

use super::event::{LoopEvent, PickupOutcome, WorkerEnd};
use super::model::{StopState, WorkerControl};
use crate::capacity::QueueTicket;
use crate::held_requests::HoldDeadline;
use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::DaemonError;
use crate::pipeline::{
    ClaimOutcome, Continuation, PipelineInput, RecordedRequest, ReleaseReason, StandingOutcome,
};
use crate::state::Daemon;
use crate::system;
use crate::violations::{has_error, with_help_as_hint};

pub(super) struct Assignment<'env> {
    /// Drawn in the submitter's turn.
    pub(super) ticket: QueueTicket<'env>,
    pub(super) waiting: SubmissionName,
    pub(super) sidecars: BTreeSet<OsString>,
    pub(super) order: Option<PlacedOrder>,
    pub(super) until: UtcTime,
    pub(super) control: Arc<WorkerControl>,
}

/// Sends the result of a worker when it is dropped, even after a panic.
struct WorkerEndGuard {
    events: Sender<LoopEvent>,
    name: String,
    result: Option<Result<PickupOutcome, DaemonError>>,
}

impl Drop for WorkerEndGuard {
    fn drop(&mut self) {
        let ended = WorkerEnd { name: std::mem::take(&mut self.name), result: self.result.take() };
        if self.events.send(LoopEvent::WorkerEnded(ended)).is_err() {
            tracing::debug!("a worker ended after the event loop");
        }
    }
}

pub(super) fn work<'env>(
    host: &'env Daemon,
    dropbox: &Inbox,
    orders: &StopState,
    work: Assignment<'env>,
    events: Sender<LoopEvent>,
) {
    let name = work.waiting.name().to_owned();
    let mut last_word = WorkerEndGuard { events, name, result: None };
    last_word.result = Some(process_submission(host, dropbox, orders, work));
}

/// Releases the claim if there is a shortage.
fn with_claim(
    host: &Daemon,
    act: impl FnOnce(ClaimId) -> Result<PickupOutcome, DaemonError>,
) -> Result<PickupOutcome, DaemonError> {
    let id = system::new_claim_id()?;
    act(id.clone()).or_else(|error| {
        let why = error.shortage().map_or(ReleaseReason::Transient, ReleaseReason::Shortage);
        host.release_after_shortage(error, &id)?;
        Ok(PickupOutcome::Released(why))
    })
}

fn process_submission<'env>(
    host: &'env Daemon,
    dropbox: &Inbox,
    orders: &StopState,
    work: Assignment<'env>,
) -> Result<PickupOutcome, DaemonError> {
    let _on_its_way = host.spool.announce_arrival();
    let Assignment { ticket, waiting, sidecars, order: ordered, until, control: word } = work;
    let name = match &waiting {
        SubmissionName::Request(name) => name,
        SubmissionName::Invalid(name) => {
            drop(ticket);
            let message = format!("{name}: not a valid file name of a request");
            return refuse_object(host, dropbox, name, Code::SchemaFileName, &message);
        }
    };
    with_claim(host, |id| {
        let claim = match host.spool.claim_submission(dropbox, name, &sidecars, id) {
            Ok(claim) => claim,
            Err(error) => {
                drop(ticket);
                return handle_claim_error(host, dropbox, name, error);
            }
        };
        if is_standing_approval(name) {
            drop(ticket);
            return process_standing(host, name, claim);
        }
        process(host, orders, (name.as_str(), claim), (ticket, ordered, until, word))
    })
}

fn is_standing_approval(name: &str) -> bool {
    name.strip_suffix(".md").is_some_and(|stem| stem.parse::<StandingId>().is_ok())
}

fn process_standing(
    host: &Daemon,
    name: &str,
    (draft, claimed): (Draft, Claimed),
) -> Result<PickupOutcome, DaemonError> {
    match host.request_context().admit_standing(&draft, claimed)? {
        StandingOutcome::Stored(originals) => Ok(PickupOutcome::Recorded(originals)),
        StandingOutcome::Refused(recorded) => {
            report(name, &recorded);
            Ok(PickupOutcome::Recorded(recorded.originals))
        }
    }
}

fn process<'env>(
    host: &'env Daemon,
    orders: &StopState,
    (name, (draft, claimed)): (&str, (Draft, Claimed)),
    (ticket, ordered, until, word): (
        QueueTicket<'env>,
        Option<PlacedOrder>,
        UtcTime,
        Arc<WorkerControl>,
    ),
) -> Result<PickupOutcome, DaemonError> {
    let owner = draft.owner();
    let owner_name = system::user_name(owner.get());
    let submission = SubmissionOrigin::Submitted { owner, owner_name };
    let mut continuation = || {
        let stopped = orders.stopped_at.get();
        if word.end.load(Ordering::Relaxed) {
            return Continuation::End;
        }
        match stopped {
            Some(at)
                if at.elapsed() >= orders.shutdown_grace
                    || orders.is_immediate.load(Ordering::Relaxed) =>
            {
                Continuation::End
            }
            Some(_) => Continuation::ReleaseUnstarted,
            None if word.release.load(Ordering::Relaxed) => Continuation::ReleaseUnstarted,
            None => Continuation::Continue,
        }
    };
    let deadline = HoldDeadline::Until(until);
    let ask = PipelineInput {
        draft,
        claimed,
        submission,
        at: system::now(),
        hold_deadline: deadline,
        order: ordered,
    };
    let recorded = match host.request_context_in_turn(ticket).process(ask, &mut continuation)? {
        ClaimOutcome::Recorded(recorded) => recorded,
        ClaimOutcome::Held(waits_for, filed) => return Ok(PickupOutcome::Held(waits_for, filed)),
        ClaimOutcome::Released(why) => return Ok(PickupOutcome::Released(why)),
    };
    report(name, &recorded);
    host.prewarm_next();
    Ok(PickupOutcome::Recorded(recorded.originals))
}

/// A fault of the file is refused with a record; a shortage of the daemon is waited for.
fn handle_claim_error(
    host: &Daemon,
    dropbox: &Inbox,
    name: &str,
    error: SpoolError,
) -> Result<PickupOutcome, DaemonError> {
    let theirs = error.path().starts_with(dropbox.path());
    if let Some(want) = error.shortage() {
        tracing::error!("{error}");
        host.shortage.note(want, &error);
        return Ok(PickupOutcome::Released(ReleaseReason::Shortage(want)));
    }
    if error.is_transient() {
        tracing::error!("{error}");
        return Ok(PickupOutcome::Released(ReleaseReason::Transient));
    }
    match error {
        error if error.is_missing() && theirs => {
            Ok(PickupOutcome::Recorded(SubmissionState::Removed))
        }
        error @ SpoolError::TooLarge { .. } => {
            refuse_object(host, dropbox, name, Code::TextTooLarge, &error.to_string())
        }
        error if theirs || matches!(error, SpoolError::FileKind { .. }) => {
            refuse_object(host, dropbox, name, Code::SpoolFileKind, &error.to_string())
        }
        error => Err(error.into()),
    }
}

/// Quarantines an object that is not a readable file. Its ticket must be dropped before, because
/// later tickets would wait for it.
fn refuse_object(
    host: &Daemon,
    dropbox: &Inbox,
    name: &str,
    code: Code,
    message: &str,
) -> Result<PickupOutcome, DaemonError> {
    let shown = model::escape_line(message);
    with_claim(host, |id| {
        let Some(claimed) = host.spool.claim_object(dropbox, name, id)? else {
            return Ok(PickupOutcome::Recorded(SubmissionState::Removed));
        };
        let violations = [with_help_as_hint(code, message)];
        let published =
            host.request_context().refuse_unreadable(name, &violations, Some(&claimed))?;
        tracing::warn!(record = %published.receipt.path().display(), "refused: {shown}");
        let gone = host.spool.quarantine_object(claimed, &published.receipt)?;
        Ok(PickupOutcome::Recorded(gone))
    })
}

fn report(name: &str, recorded: &RecordedRequest) {
    let record = recorded.receipt.path().display().to_string();
    if has_error(&recorded.violations) {
        for violation in &recorded.violations {
            let (code, message) = (violation.code.as_str(), &violation.message);
            let request = spool::stem_of(name).unwrap_or(name);
            tracing::warn!(request, %code, "{name}: {message}");
        }
    }
    let first = recorded.violations.iter().find(|one| one.severity == Severity::Error);
    let (outcome, code) = (recorded.outcome.to_string(), first.map(|one| one.code.as_str()));
    let reason = recorded.reason.clone().or_else(|| records::reason_of(&recorded.violations));
    let fields = LogEventFields {
        request: Some(spool::stem_of(name).unwrap_or(name)),
        result: Some(recorded.receipt.result_id().as_str()),
        outcome: Some(&outcome),
        code: code.as_deref(),
        path: Some(&record),
        reason: reason.as_deref(),
        ..LogEventFields::default()
    };
    let refused = recorded.outcome == Outcome::Refused;
    let how = if refused { LogEvent::Refused } else { LogEvent::Published };
    log_event::log(how, &fields);
    if !recorded.degraded.is_empty() {
        let layers = recorded.degraded.join(" ");
        tracing::warn!(layers, "{name}: ran without these layers, by an exception of the policy");
    }
}
