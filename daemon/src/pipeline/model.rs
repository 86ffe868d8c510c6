//! The types that the steps of the pipeline share: the end of a request, the choice after each step, and the
//! input of a record.

use model::{Outcome, Sha256};
use policies::{AisFile, Approved, Grounds, SignatureFile, Touch};
use records::{NetworkUse, Ran, Subject};
use sandbox::report::Confinement;
use spool::{Claimed, Originals, Receipt, Replayed, Want};
use validator::{Refused, Request, Violation};

use crate::model::{Halt, PermissionFiled};

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

impl Told {
    /// The end of a request whose record is published; no layer was missing.
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
pub(crate) enum ClaimOutcome {
    Told(Box<Told>),
    /// It waits for somebody's answer, and for what; the claim was given up and the original is where it
    /// was.
    Held(Vec<Violation>, PermissionFiled),
    /// The claim was given up before anything was begun; the original is where it was.
    Left(ReleaseReason),
}

/// Why a request was left where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReleaseReason {
    /// It is not wanted now, or nothing is begun any more.
    Unwanted,
    /// Something was lacking that others may free.
    Wanting(Want),
    /// A call failed that may work in a moment.
    Passing,
}

impl ClaimOutcome {
    /// The answer where a record is published.
    pub(super) fn told(told: Told) -> Self {
        Self::Told(Box::new(told))
    }

    /// For what nobody holds.
    pub(super) fn at_once(self) -> Result<Told, Halt> {
        match self {
            Self::Told(told) => Ok(*told),
            Self::Held(..) | Self::Left(_) => Err(Halt::NobodyHolds),
        }
    }
}

/// Either the next state, or the end of the story, or of this look at it.
pub(super) enum Step<T> {
    Next(T),
    End(Box<Told>),
    Hold(Vec<Violation>, PermissionFiled),
    Leave(ReleaseReason),
}

impl<T> Step<T> {
    /// The end of a request whose record is published.
    pub(super) fn end(told: Told) -> Self {
        Self::End(Box::new(told))
    }
}

/// Goes on with the next state, or returns the answer of a request that does not go on.
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

/// What was decided, and by whom.
pub(crate) struct Decided {
    /// None where nobody is left to say.
    pub(crate) grounds: Option<Grounds>,
    pub(crate) approval: String,
    pub(crate) approvals: Vec<(String, String)>,
    pub(crate) touches: Vec<(String, Touch)>,
    /// Where it is not the host's present policy: that of a run which was begun before a crash.
    pub(crate) policy: Option<(String, Sha256)>,
}

impl Decided {
    /// Nobody approved anything yet.
    pub(crate) fn nothing() -> Self {
        Self {
            grounds: Some(Grounds::default()),
            approval: "none".into(),
            approvals: Vec::new(),
            touches: Vec::new(),
            policy: None,
        }
    }

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

/// What is to be told, without what only the telling knows.
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
    /// What was reached is told even where the run itself cannot be.
    pub(crate) network: &'a NetworkUse,
    pub(crate) confinement_ready: Option<&'a Confinement>,
}

/// For the parts that every story fills in itself.
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

/// A published record, and what it really says: less than the story, if not all of it could be kept.
#[must_use]
pub(crate) struct PublishedRecord {
    pub(crate) receipt: Receipt,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<String>,
    /// Whether streams and artifacts are part of it.
    pub(crate) whole: bool,
}
