//! One request from its copy to its record. Reads top to bottom as the design's flow does.

use std::path::Path;

use policies::{Approved, Decision, Evidence, Submission, authorise};
use records::{NetworkUse, Subject};
use sandbox::client::{BuildError, ReadyCell};
use sandbox::outcome::Outcome;
use sandbox::plan::Plan;
use sandbox::report::{Confinement, Finished};
use spool::{
    BeginError, Claimed, FirstStart, Originals, Receipt, ResultDraft, SpoolError, StageError,
    Staged,
};
use validator::{
    Checked, Code, Draft, Place, Refused, Request, ResultId, Sha256, UtcTime, Violation,
};

use crate::edge;
use crate::host::{Halt, Host};
use crate::network::OpenNetwork;
use crate::plan::plan;
use crate::ready::MadeAhead;
use crate::tell::{Decided, Published, Story};
use crate::verdicts::{judge_outputs, missing_layer, no_egress, replayed};

/// How a request came here.
pub(crate) struct Ask {
    pub(crate) draft: Draft,
    pub(crate) claimed: Claimed,
    pub(crate) submission: Submission,
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

/// A built cell and the request it is for, before anything of the tool's has run.
struct Prepared {
    staged: Staged,
    ready: ReadyCell,
    made: Made,
    /// Of a run that was granted hosts.
    network: Option<OpenNetwork>,
    violations: Vec<Violation>,
}

/// When a run's cell was made.
#[derive(Clone, Copy, Debug)]
enum Made {
    Ahead,
    ForThisRun,
}

impl Made {
    fn word(self) -> &'static str {
        match self {
            Self::Ahead => "ready",
            Self::ForThisRun => "cold",
        }
    }
}

/// Either the next state, or the end of the story.
enum Step<T> {
    Next(T),
    End(Box<Told>),
}

macro_rules! next {
    ($step:expr) => {
        match $step {
            Step::Next(next) => next,
            Step::End(told) => return Ok(*told),
        }
    };
}

impl Host {
    /// Claims a person's own file and takes it to its published record: the embedded one-shot.
    ///
    /// # Errors
    /// [`Halt`]: the file cannot be read, or our own disk or key failed. Nothing was run then.
    pub fn run_file(
        &mut self,
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
                let published = self.refuse_unread(&name, &violations)?;
                return Ok(told(published, -1, violations, Originals::Gone));
            }
            Err(error) => return Err(error.into()),
        };
        let submission = Submission::Invoked { uid, name: edge::user_name(uid) };
        self.process(Ask { draft, claimed, submission }, cancelled)
    }

    /// Refuses what was never read: its record can say no more than its name and why.
    pub(crate) fn refuse_unread(
        &self,
        name: &str,
        violations: &[Violation],
    ) -> Result<Published, Halt> {
        // Without bytes the name tells one refusal of the same second from another.
        let of_name = Sha256::of(name.as_bytes());
        let result = self.draft_result(|at| ResultId::for_refused(at, &of_name))?;
        let decided = Decided::nothing();
        let subject = Subject::Unusable { file_name: name, bytes: b"", request_id: None };
        let story = Story {
            outcome: Outcome::Refused,
            violations,
            decided: &decided,
            ..Story::of(subject, &[])
        };
        self.tell(&story, result)
    }

    /// Takes one claimed request to its published record.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key failed. Nothing more may be admitted; what was begun is told by
    /// recovery.
    pub(crate) fn process(
        &mut self,
        ask: Ask,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<Told, Halt> {
        let Ask { draft, claimed, submission } = ask;
        // Without room for its record nothing is begun.
        if let Err(error) = self.spool.keep_reserve() {
            self.spool.abandon(claimed);
            return Err(error.into());
        }
        let now = edge::now();
        let (request, claimed, violations) = next!(self.check(draft, claimed, &submission, now)?);
        let (approved, claimed) =
            next!(self.authorise(request, claimed, submission, &violations, now)?);
        let (staged, ahead) = next!(self.stage(approved, claimed, &violations)?);
        let prepared = next!(self.build(staged, ahead, violations)?);
        self.run(prepared, cancelled)
    }

    /// Bytes → a well-formed request that was never started before.
    fn check(
        &mut self,
        draft: Draft,
        claimed: Claimed,
        submission: &Submission,
        now: UtcTime,
    ) -> Result<Step<(Request, Claimed, Vec<Violation>)>, Halt> {
        let place = match submission {
            Submission::Invoked { .. } => Place::Elsewhere,
            Submission::Dropped { .. } => Place::Spool,
        };
        let Checked { mut violations, verdict } = draft.check(place, now);
        let unread = claimed.unread_signatures().iter();
        violations.extend(unread.map(|why| {
            Violation::warning(Code::SpoolFileKind, format!("{why}; this signature does not count"))
        }));
        let request = match verdict {
            Ok(request) => request,
            Err(refused) => return self.refuse_draft(&refused, claimed, violations),
        };
        let Some(seen) = self.spool.seen(&request.sha256(), request.id())? else {
            return Ok(Step::Next((request, claimed, violations)));
        };
        violations.push(replayed(&request, &seen));
        let decided = Decided::nothing();
        self.refuse(&request, claimed, violations, &decided).map(end)
    }

    /// A well-formed request → one that may run, and under which bounds.
    fn authorise(
        &mut self,
        request: Request,
        claimed: Claimed,
        submission: Submission,
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<Step<(Approved, Claimed)>, Halt> {
        let evidence = Evidence {
            submission,
            signatures: claimed.signatures(),
            signers: self.signers.as_ref(),
            binaries: &self.binaries,
            now,
        };
        match authorise(request, &self.policy, &evidence) {
            Decision::Approve(approved)
                if approved.grant().network().is_some() && self.egress.is_none() =>
            {
                let mut all = warnings.to_vec();
                all.push(no_egress(approved.request()));
                let decided = Decided::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided).map(end)
            }
            Decision::Approve(approved) => Ok(Step::Next((approved, claimed))),
            Decision::Refuse { request, violations, rules } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided { rules, ..Decided::nothing() };
                self.refuse(&request, claimed, all, &decided).map(end)
            }
        }
    }

    /// An approved request → its inputs, private and equal to what it says; in the slot of a cell that
    /// waits already, if there is one for it.
    fn stage(
        &mut self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
    ) -> Result<Step<(Staged, Option<MadeAhead>)>, Halt> {
        let (staged, ahead) = match self.ready.take(&self.spool, &approved) {
            Some((slot, ahead)) => (self.spool.stage_into(slot, approved, claimed), Some(ahead)),
            None => (self.spool.stage(approved, claimed), None),
        };
        let failed = match staged {
            Ok(staged) => return Ok(Step::Next((staged, ahead))),
            Err(failed) => *failed,
        };
        drop(ahead);
        match failed {
            StageError::Refused { approved, claimed, violations } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided).map(end)
            }
            StageError::Disk { approved, claimed, error } => {
                self.not_set_up(&approved, claimed, warnings.to_vec(), &error.to_string()).map(end)
            }
        }
    }

    /// Staged inputs → a finished cell that waits. Nothing is used up if there is none.
    fn build(
        &mut self,
        staged: Staged,
        ahead: Option<MadeAhead>,
        violations: Vec<Violation>,
    ) -> Result<Step<Prepared>, Halt> {
        let built = match plan(&staged) {
            Ok(plan) => {
                self.ready.note(staged.approved(), &plan.cell);
                self.cell_for(plan, ahead)
            }
            Err(error) => Err(BuildError::Lost(std::io::Error::other(error.to_string()))),
        };
        let opened = built.map(|(mut ready, made)| {
            let network = self.open_network(&staged, &mut ready);
            (network, ready, made)
        });
        match opened {
            Ok((Ok(network), ready, made)) => {
                Ok(Step::Next(Prepared { staged, ready, made, network, violations }))
            }
            Ok((Err(why), ready, _)) => {
                drop(ready);
                let (approved, claimed) = staged.into_parts();
                self.not_set_up(&approved, claimed, violations, &why).map(end)
            }
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                self.no_cell(&approved, claimed, violations, &error).map(end)
            }
        }
    }

    /// The cell that waits, or else one built now: that it was lost is no fault of the run's.
    fn cell_for(
        &self,
        plan: Plan,
        ahead: Option<MadeAhead>,
    ) -> Result<(ReadyCell, Made), BuildError> {
        if let Some(ready) = ahead.and_then(|ahead| ahead.order(&plan)) {
            return Ok((ready, Made::Ahead));
        }
        Ok((self.launcher.build(plan)?, Made::ForThisRun))
    }

    /// Has the cell's proxy served, where the run was granted hosts.
    fn open_network(
        &self,
        staged: &Staged,
        ready: &mut ReadyCell,
    ) -> Result<Option<OpenNetwork>, String> {
        let grant = staged.approved().grant();
        let Some(granted) = grant.network() else { return Ok(None) };
        let egress = self.egress.as_ref().ok_or("toolexec-egress is not here")?;
        OpenNetwork::begin(egress, granted, grant.limits().time_sec, ready).map(Some)
    }

    /// A missing layer refuses by name; anything else is a set-up error.
    fn no_cell(
        &mut self,
        approved: &Approved,
        claimed: Claimed,
        mut violations: Vec<Violation>,
        error: &BuildError,
    ) -> Result<Told, Halt> {
        let decided = Decided::by(approved);
        let layer = match error {
            BuildError::Unable(unable) => unable.layer,
            _ => None,
        };
        if let Some(layer) = layer {
            violations.push(missing_layer(layer, error));
            return self.refuse(approved.request(), claimed, violations, &decided);
        }
        self.not_set_up(approved, claimed, violations, &error.to_string())
    }

    /// Nothing ran, and not for the request's fault. It is not used up: a person may look into it
    /// and drop the request again.
    fn not_set_up(
        &mut self,
        approved: &Approved,
        claimed: Claimed,
        violations: Vec<Violation>,
        reason: &str,
    ) -> Result<Told, Halt> {
        let result = self.draft_result(|at| ResultId::for_request(at, approved.request().id()))?;
        let decided = Decided::by(approved);
        let story = Story {
            outcome: Outcome::SetupError,
            reason: Some(reason),
            violations: &violations,
            decided: &decided,
            ..Story::of_request(approved.request(), &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(told(published, -1, violations, originals))
    }

    /// Begin, start, finish, tell: from here on the request is used up.
    fn run(
        &mut self,
        prepared: Prepared,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<Told, Halt> {
        let Prepared { staged, ready, made, network, mut violations } = prepared;
        let id = staged.approved().request().id().clone();
        let result = self.draft_result(|at| ResultId::for_request(at, &id))?;
        let confinement = ready.confinement().clone();
        let first = match self.spool.begin(staged, result.result_id().clone(), edge::now()) {
            Ok(first) => first,
            Err(BeginError::Disk(error)) => {
                result.discard();
                return Err(error.into());
            }
            Err(BeginError::Started { staged, seen }) => {
                drop(ready);
                result.discard();
                let (approved, claimed) = staged.into_parts();
                violations.push(replayed(approved.request(), &seen));
                let decided = Decided::by(&approved);
                return self.refuse(approved.request(), claimed, violations, &decided);
            }
        };
        let ended = self.run_begun(&first, (ready, made), &result, cancelled);
        let network = network.map_or(NetworkUse::Nothing, OpenNetwork::close);
        let known = Known { confinement: &confinement, network: &network };
        let (published, exit_code) = self.tell_run(&first, known, &ended, result, &violations)?;
        let (_, claimed) = first.into_staged().into_parts();
        let originals = self.spool.archive_claim(claimed, &published.receipt)?;
        let exit_code = if published.whole { exit_code } else { -1 };
        let mut told = told(published, exit_code, violations, originals);
        told.degraded = confinement.degraded;
        Ok(told)
    }

    fn run_begun(
        &self,
        first: &FirstStart,
        (ready, made): (ReadyCell, Made),
        result: &ResultDraft,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Ended {
        let running = match ready.start(result.directory()) {
            Ok(running) => running,
            Err(error @ BuildError::Unknown(_)) => return Ended::Unrecorded(error.to_string()),
            Err(error) => return Ended::NeverStarted(error.to_string()),
        };
        let id = first.staged().approved().request().id();
        tracing::info!(request = %id, cell = made.word(), "started");
        match running.finish(cancelled) {
            Ok(finished) => Ended::Finished(Box::new(finished)),
            Err(error) => Ended::Unrecorded(error.to_string()),
        }
    }

    fn tell_run(
        &self,
        first: &FirstStart,
        known: Known<'_>,
        ended: &Ended,
        result: ResultDraft,
        violations: &[Violation],
    ) -> Result<(Published, i32), Halt> {
        let Known { confinement, network } = known;
        let approved = first.staged().approved();
        let decided = Decided::by(approved);
        let story = Story {
            violations,
            decided: &decided,
            ..Story::of_request(approved.request(), first.staged().claimed())
        };
        let (story, exit_code) = match ended {
            Ended::Finished(finished) => {
                let outcome = judge_outputs(finished, approved);
                let lost = (outcome == Outcome::Indeterminate)
                    .then_some("the launcher was lost after the start");
                let ran = records::Ran {
                    confinement,
                    finished,
                    started: first.begun(),
                    ended: edge::now(),
                };
                let code = finished.facts.tool.map_or(-1, sandbox::outcome::ToolEnd::exit_code);
                (Story { outcome, reason: lost, ran: Some(ran), network, ..story }, code)
            }
            Ended::NeverStarted(why) => {
                let outcome = Outcome::SetupError;
                let confinement_ready = Some(confinement);
                (Story { outcome, reason: Some(why), confinement_ready, ..story }, -1)
            }
            Ended::Unrecorded(why) => {
                let outcome = Outcome::Indeterminate;
                (Story { outcome, reason: Some(why), network, ..story }, -1)
            }
        };
        Ok((self.tell(&story, result)?, exit_code))
    }

    fn refuse_draft<T>(
        &mut self,
        refused: &Refused,
        claimed: Claimed,
        violations: Vec<Violation>,
    ) -> Result<Step<T>, Halt> {
        let result = self.draft_result(|at| refused_id(refused, at))?;
        let decided = Decided::nothing();
        let story = Story {
            outcome: Outcome::Refused,
            violations: &violations,
            decided: &decided,
            ..Story::of_draft(refused, &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(end(told(published, -1, violations, originals)))
    }

    fn refuse(
        &mut self,
        request: &Request,
        claimed: Claimed,
        violations: Vec<Violation>,
        decided: &Decided,
    ) -> Result<Told, Halt> {
        let result = self.draft_result(|at| ResultId::for_request(at, request.id()))?;
        let story = Story {
            outcome: Outcome::Refused,
            violations: &violations,
            decided,
            ..Story::of_request(request, &claimed)
        };
        let published = self.tell(&story, result)?;
        let originals = self.spool.quarantine_claim(claimed, &published.receipt)?;
        Ok(told(published, -1, violations, originals))
    }
}

/// What is known of a run beside its end.
#[derive(Clone, Copy)]
struct Known<'a> {
    confinement: &'a Confinement,
    network: &'a NetworkUse,
}

/// How a begun run ended, as far as it is known.
enum Ended {
    Finished(Box<Finished>),
    NeverStarted(String),
    /// It ran or may have run, and what it did could not be kept.
    Unrecorded(String),
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

fn refused_id(refused: &Refused, at: UtcTime) -> ResultId {
    match refused.request_id() {
        Some(id) => ResultId::for_request(at, id),
        None => ResultId::for_refused(at, &refused.sha256()),
    }
}
