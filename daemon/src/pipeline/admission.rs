//! The steps from the bytes of a request to an approved request with staged inputs. Must never
//! start anything.

use model::UtcTime;
use policies::ais::Supply;
use policies::{
    AisEvidence, AisFile, Approved, Decision, Evidence, Ledger, Permission, Submission, authorise,
};
use spool::{Claimed, Seen, StageError, Staged};
use validator::{Checked, Code, Draft, Place, Request, Violation};

use super::model::{Decided, ReleaseReason, Step};
use super::passage::Passage;
use crate::held::HoldDeadline;
use crate::model::{Halt, PermissionFiled};
use crate::ready::{MadeAhead, ReadyCells};
use crate::recovery::was_begun;
use crate::rules::Rules;
use crate::system;
use crate::verdicts::{no_egress, replayed};

impl Passage<'_> {
    /// Bytes → a well-formed request that was never started.
    pub(super) fn check(
        &self,
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
        let seen = match claimed.replays() {
            Some(_) => None,
            None => match self.host.spool.seen(&request.sha256(), request.id())? {
                None => self.seen_by_others(&request)?,
                seen => seen,
            },
        };
        let Some(seen) = seen else {
            return Ok(Step::Next((request, claimed, violations)));
        };
        violations.push(replayed(&request, &seen));
        let decided = Decided::nothing();
        self.refuse(&request, claimed, violations, &decided).map(Step::end)
    }

    /// Finds a record of this request that was made under another ledger in the same results
    /// directory.
    fn seen_by_others(&self, request: &Request) -> Result<Option<Seen>, Halt> {
        let records = self.host.spool.results_of_others(request.id())?;
        let begun = records.into_iter().find(|record| was_begun(record));
        Ok(begun.map(|record| {
            let result_id = record.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let of = records::claims(&record)
                .and_then(|it| it["request_sha256"].as_str().map(str::to_owned));
            match of == Some(request.sha256().to_string()) {
                true => Seen::SameBytes { result_id, record },
                false => Seen::SameId { result_id, record },
            }
        }))
    }

    /// A well-formed request → an approved request with its grant.
    pub(super) fn authorise(
        &self,
        request: Request,
        claimed: Claimed,
        (submission, patience): (Submission, HoldDeadline),
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<Step<(Approved, Claimed)>, Halt> {
        let Rules { policy, trust, binaries, .. } = &*self.rules;
        let permission = match &mut *self.host.permissions() {
            Some(permissions) if policy.asks_permission(&request) => {
                permissions.look_up(&request)?
            }
            _ => Permission::NotAsked,
        };
        // Computing the digests reads every program. They are needed only for an AIS bundle that
        // the policy asks for.
        let asked = policy.asks_ais(&request) && matches!(claimed.ais(), AisFile::Read { .. });
        let supply = match asked {
            true => self.host.digests().of(policy, binaries)?.digests,
            false => Supply::default(),
        };
        let nonces_used = asked.then(|| self.host.spool.nonces_used());
        let evidence = Evidence {
            permission,
            ais: AisEvidence {
                file: claimed.ais(),
                trust: trust.ais(),
                supply: &supply,
                nonces_used: nonces_used.as_deref(),
            },
            submission,
            signatures: claimed.signatures(),
            unread_signatures: claimed.unread_signatures(),
            signers: trust.signers(),
            origin: Some(self.host.log.origin()),
            // `check` has already consulted the ledger.
            ledger: Ledger::Unused,
            binaries,
            now,
        };
        let decision = authorise(request, policy, &evidence);
        drop(nonces_used);
        self.follow(decision, claimed, warnings, (patience, now))
    }

    /// A decision → the next state, or the end that the decision demands.
    fn follow(
        &self,
        decision: Decision,
        claimed: Claimed,
        warnings: &[Violation],
        (patience, now): (HoldDeadline, UtcTime),
    ) -> Result<Step<(Approved, Claimed)>, Halt> {
        match decision {
            Decision::Approve(approved)
                if approved.grant().network().is_some() && self.host.egress.is_none() =>
            {
                let mut all = warnings.to_vec();
                all.push(no_egress(approved.request()));
                let decided = Decided::by(&approved);
                self.refuse(approved.request(), claimed, all, &decided).map(Step::end)
            }
            Decision::Approve(approved) => Ok(Step::Next((approved, claimed))),
            Decision::Hold { request, violations, .. } if patience.lasts(now) => {
                let asked = self.ask_permission(&request, &violations);
                self.host.spool.abandon(claimed);
                Ok(Step::Hold(violations, asked))
            }
            Decision::Hold { request, violations, grounds }
            | Decision::Refuse { request, violations, grounds } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided { grounds: Some(grounds), ..Decided::nothing() };
                self.refuse(&request, claimed, all, &decided).map(Step::end)
            }
        }
    }

    /// Files a permission request if the request lacks a permission that can be granted.
    fn ask_permission(&self, request: &Request, violations: &[Violation]) -> PermissionFiled {
        let is_requestable = |it: &Violation| it.code == Code::PermissionRequestable;
        match &mut *self.host.permissions() {
            Some(permissions) if violations.iter().any(is_requestable) => permissions.ask(request),
            _ => PermissionFiled::Yes,
        }
    }

    /// An approved request → its inputs, copied and equal to their digests. The inputs go into the
    /// slot of a prewarmed sandbox if one fits.
    pub(super) fn stage(
        &self,
        approved: Approved,
        claimed: Claimed,
        warnings: &[Violation],
        patience: HoldDeadline,
    ) -> Result<Step<(Staged, Option<MadeAhead>)>, Halt> {
        let ahead = ReadyCells::take(&self.host.ready, &self.host.spool, &approved);
        let (staged, ahead) = match ahead {
            Some((slot, ahead)) => {
                (self.host.spool.stage_into(slot, approved, claimed), Some(ahead))
            }
            None => (self.host.spool.stage(approved, claimed), None),
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
                self.refuse(approved.request(), claimed, all, &decided).map(Step::end)
            }
            StageError::Disk { claimed, error, .. }
                if error.want().is_some() && patience.lasts(system::now()) =>
            {
                tracing::error!("{error}");
                self.host.spool.abandon(claimed);
                Ok(Step::Leave(
                    error.want().map_or(ReleaseReason::Unwanted, ReleaseReason::Wanting),
                ))
            }
            StageError::Disk { approved, claimed, error } => self
                .not_set_up(&approved, claimed, warnings.to_vec(), &error.to_string())
                .map(Step::end),
        }
    }
}
