//! One request from its copy to its record. Reads top to bottom as the design's flow does.

use std::path::Path;

use policies::{Approved, Decision, Evidence, Submission, authorise};
use sandbox::client::{BuildError, ReadyCell};
use sandbox::outcome::Outcome;
use sandbox::report::{Confinement, Finished, Layer};
use spool::{Claimed, FirstStart, Receipt, ResultDraft, Seen, SpoolError, StageError, Staged};
use validator::{
    Checked, Code, Draft, Place, Refused, Request, ResultId, Severity, Sha256, UtcTime, Violation,
};

use crate::edge;
use crate::host::{Halt, Host};
use crate::plan::plan;
use crate::tell::{Decided, Story};

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
}

/// A built cell and the request it is for, before anything of the tool's has run.
struct Prepared {
    staged: Staged,
    ready: ReadyCell,
    violations: Vec<Violation>,
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
        let (draft, claimed) = self.spool.claim_file(request, inputs, id)?;
        let submission = Submission::Invoked { uid, name: edge::user_name(uid) };
        self.process(Ask { draft, claimed, submission }, cancelled)
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
        let now = edge::now();
        let (request, claimed, violations) = next!(self.check(draft, claimed, &submission, now)?);
        let (approved, claimed) =
            next!(self.authorise(request, claimed, submission, &violations, now)?);
        let staged = next!(self.stage(approved, claimed, &violations)?);
        let prepared = next!(self.build(staged, violations)?);
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
        let request = match verdict {
            Ok(request) => request,
            Err(refused) => return self.refuse_draft(&refused, claimed, violations),
        };
        let Some(seen) = self.spool.seen(&request.sha256(), request.id())? else {
            return Ok(Step::Next((request, claimed, violations)));
        };
        violations.push(replayed(&request, &seen));
        let decided = Decided::nothing();
        self.refuse(&request, claimed, violations, &decided, None).map(end)
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
            Decision::Approve(approved) => Ok(Step::Next((approved, claimed))),
            Decision::Refuse { request, violations, rules } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided { rules, ..Decided::nothing() };
                self.refuse(&request, claimed, all, &decided, None).map(end)
            }
        }
    }

    /// An approved request → its inputs, private and equal to what it says.
    fn stage(
        &mut self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
    ) -> Result<Step<Staged>, Halt> {
        let failed = match self.spool.stage(approved, claimed) {
            Ok(staged) => return Ok(Step::Next(staged)),
            Err(failed) => *failed,
        };
        match failed {
            StageError::Refused { approved, claimed, violations } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided, None).map(end)
            }
            StageError::Disk { claimed, error } => {
                self.spool.abandon(claimed);
                Err(error.into())
            }
        }
    }

    /// Staged inputs → a finished cell that waits. Nothing is used up if there is none.
    fn build(
        &mut self,
        staged: Staged,
        violations: Vec<Violation>,
    ) -> Result<Step<Prepared>, Halt> {
        let built = match plan(&staged) {
            Ok(plan) => self.launcher.build(plan),
            Err(error) => Err(BuildError::Lost(std::io::Error::other(error.to_string()))),
        };
        match built {
            Ok(ready) => Ok(Step::Next(Prepared { staged, ready, violations })),
            Err(error) => {
                let (approved, claimed) = staged.into_parts();
                self.no_cell(&approved, claimed, violations, &error).map(end)
            }
        }
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
            return self.refuse(approved.request(), claimed, violations, &decided, None);
        }
        let reason = error.to_string();
        let result = self.draft_result(|at| ResultId::for_request(at, approved.request().id()))?;
        let story = Story {
            outcome: Outcome::SetupError,
            reason: Some(&reason),
            violations: &violations,
            decided: &decided,
            ..Story::of_request(approved.request(), &claimed)
        };
        let receipt = self.tell(&story, result)?;
        // Nothing was used up: a person may look into it and drop the request again.
        self.spool.quarantine_claim(claimed, &receipt)?;
        Ok(told(Outcome::SetupError, -1, receipt, violations, Some(reason)))
    }

    /// Begin, start, finish, tell: from here on the request is used up.
    fn run(
        &mut self,
        prepared: Prepared,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Result<Told, Halt> {
        let Prepared { staged, ready, mut violations } = prepared;
        let id = staged.approved().request().id().clone();
        let (sha256, decided) =
            (staged.approved().request().sha256(), Decided::by(staged.approved()));
        let result = self.draft_result(|at| ResultId::for_request(at, &id))?;
        let begun = edge::now();
        let confinement = ready.confinement().clone();
        // A staged request cannot be looked at any more once it is begun, so what a refusal would
        // need is decided before.
        if let Some(seen) = self.spool.seen(&sha256, &id)? {
            drop(ready);
            result.discard();
            let (approved, claimed) = staged.into_parts();
            violations.push(replayed(approved.request(), &seen));
            return self.refuse(approved.request(), claimed, violations, &decided, None);
        }
        let first = match self.spool.begin(staged, result.result_id().clone(), begun) {
            Ok(first) => first,
            Err(error) => {
                result.discard();
                return Err(error.into());
            }
        };
        let ended = self.run_begun(&first, ready, &result, cancelled);
        let after = edge::now();
        let told = self.tell_run(&first, &confinement, ended, result, &violations, after)?;
        let (_, claimed) = first.into_staged().into_parts();
        self.spool.archive_claim(claimed, &told.receipt)?;
        Ok(told)
    }

    fn run_begun(
        &self,
        first: &FirstStart,
        ready: ReadyCell,
        result: &ResultDraft,
        cancelled: &mut dyn FnMut() -> bool,
    ) -> Ended {
        let running = match ready.start(result.directory()) {
            Ok(running) => running,
            Err(error) => return Ended::NeverStarted(error.to_string()),
        };
        tracing::info!(request = %first.staged().approved().request().id(), "started");
        match running.finish(cancelled) {
            Ok(finished) => Ended::Finished(Box::new(finished)),
            Err(error) => Ended::Unrecorded(error.to_string()),
        }
    }

    fn tell_run(
        &self,
        first: &FirstStart,
        confinement: &Confinement,
        ended: Ended,
        result: ResultDraft,
        violations: &[Violation],
        after: UtcTime,
    ) -> Result<Told, Halt> {
        let approved = first.staged().approved();
        let request = approved.request();
        let decided = Decided::by(approved);
        let story = Story {
            violations,
            decided: &decided,
            ..Story::of_request(request, first.staged().claimed())
        };
        let (outcome, exit_code, reason, finished) = match &ended {
            Ended::Finished(finished) => {
                let outcome = judge_outputs(finished, approved);
                let code = finished.facts.tool.map_or(-1, sandbox::outcome::ToolEnd::exit_code);
                (outcome, code, None, Some(finished))
            }
            Ended::NeverStarted(why) => (Outcome::SetupError, -1, Some(why.as_str()), None),
            Ended::Unrecorded(why) => (Outcome::Indeterminate, -1, Some(why.as_str()), None),
        };
        let ran = finished.map(|finished| records::Ran {
            confinement,
            finished,
            started: first.begun(),
            ended: after,
        });
        let lost = outcome == Outcome::Indeterminate && reason.is_none();
        let reason = if lost { Some("the launcher was lost after the start") } else { reason };
        let never_started = matches!(ended, Ended::NeverStarted(_)).then_some(confinement);
        let story = Story { outcome, reason, ran, confinement_ready: never_started, ..story };
        let receipt = self.tell(&story, result)?;
        let mut told =
            told(outcome, exit_code, receipt, violations.to_vec(), reason.map(str::to_owned));
        told.degraded.clone_from(&confinement.degraded);
        Ok(told)
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
        let receipt = self.tell(&story, result)?;
        self.spool.quarantine_claim(claimed, &receipt)?;
        Ok(end(told(Outcome::Refused, -1, receipt, violations, None)))
    }

    fn refuse(
        &mut self,
        request: &Request,
        claimed: Claimed,
        violations: Vec<Violation>,
        decided: &Decided,
        reason: Option<&str>,
    ) -> Result<Told, Halt> {
        let result = self.draft_result(|at| ResultId::for_request(at, request.id()))?;
        let story = Story {
            outcome: Outcome::Refused,
            reason,
            violations: &violations,
            decided,
            ..Story::of_request(request, &claimed)
        };
        let receipt = self.tell(&story, result)?;
        self.spool.quarantine_claim(claimed, &receipt)?;
        Ok(told(Outcome::Refused, -1, receipt, violations, reason.map(str::to_owned)))
    }

    /// Result ids have whole seconds in them; where one is taken, the next second's is free.
    pub(crate) fn draft_result(
        &self,
        id_at: impl Fn(UtcTime) -> ResultId,
    ) -> Result<ResultDraft, SpoolError> {
        loop {
            if let Some(result) = self.spool.draft_result(&id_at(edge::now()))? {
                return Ok(result);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// How a begun run ended, as far as it is known.
enum Ended {
    Finished(Box<Finished>),
    NeverStarted(String),
    /// It ran, but what it did could not be kept.
    Unrecorded(String),
}

fn end<T>(told: Told) -> Step<T> {
    Step::End(Box::new(told))
}

fn told(
    outcome: Outcome,
    exit_code: i32,
    receipt: Receipt,
    violations: Vec<Violation>,
    reason: Option<String>,
) -> Told {
    Told { outcome, exit_code, receipt, violations, reason, degraded: Vec::new() }
}

fn refused_id(refused: &Refused, at: UtcTime) -> ResultId {
    match refused.request_id() {
        Some(id) => ResultId::for_request(at, id),
        None => ResultId::for_refused(at, &refused.sha256()),
    }
}

/// The id of a record about bytes that could not even be read.
pub(crate) fn unreadable_id(at: UtcTime) -> ResultId {
    ResultId::for_refused(at, &Sha256::of(b""))
}

fn replayed(request: &Request, seen: &Seen) -> Violation {
    let (code, hint) = match seen {
        Seen::SameBytes { .. } => {
            (Code::SpoolReplayed, "a request runs once; draft a new one with a new id")
        }
        Seen::SameId { .. } => (Code::SpoolIdReused, "give the request an id of its own"),
    };
    Violation::error(code, format!("{}: {seen}", request.id())).hint(hint)
}

fn missing_layer(layer: Layer, error: &BuildError) -> Violation {
    let hint = match layer {
        Layer::UserNamespace => {
            "this host forbids user namespaces to ordinary users: run as root, install the package \
             (its AppArmor profile allows them), or see sysctl user.max_user_namespaces, \
             kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns"
        }
        Layer::Cgroup => {
            "no cgroup can be written here: run as root or under the packaged units, or name the \
             exception `cgroup` in the policy"
        }
        Layer::Landlock => "the kernel must have Landlock built in and listed in lsm=",
        Layer::Namespaces | Layer::Mounts => {
            "inside a container these need CAP_SYS_ADMIN and an unmasked /proc"
        }
        Layer::Seccomp | Layer::Capabilities => "the kernel refused it; see the message",
    };
    Violation::error(Code::Layer(layer.word()), format!("{}: {error}", layer.word())).hint(hint)
}

/// Under `outputs: strict` what is missing or undeclared is a reason of its own.
fn judge_outputs(finished: &Finished, approved: &Approved) -> Outcome {
    let outcome = finished.outcome();
    if outcome != Outcome::Ok || !approved.grant().outputs_strict() {
        return outcome;
    }
    let plain = |path: &str| path.strip_prefix("/out/").unwrap_or(path).to_owned();
    let mut expected: Vec<String> =
        approved.request().outputs_expected().iter().map(|output| plain(output.path())).collect();
    let mut kept: Vec<String> =
        finished.collected.artifacts.iter().map(|artifact| artifact.path.clone()).collect();
    expected.sort();
    kept.sort();
    if expected == kept { Outcome::Ok } else { Outcome::OutputRejected }
}

/// Whether a list of violations has an error in it.
pub(crate) fn has_error(violations: &[Violation]) -> bool {
    violations.iter().any(|violation| violation.severity == Severity::Error)
}
