//! The steps from the bytes of a request to staged inputs. Must never start anything.

use model::UtcTime;
use policies::ais::EnvironmentDigests;
use policies::{
    AisEvidence, AisFile, Approved, Decision, DecisionEvidence, LedgerEvidence, PermissionEvidence,
    SubmissionOrigin, authorise,
};
use spool::{Claimed, PriorRun, StageError, Staged};
use validator::{Code, Draft, DraftCheck, FileLocation, Request, Violation};

use super::model::{DecisionFacts, PipelineStep, ReleaseReason};
use super::request_context::RequestContext;
use super::standing;
use crate::environments;
use crate::held_requests::HoldDeadline;
use crate::model::{DaemonError, PermissionFiled};
use crate::prewarm::{PrewarmedSandbox, PrewarmedSandboxes};
use crate::recovery::was_begun;
use crate::rules::DaemonRules;
use crate::system;
use crate::violations::{no_egress, replayed};

impl RequestContext<'_> {
    /// Bytes → a well-formed request that was never started.
    pub(super) fn check(
        &self,
        draft: Draft,
        claimed: Claimed,
        submission: &SubmissionOrigin,
        now: UtcTime,
    ) -> Result<PipelineStep<(Request, Claimed, Vec<Violation>)>, DaemonError> {
        let place = match submission {
            SubmissionOrigin::Invoked { .. } => FileLocation::Elsewhere,
            SubmissionOrigin::Submitted { .. } => FileLocation::Spool,
        };
        let DraftCheck { mut violations, verdict } = draft.check(place, now);
        let request = match verdict {
            Ok(request) => request,
            Err(refused) => return self.refuse_draft(&refused, claimed, violations),
        };
        let seen = match claimed.replays() {
            Some(_) => None,
            None => match self.host.spool.prior_run(&request.sha256(), request.id())? {
                None => self.prior_run_elsewhere(&request)?,
                seen => seen,
            },
        };
        let Some(seen) = seen else {
            return Ok(PipelineStep::Next((request, claimed, violations)));
        };
        violations.push(replayed(&request, &seen));
        let decided = DecisionFacts::undecided();
        self.refuse(&request, claimed, violations, &decided).map(PipelineStep::end)
    }

    /// Finds a record of this request made under another ledger in the same results directory.
    fn prior_run_elsewhere(&self, request: &Request) -> Result<Option<PriorRun>, DaemonError> {
        let records = self.host.spool.foreign_results(request.id())?;
        let begun = records.into_iter().find(|record| was_begun(record));
        Ok(begun.map(|record| {
            let result_id = record.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let of = records::claims(&record)
                .and_then(|it| it["request_sha256"].as_str().map(str::to_owned));
            match of == Some(request.sha256().to_string()) {
                true => PriorRun::SameBytes { result_id, record },
                false => PriorRun::SameId { result_id, record },
            }
        }))
    }

    /// A well-formed request → an approved request with its grant.
    pub(super) fn authorise(
        &self,
        request: Request,
        mut claimed: Claimed,
        (submission, deadline): (SubmissionOrigin, HoldDeadline),
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<PipelineStep<(Approved, Claimed)>, DaemonError> {
        let DaemonRules { policy, trust, binaries, .. } = &*self.rules;
        let uses = match self.find_standing(&request, &mut claimed, now)? {
            Ok(uses) => uses,
            Err(violations) => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = DecisionFacts::undecided();
                return self.refuse(&request, claimed, all, &decided).map(PipelineStep::end);
            }
        };
        let permission = match &mut *self.host.permissions() {
            Some(permissions) if policy.requires_permission(&request) => {
                permissions.look_up(&request)?
            }
            _ => PermissionEvidence::NotQueried,
        };
        // Only a required AIS bundle needs the digests, which take a read of every program.
        let uses_ais =
            policy.requires_ais(&request) && matches!(claimed.ais(), AisFile::Read { .. });
        let digests = match uses_ais {
            true => self.host.digests().of(policy, binaries)?.digests,
            false => EnvironmentDigests::default(),
        };
        let nonces_used = uses_ais.then(|| self.host.spool.used_nonces());
        let environment = environments::stated(request.environment(), &self.host.environments);
        let evidence = DecisionEvidence {
            permission,
            environment: &environment,
            ais: AisEvidence {
                file: claimed.ais(),
                trust: trust.ais(),
                supply: &digests,
                nonces_used: nonces_used.as_deref(),
            },
            submission,
            signatures: claimed.signatures(),
            unread_signatures: claimed.unread_signatures(),
            signers: trust.signers(),
            host: self.host.audience(),
            // `check` has already consulted the ledger.
            ledger: LedgerEvidence::Unused,
            standing: standing::evidence(claimed.standing(), uses),
            binaries,
            now,
        };
        let decision = authorise(request, policy, &evidence);
        drop(nonces_used);
        self.follow_decision(decision, claimed, warnings, (deadline, now))
    }

    /// A decision → the next state, or the end that the decision demands.
    fn follow_decision(
        &self,
        decision: Decision,
        claimed: Claimed,
        warnings: &[Violation],
        (deadline, now): (HoldDeadline, UtcTime),
    ) -> Result<PipelineStep<(Approved, Claimed)>, DaemonError> {
        match decision {
            Decision::Approve(approved)
                if approved.grant().network().is_some() && self.host.egress.is_none() =>
            {
                let mut all = warnings.to_vec();
                all.push(no_egress(approved.request()));
                let decided = DecisionFacts::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided).map(PipelineStep::end)
            }
            Decision::Approve(approved) => Ok(PipelineStep::Next((approved, claimed))),
            Decision::Hold { request, violations, .. } if deadline.allows_hold(now) => {
                let filed = self.ask_permission(&request, &violations);
                self.host.spool.abandon(claimed);
                Ok(PipelineStep::Hold(violations, filed))
            }
            Decision::Hold { request, violations, rationale }
            | Decision::Refuse { request, violations, rationale } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided =
                    DecisionFacts { rationale: Some(rationale), ..DecisionFacts::undecided() };
                self.refuse(&request, claimed, all, &decided).map(PipelineStep::end)
            }
        }
    }

    /// Files a permission request if the request lacks a permission that can be granted.
    fn ask_permission(&self, request: &Request, violations: &[Violation]) -> PermissionFiled {
        let is_requestable = |it: &Violation| it.code == Code::PermissionRequestable;
        match violations.iter().any(is_requestable) {
            true => self.host.file_permission_request(request),
            false => PermissionFiled::NotNeeded,
        }
    }

    /// An approved request → its inputs, copied and equal to their digests, in the slot of a
    /// prewarmed sandbox if one fits.
    pub(super) fn stage(
        &self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
        deadline: HoldDeadline,
    ) -> Result<PipelineStep<(Staged, Option<PrewarmedSandbox>)>, DaemonError> {
        let ahead = PrewarmedSandboxes::take(&self.host.prewarmed, &self.host.spool, &approved);
        let (staged, ahead) = match ahead {
            Some((slot, ahead)) => {
                (self.host.spool.stage_into(slot, approved, claimed), Some(ahead))
            }
            None => (self.host.spool.stage(approved, claimed), None),
        };
        let failed = match staged {
            Ok(staged) => return Ok(PipelineStep::Next((staged, ahead))),
            Err(failed) => *failed,
        };
        drop(ahead);
        match failed {
            StageError::Refused { approved, claimed, violations } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = DecisionFacts::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided).map(PipelineStep::end)
            }
            StageError::Disk { claimed, error, .. }
                if error.shortage().is_some() && deadline.allows_hold(system::now()) =>
            {
                tracing::error!("{error}");
                self.host.spool.abandon(claimed);
                Ok(PipelineStep::Release(
                    error.shortage().map_or(ReleaseReason::Unwanted, ReleaseReason::Shortage),
                ))
            }
            StageError::Disk { approved, claimed, error } => self
                .record_setup_error(&approved, claimed, warnings.to_vec(), &error.to_string())
                .map(PipelineStep::end),
        }
    }
}
