//! Bytes to an approved request whose inputs are staged. Nothing here may start anything.

use policies::ais::Supply;
use policies::{
    AisEvidence, AisFile, Approved, Decision, Evidence, Ledger, Permission, Submission, authorise,
};
use spool::{Claimed, StageError, Staged};
use validator::{Checked, Code, Draft, Place, Request, UtcTime, Violation};

use super::{Step, end};
use crate::held::Patience;
use crate::host::{Halt, Host};
use crate::permissions::Asked;
use crate::ready::MadeAhead;
use crate::tell::Decided;
use crate::verdicts::{no_egress, replayed};

impl Host {
    /// Bytes → a well-formed request that was never started before.
    pub(super) fn check(
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
        let seen = match claimed.replays() {
            Some(_) => None,
            None => self.spool.seen(&request.sha256(), request.id())?,
        };
        let Some(seen) = seen else {
            return Ok(Step::Next((request, claimed, violations)));
        };
        violations.push(replayed(&request, &seen));
        let decided = Decided::nothing();
        self.refuse(&request, claimed, violations, &decided).map(end)
    }

    /// A well-formed request → one that may run, and under which bounds.
    pub(super) fn authorise(
        &mut self,
        request: Request,
        claimed: Claimed,
        (submission, patience): (Submission, Patience),
        warnings: &[Violation],
        now: UtcTime,
    ) -> Result<Step<(Approved, Claimed)>, Halt> {
        let permission = match &mut self.permissions {
            Some(permissions) if self.policy.asks_permission(&request) => {
                permissions.look_up(&request)?
            }
            _ => Permission::NotAsked,
        };
        // Reading every program takes its time; only a bundle that is asked for can speak of them.
        let asked = self.policy.asks_ais(&request) && matches!(claimed.ais(), AisFile::Read { .. });
        let supply = match asked {
            true => self.digests.of(&self.policy, &self.binaries)?.digests,
            false => Supply::default(),
        };
        let evidence = Evidence {
            permission,
            ais: AisEvidence {
                file: claimed.ais(),
                trust: self.trust.ais(),
                supply: &supply,
                nonces_used: Some(self.spool.nonces_used()),
            },
            submission,
            signatures: claimed.signatures(),
            unread_signatures: claimed.unread_signatures(),
            signers: self.trust.signers(),
            origin: Some(self.log.origin()),
            // `check` asked the ledger before.
            ledger: Ledger::Unused,
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
            Decision::Hold { request, violations, .. } if patience.lasts(now) => {
                let asked = match &mut self.permissions {
                    Some(permissions)
                        if violations.iter().any(|it| it.code == Code::PermissionRequestable) =>
                    {
                        permissions.ask(&request)
                    }
                    _ => Asked::Yes,
                };
                self.spool.abandon(claimed);
                Ok(Step::Hold(violations, asked))
            }
            Decision::Hold { request, violations, grounds }
            | Decision::Refuse { request, violations, grounds } => {
                let all = warnings.iter().cloned().chain(violations).collect();
                let decided = Decided { grounds: Some(grounds), ..Decided::nothing() };
                self.refuse(&request, claimed, all, &decided).map(end)
            }
        }
    }

    /// An approved request → its inputs, private and equal to what it says; in the slot of a cell that
    /// waits already, if there is one for it.
    pub(super) fn stage(
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
}
