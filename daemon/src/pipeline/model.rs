//! Types that the steps of the pipeline share: the end of a request, the next step, and the input
//! of a record.

use model::{Outcome, Sha256};
use policies::{AisFile, Approved, GrantedBackend, Rationale, SignatureFile, Touch};
use records::{NetworkUse, RecordSubject, StartedRun, StatedUse};
use sandbox::report::Confinement;
use spool::{Claimed, Receipt, ReplaySource, Shortage, StoredStanding, SubmissionState};
use validator::{RefusedDraft, Request, Violation};

use crate::model::{DaemonError, PermissionFiled};

/// A request with a signed and published record.
#[derive(Debug)]
#[must_use]
pub struct RecordedRequest {
    /// The outcome as the record states it.
    pub outcome: Outcome,
    /// Upstream's exit code: that of the tool, or -1 if nothing ran.
    pub exit_code: i32,
    /// The proof of publication, with the directory of the result.
    pub receipt: Receipt,
    /// The violations of the request; of an accepted one, its warnings.
    pub violations: Vec<Violation>,
    /// The reason why nothing ran, or why the outcome is unknown.
    pub reason: Option<String>,
    /// Layers that were missing and permitted to be missing by a named exception.
    pub degraded: Vec<String>,
    /// The state of the submitted file.
    pub originals: SubmissionState,
}

impl RecordedRequest {
    /// A published record of a run that lacked no layer.
    pub(super) fn of(
        published: PublishedRecord,
        exit_code: i32,
        violations: Vec<Violation>,
        originals: SubmissionState,
    ) -> Self {
        let PublishedRecord { receipt, outcome, reason, .. } = published;
        Self { outcome, exit_code, receipt, violations, reason, degraded: Vec::new(), originals }
    }
}

/// The wanted continuation of a request in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Continuation {
    Continue,
    /// Release the request if it was not started; a started run goes on.
    ReleaseUnstarted,
    /// End a started run; release a request that was not started.
    End,
}

#[must_use]
pub(crate) enum ClaimOutcome {
    Recorded(Box<RecordedRequest>),
    /// The request waits for an approval, a permission or an operator. The claim was given up; the
    /// original is still in place.
    Held(Vec<Violation>, PermissionFiled),
    /// The claim was given up before the start; the original is still in place.
    Released(ReleaseReason),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReleaseReason {
    /// The request is not wanted now, or the daemon is stopping.
    Unwanted,
    /// A shortage that other processes may end.
    Shortage(Shortage),
    /// A call failed that may succeed soon.
    Transient,
}

impl ClaimOutcome {
    pub(super) fn recorded(recorded: RecordedRequest) -> Self {
        Self::Recorded(Box::new(recorded))
    }

    /// Fails for a request that was held or released, which an embedded run cannot be.
    pub(super) fn into_recorded(self) -> Result<RecordedRequest, DaemonError> {
        match self {
            Self::Recorded(recorded) => Ok(*recorded),
            Self::Held(..) | Self::Released(_) => Err(DaemonError::CannotHold),
        }
    }
}

/// The result of one step.
pub(super) enum PipelineStep<T> {
    Next(T),
    End(Box<RecordedRequest>),
    Hold(Vec<Violation>, PermissionFiled),
    Release(ReleaseReason),
}

impl<T> PipelineStep<T> {
    pub(super) fn end(recorded: RecordedRequest) -> Self {
        Self::End(Box::new(recorded))
    }
}

/// Continues with the next state, or returns the outcome of a request that does not continue.
macro_rules! next {
    ($step:expr) => {
        match $step {
            $crate::pipeline::model::PipelineStep::Next(next) => next,
            $crate::pipeline::model::PipelineStep::End(recorded) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Recorded(recorded))
            }
            $crate::pipeline::model::PipelineStep::Hold(waits_for, filed) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Held(waits_for, filed))
            }
            $crate::pipeline::model::PipelineStep::Release(why) => {
                return Ok($crate::pipeline::model::ClaimOutcome::Released(why))
            }
        }
    };
}
pub(super) use next;

pub(crate) struct DecisionFacts {
    /// The reasons of the decision; none if they are unknown after a crash.
    pub(crate) rationale: Option<Rationale>,
    pub(crate) approval: String,
    pub(crate) approvals: Vec<(String, String)>,
    pub(crate) touches: Vec<(String, Touch)>,
    /// The policy, if it is not the current one: that of a run that was started before a crash.
    pub(crate) policy: Option<(String, Sha256)>,
    /// The backend of an approved request; none if the files that it used are unknown.
    pub(crate) backend: Option<GrantedBackend>,
}

impl DecisionFacts {
    pub(crate) fn undecided() -> Self {
        Self {
            rationale: Some(Rationale::default()),
            approval: "none".into(),
            approvals: Vec::new(),
            touches: Vec::new(),
            policy: None,
            backend: None,
        }
    }

    pub(crate) fn by(approved: &Approved) -> Self {
        Self {
            rationale: Some(approved.rationale().clone()),
            approval: approved.grant().approval_text().to_owned(),
            approvals: approved.grant().approvals().to_vec(),
            touches: approved.grant().touches().to_vec(),
            policy: None,
            backend: Some(approved.grant().backend().clone()),
        }
    }
}

/// The input of a record, without the fields that the writer adds.
#[derive(Clone, Copy)]
pub(crate) struct RecordInput<'a> {
    pub(crate) subject: RecordSubject<'a>,
    pub(crate) signatures: &'a [SignatureFile],
    pub(crate) ais: &'a AisFile,
    /// The standing approval that the request names, if this host has it.
    pub(crate) standing: Option<&'a StoredStanding>,
    /// The use of it by a run.
    pub(crate) used: Option<StatedUse<'a>>,
    pub(crate) replays: Option<&'a ReplaySource>,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<&'a str>,
    pub(crate) violations: &'a [Violation],
    pub(crate) decided: &'a DecisionFacts,
    pub(crate) ran: Option<StartedRun<'a>>,
    /// The backend of a run that was started before a crash.
    pub(crate) started_backend: Option<&'a str>,
    /// Stated even if the run itself cannot be recorded.
    pub(crate) network: &'a NetworkUse,
    pub(crate) confinement_ready: Option<&'a Confinement>,
}

/// A placeholder that every record input replaces.
static UNDECIDED: DecisionFacts = DecisionFacts {
    rationale: None,
    approval: String::new(),
    approvals: Vec::new(),
    touches: Vec::new(),
    policy: None,
    backend: None,
};

impl<'a> RecordInput<'a> {
    pub(crate) fn of_request(request: &'a Request, claimed: &'a Claimed) -> Self {
        let replays = claimed.replays();
        let signatures = claimed.signatures();
        let (ais, standing) = (claimed.ais(), claimed.standing());
        Self { replays, ais, standing, ..Self::of(RecordSubject::Request(request), signatures) }
    }

    pub(crate) fn of_draft(refused: &'a RefusedDraft, claimed: &'a Claimed) -> Self {
        let subject = RecordSubject::Unusable {
            file_name: refused.file_name(),
            bytes: refused.bytes(),
            request_id: refused.request_id(),
        };
        let (replays, ais) = (claimed.replays(), claimed.ais());
        Self { replays, ais, ..Self::of(subject, claimed.signatures()) }
    }

    pub(crate) fn of(subject: RecordSubject<'a>, signatures: &'a [SignatureFile]) -> Self {
        Self {
            subject,
            signatures,
            ais: &AisFile::Missing,
            standing: None,
            used: None,
            replays: None,
            outcome: Outcome::Refused,
            reason: None,
            violations: &[],
            decided: &UNDECIDED,
            ran: None,
            started_backend: None,
            network: &NetworkUse::Nothing,
            confinement_ready: None,
        }
    }
}

/// A published record. Its outcome may differ from the input if data could not be stored.
#[must_use]
pub(crate) struct PublishedRecord {
    pub(crate) receipt: Receipt,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<String>,
    /// True if streams and artifacts are part of the record.
    pub(crate) is_complete: bool,
}
