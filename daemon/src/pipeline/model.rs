//! Types that the steps of the pipeline share: the end of a request, the choice after each step,
//! and the input of a record.

use model::{Outcome, Sha256};
use policies::{AisFile, Approved, Grounds, SignatureFile, Touch};
use records::{NetworkUse, Ran, Subject};
use sandbox::report::Confinement;
use spool::{Claimed, Originals, Receipt, Replayed, Want};
use validator::{Refused, Request, Violation};

use crate::model::{Halt, PermissionFiled};

/// A request with a signed and published record.
#[derive(Debug)]
#[must_use]
pub struct Told {
    pub outcome: Outcome,
    /// Upstream's exit code: that of the tool, or -1 if nothing ran.
    pub exit_code: i32,
    pub receipt: Receipt,
    /// The violations of the request; of an accepted one, its warnings.
    pub violations: Vec<Violation>,
    /// The reason why nothing ran, or why the outcome is unknown.
    pub reason: Option<String>,
    /// Layers that were missing and permitted to be missing by a named exception.
    pub degraded: Vec<String>,
    /// The state of the submitted file.
    pub originals: Originals,
}

impl Told {
    /// Returns the end of a request whose record is published and which lacked no layer.
    pub(super) fn of(
        published: PublishedRecord,
        exit_code: i32,
        violations: Vec<Violation>,
        originals: Originals,
    ) -> Self {
        let PublishedRecord { receipt, outcome, reason, .. } = published;
        Self { outcome, exit_code, receipt, violations, reason, degraded: Vec::new(), originals }
    }
}

/// The wanted continuation of a request in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    GoOn,
    /// Release the request if it was not started; a started run goes on.
    LeaveUnbegun,
    /// End a started run; release a request that was not started.
    End,
}

/// The result of processing a claim.
#[must_use]
pub(crate) enum ClaimOutcome {
    Told(Box<Told>),
    /// The request waits for an approval, a permission or an operator. The claim was given up, and
    /// the original is still in place.
    Held(Vec<Violation>, PermissionFiled),
    /// The claim was given up before the start; the original is still in place.
    Left(ReleaseReason),
}

/// The reason why a claim was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReleaseReason {
    /// The request is not wanted now, or the daemon is stopping.
    Unwanted,
    /// A shortage that other processes may end.
    Wanting(Want),
    /// A call failed that may succeed soon.
    Passing,
}

impl ClaimOutcome {
    /// Returns the outcome of a published record.
    pub(super) fn told(told: Told) -> Self {
        Self::Told(Box::new(told))
    }

    /// Returns the record of a request that cannot be held.
    pub(super) fn at_once(self) -> Result<Told, Halt> {
        match self {
            Self::Told(told) => Ok(*told),
            Self::Held(..) | Self::Left(_) => Err(Halt::NobodyHolds),
        }
    }
}

/// The next state of a request, its end, or a hold or release of the claim.
pub(super) enum Step<T> {
    Next(T),
    End(Box<Told>),
    Hold(Vec<Violation>, PermissionFiled),
    Leave(ReleaseReason),
}

impl<T> Step<T> {
    /// Returns the end of a request whose record is published.
    pub(super) fn end(told: Told) -> Self {
        Self::End(Box::new(told))
    }
}

/// Continues with the next state, or returns the outcome of a request that does not continue.
macro_rules! next {
    ($step:expr) => {
        match $step {
            $crate::pipeline::model::Step::Next(next) => next,
            $crate::pipeline::model::Step::End(told) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Told(told))
            }
            $crate::pipeline::model::Step::Hold(waits_for, asked) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Held(waits_for, asked))
            }
            $crate::pipeline::model::Step::Leave(why) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Left(why))
            }
        }
    };
}
pub(super) use next;

/// The facts about a decision that a record states.
pub(crate) struct Decided {
    /// The reasons of the decision; none if they are unknown after a crash.
    pub(crate) grounds: Option<Grounds>,
    pub(crate) approval: String,
    pub(crate) approvals: Vec<(String, String)>,
    pub(crate) touches: Vec<(String, Touch)>,
    /// The policy, if it is not the current one: that of a run that was started before a crash.
    pub(crate) policy: Option<(String, Sha256)>,
}

impl Decided {
    /// Returns the facts without an approval.
    pub(crate) fn nothing() -> Self {
        Self {
            grounds: Some(Grounds::default()),
            approval: "none".into(),
            approvals: Vec::new(),
            touches: Vec::new(),
            policy: None,
        }
    }

    /// Returns the facts of an approved request.
    pub(crate) fn by(approved: &Approved) -> Self {
        Self {
            grounds: Some(approved.grounds().clone()),
            approval: approved.grant().approval_text().to_owned(),
            approvals: approved.grant().approvals().to_vec(),
            touches: approved.grant().touches().to_vec(),
            policy: None,
        }
    }
}

/// The input of a record, without the fields that the writer adds.
#[derive(Clone, Copy)]
pub(crate) struct Story<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) signatures: &'a [SignatureFile],
    pub(crate) ais: &'a AisFile,
    pub(crate) replays: Option<&'a Replayed>,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<&'a str>,
    pub(crate) violations: &'a [Violation],
    pub(crate) decided: &'a Decided,
    pub(crate) ran: Option<Ran<'a>>,
    /// Stated even if the run itself cannot be recorded.
    pub(crate) network: &'a NetworkUse,
    pub(crate) confinement_ready: Option<&'a Confinement>,
}

/// A placeholder that every record input replaces.
static UNDECIDED: Decided = Decided {
    grounds: None,
    approval: String::new(),
    approvals: Vec::new(),
    touches: Vec::new(),
    policy: None,
};

impl<'a> Story<'a> {
    pub(crate) fn of_request(request: &'a Request, claimed: &'a Claimed) -> Self {
        let replays = claimed.replays();
        let signatures = claimed.signatures();
        let ais = claimed.ais();
        Self { replays, ais, ..Self::of(Subject::Request(request), signatures) }
    }

    pub(crate) fn of_draft(refused: &'a Refused, claimed: &'a Claimed) -> Self {
        let subject = Subject::Unusable {
            file_name: refused.file_name(),
            bytes: refused.bytes(),
            request_id: refused.request_id(),
        };
        let (replays, ais) = (claimed.replays(), claimed.ais());
        Self { replays, ais, ..Self::of(subject, claimed.signatures()) }
    }

    pub(crate) fn of(subject: Subject<'a>, signatures: &'a [SignatureFile]) -> Self {
        Self {
            subject,
            signatures,
            ais: &AisFile::Missing,
            replays: None,
            outcome: Outcome::Refused,
            reason: None,
            violations: &[],
            decided: &UNDECIDED,
            ran: None,
            network: &NetworkUse::Nothing,
            confinement_ready: None,
        }
    }
}

/// A published record, and the outcome that it states; less than its input if some of it could not
/// be stored.
#[must_use]
pub(crate) struct PublishedRecord {
    pub(crate) receipt: Receipt,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<String>,
    /// True if streams and artifacts are part of the record.
    pub(crate) whole: bool,
}
